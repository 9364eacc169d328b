"""Claims about the moment that a phrase of a request means."""

from datetime import datetime

import pytest

from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.compose import compose
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.other_times import without_other_times
from ctrag.assistant.planning.ranked_values import rank_values
from ctrag.toolbox import Toolbox
from stores.people.items import Contact, Item, Person, Profile, Request

NOON = datetime(2025, 6, 18, 12, 0)
"""A Wednesday at noon."""
ADA = Person("ada", NOON, Profile(name="Ada"), ())


def event(title: str, hour: int, minute: int = 0) -> Item:
    """An event of Thursday."""
    start = datetime(2025, 6, 19, hour, minute)
    fields = {"title": title, "start": start, "end": start, "location": "", "attendees": ()}
    return Item("c1", "calendar", fields)


def moved(said: str, item: Item) -> object:
    """The new start of an event when "… to" something was said."""
    return _filled("reschedule_event", "new_start", said, said.rsplit(" to ", 1)[-1], item)


def due(said: str, phrase: str) -> object:
    return _filled("create_reminder", "due", said, phrase)


def _filled(api: str, name: str, said: str, phrase: str, *items: Item) -> object:
    tool = Toolbox.packaged().get(api)
    assert tool is not None
    sources = ValueSources(Request(said, NOON), ADA, items)
    slots = {name: FilledSlot(phrase, 0.9)}
    if items:
        slots["title"] = FilledSlot(items[0].text("title"), 0.9)
    else:
        slots["title"] = FilledSlot("it", 0.9)
    made = compose(tool, rank_values([tool], sources)[api], slots, sources)
    assert made.plan is not None
    return made.plan.arguments[name]


@pytest.mark.parametrize(
    ("said", "start"),
    [
        ("move the optician to six", "2025-06-19T18:00"),
        ("move the optician to half five", "2025-06-19T17:30"),
        ("move the optician to Friday at five", "2025-06-20T17:00"),
        ("move the optician to eleven", "2025-06-19T11:00"),
        ("move the optician to seven", "2025-06-19T07:00"),
        ("move the optician to six in the morning", "2025-06-19T06:00"),
        ("move the optician to 6.30am", "2025-06-19T06:30"),
    ],
)
def test_an_hour_alone_moves_nothing_of_the_day_into_the_night(said: str, start: str) -> None:
    assert moved(said, event("Optician", 10)) == start


def test_what_is_early_stays_early() -> None:
    assert moved("move the ferry to six", event("Ferry", 5)) == "2025-06-19T06:00"
    assert moved("move the swim to half six", event("Swim", 7)) == "2025-06-19T06:30"
    assert moved("move the disco to eleven", event("Disco", 21, 30)) == "2025-06-19T23:00"


@pytest.mark.parametrize(
    ("said", "phrase", "moment"),
    [
        ("remind me at half two to meet the four o'clock bus", "at half two", "2025-06-18T14:30"),
        ("remind me at two to ring Jo at three", "at two", "2025-06-18T14:00"),
        ("remind me at four about the six o'clock talk", "at four", "2025-06-18T16:00"),
        ("remind me at 7.15pm that the film's at 8.15pm", "at 7.15pm", "2025-06-18T19:15"),
        ("remind me in an hour to ring about the six o'clock", "in an hour", "2025-06-18T13:00"),
        ("remind me tomorrow to wrap a gift for Sunday's do", "tomorrow", "2025-06-19T09:00"),
        ("remind me tomorrow that Monday's off", "tomorrow", "2025-06-19T09:00"),
        ("remind me tonight to soak the beans for tomorrow", "tonight", "2025-06-18T20:00"),
        ("remind me on Friday to pack for Sunday", "on Friday", "2025-06-20T09:00"),
        ("remind me at six to book a table for Sunday", "at six", "2025-06-18T18:00"),
        ("remind me at six about Friday's talk", "at six", "2025-06-18T18:00"),
    ],
)
def test_times_of_what_is_to_be_done_are_not_those_of_the_reminder(
    said: str, phrase: str, moment: str
) -> None:
    assert due(said, phrase) == moment


@pytest.mark.parametrize(
    ("said", "phrase", "moment"),
    [
        ("remind me at two to ring Jo tomorrow", "at two", "2025-06-19T14:00"),
        ("remind me at two for Friday to ring Jo", "at two", "2025-06-20T14:00"),
        ("remind me tomorrow to ring Jo at three", "tomorrow", "2025-06-19T15:00"),
        ("remind me at two to ring Jo, no, at three", "at two", "2025-06-18T15:00"),
        ("remind me at two to ring Jo, make it three", "at two", "2025-06-18T15:00"),
    ],
)
def test_a_time_behind_the_task_completes_or_corrects_the_phrase(
    said: str, phrase: str, moment: str
) -> None:
    assert due(said, phrase) == moment


def test_the_end_of_a_range_is_no_task() -> None:
    said = "book the court from two to half three on Friday"
    assert without_other_times(said, "from two", NOON) == said


def test_all_of_a_group_take_part() -> None:
    tool = Toolbox.packaged().get("create_event")
    assert tool is not None
    contacts = (Contact("Vera Quist", "mother"), Contact("Jan Quist", "father"), Contact("Ole"))
    said = Request("dinner with my parents and Ole tomorrow at seven", NOON)
    sources = ValueSources(said, Person("ada", NOON, Profile(name="Ada"), contacts), ())
    read = {"title": "Dinner", "start": "tomorrow at seven", "attendees": "my parents and Ole"}
    slots = {name: FilledSlot(value, 0.9) for name, value in read.items()}
    made = compose(tool, rank_values([tool], sources)[tool.api], slots, sources)
    assert made.plan is not None
    assert made.plan.arguments["attendees"] == ["Vera Quist", "Jan Quist", "Ole"]
