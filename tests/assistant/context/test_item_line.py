"""Claims about an item in few words: times as people say them, contacts with their relation."""

from datetime import datetime

import pytest

from ctrag.assistant.context.item_line import item_words, said_time
from stores.people.items import Contact, Item, Person, Profile

AT = datetime(2025, 4, 17, 12, 0)  # a Thursday
ADA = Person("ada", AT, Profile(name="Ada"), (Contact("Rui Prado", "brother"),))


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (datetime(2025, 4, 17, 0, 5), "today 00:05"),
        (datetime(2025, 4, 18, 9, 0), "tomorrow 09:00"),
        (datetime(2025, 4, 16, 23, 59), "yesterday 23:59"),
        (datetime(2025, 4, 19, 19, 30), "sat 19:30"),
        (datetime(2025, 4, 12, 19, 30), "last sat 19:30"),
        (datetime(2025, 4, 23, 8, 0), "wed 08:00"),
        (datetime(2025, 4, 24, 8, 0), "24 apr 08:00"),
        (datetime(2025, 4, 10, 8, 0), "10 apr 08:00"),
    ],
)
def test_times_are_said_by_day_and_clock(moment: datetime, said: str) -> None:
    assert said_time(moment, AT) == said


def test_an_item_is_said_by_title_time_state_people_and_the_rest() -> None:
    call = Item(
        "p1",
        "phonecall",
        {
            "contact": "Rui Prado",
            "direction": "missed",
            "called_at": datetime(2025, 4, 17, 10, 0),
            "duration_s": 0,
            "voicemail": "It's about mother",
        },
    )
    words = "Rui Prado; today 10:00; missed; It's about mother"
    assert item_words(call, ADA, AT, 80) == words
    note = Item(
        "n1",
        "notes",
        {
            "title": "Numbers",
            "body": "Rui 3pm,\nbring glue",
            "folder": "Home",
            "modified_at": datetime(2025, 4, 10, 8, 0),
        },
    )
    assert item_words(note, ADA, AT, 80) == "Numbers; 10 apr 08:00; Home; Rui 3pm, bring glue"
    assert item_words(note, ADA, AT, 20) == "Numbers; 10 apr 08:…"


def test_people_beside_the_title_come_with_their_relation() -> None:
    event = Item(
        "c1",
        "calendar",
        {
            "title": "Scan",
            "start": datetime(2025, 4, 18, 9, 30),
            "end": datetime(2025, 4, 18, 10, 0),
            "location": "Gaia",
            "attendees": ("Rui Prado", "Ann"),
            "notes": None,
        },
    )
    assert item_words(event, ADA, AT, 80) == "Scan; tomorrow 09:30; Rui Prado (brother), Ann; Gaia"
