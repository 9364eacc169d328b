"""Claims about notes that are changed in part."""

import pytest

from ctrag.assistant.planning.note_edit import added_text, edited_note, says_whole, without_rest

SHOPPING = "two loaves\nrye flour (the dark one)\nhoney"
BEDS = "1 leeks\n2 carrots, dill\n3 nothing yet"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("take the honey off the shopping note", "two loaves\nrye flour (the dark one)"),
        ("cross out rye flour", "two loaves\nhoney"),
        ("remove the loaves from my shopping list note", "rye flour (the dark one)\nhoney"),
    ],
)
def test_what_is_taken_off_is_the_only_line_that_goes(said: str, left: str) -> None:
    assert edited_note(SHOPPING, said) == left


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("bed three is beetroot now, write it into the garden note", "3 beetroot"),
        ("change nothing yet to garlic in the garden note", "3 garlic"),
    ],
)
def test_what_is_said_anew_replaces_its_line_and_keeps_the_others(said: str, made: str) -> None:
    assert edited_note(BEDS, said) == f"1 leeks\n2 carrots, dill\n{made}"


LIST = "milk\neggs\nrye bread\n2 lemons"
HOUSE = "Wifi: blue88\nAlarm: 4471\nBin day: Tuesday"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("remove milk and eggs from the shopping list", "rye bread\n2 lemons"),
        ("remove the milk, the eggs and the lemons from the list", "rye bread"),
        ("remove the milk, I bought some", "eggs\nrye bread\n2 lemons"),
        ("remove milk and butter from the list", None),  # it has no butter
        ("we need no eggs any more, take them off the list", "milk\nrye bread\n2 lemons"),
        ("I've got the rye bread, cross it off", "milk\neggs\n2 lemons"),
        ("get the eggs off the list", "milk\nrye bread\n2 lemons"),
        ("remove the last item from the list", "milk\neggs\nrye bread"),
        ("take the bread off and add rolls", "milk\neggs\n2 lemons\nrolls"),
        ("take the eggs off and put tofu instead", "milk\ntofu\nrye bread\n2 lemons"),
    ],
)
def test_all_that_is_named_goes_and_what_is_added_comes(said: str, left: str | None) -> None:
    assert edited_note(LIST, said) == left


def test_a_box_is_ticked_rather_than_its_line_taken_out() -> None:
    boxes = "- [ ] milk\n- [x] eggs\n- [ ] bread"
    assert edited_note(boxes, "tick off the milk") == "- [x] milk\n- [x] eggs\n- [ ] bread"
    assert edited_note(boxes, "take the eggs off the list") == "- [ ] milk\n- [ ] bread"


@pytest.mark.parametrize(
    ("said", "made"),
    [
        (
            "replace the milk with oat milk in my shopping list",
            "oat milk\neggs\nrye bread\n2 lemons",
        ),
        ("just change milk to whole milk", "whole milk\neggs\nrye bread\n2 lemons"),
        ("change milk to oat milk and eggs to tofu", "oat milk\ntofu\nrye bread\n2 lemons"),
        ("change milk to oat milk, eggs to tofu", None),
        ("make it 4 lemons instead of 2 on the list", "milk\neggs\nrye bread\n4 lemons"),
        ("update it so that it says tofu instead of eggs", "milk\ntofu\nrye bread\n2 lemons"),
        ("instead of eggs write tofu", "milk\ntofu\nrye bread\n2 lemons"),
        ("it's oat milk, not milk", "oat milk\neggs\nrye bread\n2 lemons"),
        ("replace the note with: ham", None),
    ],
)
def test_one_thing_takes_the_place_of_another(said: str, made: str | None) -> None:
    assert edited_note(LIST, said) == made


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("the wifi is now sea12", "Wifi: sea12"),
        ("the wifi password is sea12 from now on", "Wifi: sea12"),
        ("update the alarm code to 9090", "Alarm: 9090"),
        ("change the alarm from 4471 to 9090", "Alarm: 9090"),
        ("update my house note, the alarm code is 9090", "Alarm: 9090"),
        ("new alarm code: 9090", "Alarm: 9090"),
        ("bin day has changed to Friday", "Bin day: Friday"),
    ],
)
def test_a_value_changes_behind_its_name(said: str, line: str) -> None:
    name = line.split(":")[0]
    kept = [line if one.startswith(f"{name}:") else one for one in HOUSE.split("\n")]
    assert edited_note(HOUSE, said) == "\n".join(kept)


def test_what_is_more_than_one_value_is_no_change_of_one() -> None:
    assert edited_note(HOUSE, "update it: alarm is 9090, bins go out on Friday morning") is None


def test_things_between_commas_are_lines_too() -> None:
    assert edited_note("cups, plates, jug", "take the plates off the picnic note") == "cups, jug"


@pytest.mark.parametrize(
    "said",
    [
        "take the butter off the shopping note",  # it has none
        "rewrite the shopping note: take two loaves off the shelf",  # the whole text follows
        "take that off the note",
        "the shopping is done",
    ],
)
def test_a_note_is_not_changed_in_part_where_no_one_line_is_named(said: str) -> None:
    assert edited_note(SHOPPING, said) is None


def test_two_lines_that_fit_alike_are_both_left_alone() -> None:
    assert edited_note("milk\noat milk\nbread", "cross off the milk") is None


def test_what_is_said_to_the_assistant_is_not_written_down() -> None:
    assert without_rest("rows seven and nine, the rest stays") == "rows seven and nine"
    assert without_rest("the rest") == "the rest"


def test_the_whole_text_is_announced() -> None:
    assert says_whole("make it say only this: bread")
    assert not says_whole("bread is eighty cents now")
    assert not says_whole("just change the milk to whole milk")
    assert not says_whole("replace the milk with oat milk")
    assert says_whole("replace the whole list with: ham")


@pytest.mark.parametrize(
    ("request_", "read", "added"),
    [
        ("add kr 350 for boots to the house budget", "350 boots", "kr 350 for boots"),
        ("please put two new hoses on the garden list", "hoses", "two new hoses"),
        ("add boots to the list", "boots", None),
        ("add seed to the off to garden list", "seed to the off", "seed"),
        ("add boots to the house budget", "shoes", None),
        ("in the garden note put the hose, not the reel", "hose", "the hose, not the reel"),
        ("garden list also add two hoses", "garden list add two hoses", "two hoses"),
        ("the hoses are for the garden", "hoses", None),
    ],
)
def test_no_word_of_what_is_added_is_lost(request_: str, read: str, added: str | None) -> None:
    title = "Off to garden" if "garden" in request_ else "House budget"
    assert added_text(request_, {"title": title, "text": read}) == added
