"""Claims about the titles of what is made."""

import pytest

from ctrag.assistant.planning.titles import (
    as_titled,
    called,
    invited,
    whole_title,
    with_purpose,
    with_verb,
)


@pytest.mark.parametrize(
    ("title", "text", "request_", "whole"),
    [
        ("Ida", "coat 104, shoes 27", "new note, sizes of Ida: coat 104, shoes 27", "Sizes of Ida"),
        (
            "Plum jam",
            "two kilos, half the sugar",
            "note. plum jam for Easter, two kilos, half the sugar",
            "Plum jam for Easter",
        ),
        # nothing is lost: the text has the words
        ("Gate", "the gate code is 5512", "make a note, the gate code is 5512", "Gate"),
        # a sentence is no title
        ("Ida", "no nuts", "note that Ida must not ever have any nuts again, no nuts", "Ida"),
        ("Shed", "three hooks", "new note called shed: three hooks", "Shed"),
    ],
)
def test_words_that_neither_title_nor_text_has_belong_to_the_title(
    title: str, text: str, request_: str, whole: str
) -> None:
    assert whole_title(title, text, request_) == whole


@pytest.mark.parametrize(
    ("title", "request_", "when", "made"),
    [
        ("Odile", "book Odile in for a perm on Monday at two", ["Monday at two"], "Odile, perm"),
        ("Odile", "put Odile in on Monday for a while", ["Monday"], "Odile"),
        ("Choir", "choir for the new people tomorrow", ["tomorrow"], "Choir, new people"),
        ("Perm", "a perm on Monday", ["Monday"], "Perm"),
    ],
)
def test_a_name_alone_says_what_the_person_comes_for(
    title: str, request_: str, when: list[str], made: str
) -> None:
    assert with_purpose(title, request_, when) == made


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("start a note called attic with boxes, skis, tent", ("Attic", "boxes, skis, tent")),
        ("new note titled “Ferry”: 06:40, berth 4", ("Ferry", "06:40, berth 4")),
        ("make a note named Ole saying tap drips", ("Ole", "tap drips")),
        ("note that the tap drips", None),
        ("a note called attic", None),
        ("a note, call it attic, and put in boxes, skis", ("Attic", "boxes, skis")),
        ("new note, call it attic. Boxes, skis", ("Attic", "Boxes, skis")),
    ],
)
def test_a_note_called_so_has_the_rest_as_its_text(
    request_: str, wanted: tuple[str, str] | None
) -> None:
    assert called(request_) == wanted


@pytest.mark.parametrize(
    ("title", "request_", "whole"),
    [
        ("Ruth about the boat", "remind me at six to tell Ruth about the boat", None),
        ("Tell Ruth about it", "remind me to tell Ruth about it", "Tell Ruth about it"),
        ("the list", "put it on to the list", "the list"),
        ("my list", "add it to my list", "my list"),
    ],
)
def test_a_reminder_has_the_verb_of_what_is_to_be_done(
    title: str, request_: str, whole: str | None
) -> None:
    assert with_verb(title, request_) == (whole or "Tell Ruth about the boat")


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("new note things to sow: peas, chard", ("Things to sow", "peas, chard")),
        ("Make me a note with the title loft: mind the step", ("Loft", "mind the step")),
        ("take this down in a new note, names we like: Ida, Uno", ("Names we like", "Ida, Uno")),
        ("Start a note called rye and put in it, one day cold", ("Rye", "one day cold")),
        ("note: buy peas", None),
        ("note to self: the key is under the pot", None),
        ("jot down: the key is gone", None),
    ],
)
def test_a_title_before_a_colon_is_the_notes(request_: str, wanted: tuple[str, str] | None) -> None:
    assert called(request_) == wanted


def test_only_those_with_whom_it_is_are_invited() -> None:
    event = {"title": "Haircut", "start": "2025-04-04T17:00", "attendees": ["Leo Quist"]}
    alone = {"title": "Leo haircut", "start": "2025-04-04T17:00"}
    assert invited(event, "put Leo haircut in friday at 5") == alone
    assert invited(event, "haircut with Leo friday at 5") == event
    lunch = {"title": "Lunch", "attendees": ["Ole Berg"]}
    assert invited(lunch, "add lunch Ole friday 1pm") == lunch
    assert invited({**lunch, "title": "Call"}, "schedule a call to Ole at four")["attendees"]
    assert invited(lunch, "lunch at Ole's on friday") == {"title": "Lunch at Ole's"}
    assert invited(event, "haircut Leo friday at 5") == {**alone, "title": "Haircut Leo"}
    assert as_titled("Ping me about the laundry") == "The laundry"
    assert as_titled("Ring Ole") == "Ring Ole"


@pytest.mark.parametrize(
    "said",
    [
        "make a new note. Title: Attic. Body: boxes, skis",
        "add a note, title Attic, text boxes, skis",
        "create a note with the title Attic and the text boxes, skis",
        'write a note "Attic" with boxes, skis',
        "note down Attic: boxes, skis",
    ],
)
def test_a_note_is_dictated_by_the_names_of_its_parts(said: str) -> None:
    assert called(said) == ("Attic", "boxes, skis")
