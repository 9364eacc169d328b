"""Whether there is time is told of the part of the day that was asked about."""

from datetime import datetime

import pytest

from ctrag.assistant.apps.calendar import list_events
from ctrag.assistant.apps.call import Call
from stores.people.items import Item, Person, Profile

AT = datetime(2025, 4, 16, 12, 41)


def event(title: str, start: str, end: str) -> Item:
    day = "2025-04-17T"
    times = {
        "start": datetime.fromisoformat(day + start),
        "end": datetime.fromisoformat(day + end),
    }
    return Item(title, "calendar", {"title": title, **times})


ITEMS = [
    event("Lunch with Priya", "12:30", "13:15"),
    event("Design review", "15:00", "16:00"),
    event("Supplier call", "17:00", "17:30"),
]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("do I have time for a coffee between lunch and the review tomorrow",
         "Free from 13:15 to 15:00."),
        ("am I free tomorrow between 13:30 and 14:30", "Free from 13:30 to 14:30."),
        ("am I free tomorrow after the supplier call", "Free from 17:30 to 00:00."),
        ("when am I free tomorrow afternoon",
         "Not free from 12:00 to 18:00: 3 events. "
         "Free 12:00 to 12:30, 13:15 to 15:00, 16:00 to 17:00, 17:30 to 18:00."),
        ("am I busy tomorrow", "Not free: 3 events."),
        ("is tomorrow at 15:30 free", "Not free from 15:30 to 16:30: 1 event. Free 16:00 to 16:30."),
    ],
)  # fmt: skip
def test_the_part_of_the_day_that_is_asked_about_is_told(said: str, told: str) -> None:
    asked = Call("list_events", {"date": "2025-04-17"}, Person("me", AT, Profile("Ada")), ITEMS, AT)
    whole = list_events(Call(asked.api, asked.arguments, asked.person, ITEMS, AT, said=said))
    assert whole.answer.splitlines()[0] == told


def test_a_day_is_only_listed_where_nobody_asks_for_time() -> None:
    person = Person("me", AT, Profile("Ada"))
    said = "what is on tomorrow"
    told = list_events(Call("list_events", {"date": "2025-04-17"}, person, ITEMS, AT, said=said))
    assert told.answer.startswith("Thu 17 Apr 2025:\n- tomorrow 12:30")
