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
