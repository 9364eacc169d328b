"""One occurrence of a repeating event or all that follow: the request says which."""

import shutil
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from ctrag.assistant.apps.execute import Result, execute, preview
from ctrag.assistant.context.item_arrays import load_view
from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.found import Owner
from ctrag.assistant.planning.plan import Plan
from stores.people.dataset import Persona
from stores.people.items import Item, Person, Profile
from stores.people.stores import Matrix, Stores

NOW = datetime(2026, 11, 26, 12, 0)
"""A Thursday."""
ME = Person("me", NOW, Profile("Ada", timezone="Europe/Berlin"))
ICS = b"""BEGIN:VCALENDAR
BEGIN:VEVENT
UID:choir
SUMMARY:Choir
DTSTART;TZID=Europe/Berlin:20260107T193000
DTEND;TZID=Europe/Berlin:20260107T210000
RRULE:FREQ=WEEKLY;BYDAY=WE
END:VEVENT
BEGIN:VEVENT
UID:ida
SUMMARY:Ida's birthday
DTSTART;VALUE=DATE:19491202
RRULE:FREQ=YEARLY
END:VEVENT
BEGIN:VEVENT
UID:tax
SUMMARY:Tax office
DTSTART;TZID=Europe/Berlin:20261202T090000
END:VEVENT
END:VCALENDAR
"""


class Zeros:
    """An encoder to which all is alike."""

    name = "zeros"
    dimension = 3

    def encode(self, texts: Sequence[str]) -> Matrix:
        return np.zeros((len(texts), 3), np.float32)


def zeros(owned: Sequence[Any]) -> Matrix:
    return Zeros().encode(["" for _ in owned])


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("filled") / "stores"
    found = read_calendar(ICS, Owner("me", ZoneInfo("Europe/Berlin"), NOW))
    Stores(root).import_personas([Persona(ME, tuple(found.items))], zeros, "zeros")
    return root


@pytest.fixture
def stores(filled: Path, tmp_path: Path) -> Stores:
    shutil.copytree(filled, tmp_path / "stores")
    return Stores.open(tmp_path / "stores")


@pytest.fixture
def run(stores: Stores) -> Callable[..., Result]:
    def ask(call: str, said: str = "", at: datetime = NOW) -> Result:
        return execute(
            Plan.parse(call),
            stores=stores,
            person=ME,
            items=calendar(stores),
            at=at,
            encode=zeros,
            said=said,
        )

    return ask


def calendar(stores: Stores) -> list[Item]:
    return [one.item for one in stores.items("me").items]


def choir(stores: Stores) -> list[str]:
    found = sorted(one.time("start") for one in calendar(stores) if one.text("title") == "Choir")
    return [f"{start:%Y-%m-%d %H:%M}" for start in found if start > NOW]


@pytest.mark.parametrize(
    "said", ["cancel choir", "cancel choir just this week", "no choir, just for once"]
)
def test_a_change_is_of_one_occurrence_and_says_that_it_repeats(
    stores: Stores, run: Callable[..., Result], said: str
) -> None:
    before = choir(stores)
    answer = run('cancel_event(title="Choir")', said).answer
    assert answer == (
        "Cancelled “Choir”, Wed 2 Dec 2026 19:30. "
        "It repeats every Wednesday: only this one was cancelled."
    )
    assert choir(stores) == before[1:]


@pytest.mark.parametrize(
    "said",
    [
        "cancel choir from now on",
        "cancel every choir",
        "drop choir for good",
        "cancel all future choir evenings",
        "cancel this and all following choir evenings",
        "cancel the whole series of choir",
    ],
)
def test_all_that_follow_are_cancelled_where_the_request_says_so(
    stores: Stores, run: Callable[..., Result], said: str
) -> None:
    past = len([one for one in calendar(stores) if one.text("title") == "Choir"])
    answer = run('cancel_event(title="Choir")', said).answer
    assert "and all that follow (every Wednesday, 104 in all)" in answer
    assert choir(stores) == []
    assert len([one for one in calendar(stores) if one.text("title") == "Choir"]) == past - 104


def test_a_title_that_sounds_like_all_means_nothing(
    stores: Stores, run: Callable[..., Result]
) -> None:
    items = [
        Item(one.id, one.app, {**one.fields, "title": "Every Wednesday choir"})
        for one in calendar(stores)
        if one.text("title") == "Choir"
    ]
    told = preview(
        Plan.parse('cancel_event(title="Every Wednesday choir")'),
        stores=stores,
        person=ME,
        items=items,
        at=NOW,
        said="cancel every wednesday choir on 2 December",
    )
    assert told.text.endswith("It repeats every Wednesday: only this one is cancelled.")


def test_one_occurrence_is_moved_or_all_by_as_much(
    stores: Stores, run: Callable[..., Result]
) -> None:
    moving = 'reschedule_event(title="Choir", new_start="2026-12-03T20:00")'
    answer = run(moving, "move choir to Thursday at 8 this once").answer
    assert answer.endswith("It repeats every Wednesday: only this one was moved.")
    assert choir(stores)[:2] == ["2026-12-03 20:00", "2026-12-09 19:30"]
    stores.undo("me")
    answer = run(moving, "move choir to Thursdays at 8 from now on").answer
    assert answer == (
        "Moved “Choir” to Thu 3 Dec 2026 20:00, and all that follow by as much "
        "(every Wednesday so far, 104 in all)."
    )
    assert choir(stores)[:2] == ["2026-12-03 20:00", "2026-12-10 20:00"]
    told = run('get_event(title="Choir")').answer
    assert told.splitlines()[1:] == [
        "Time: Thu 3 Dec 2026 20:00 to 21:30",
        "Place: none given",
        "Attendees: none",
        "Repeats: every Thursday",
    ]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("when is choir", "Wed 2 Dec 2026"),
        ("when is choir on the 16th of December", "Wed 16 Dec 2026"),
        ("when was choir last time", "yesterday"),
    ],
)
def test_a_question_is_about_the_occurrence_that_it_names_or_the_next(
    run: Callable[..., Result], said: str, day: str
) -> None:
    assert f"Time: {day} 19:30" in run('get_event(title="Choir")', said).answer


def test_a_birthday_is_the_coming_one_and_lasts_all_day(run: Callable[..., Result]) -> None:
    answer = run('get_event(title="Ida\'s birthday")', "when is Ida's birthday").answer
    assert "Time: Wed 2 Dec 2026, all day" in answer
    assert "Repeats: every year" in answer


def test_whether_there_is_time_is_answered_from_occurrences(run: Callable[..., Result]) -> None:
    day = 'list_events(date="2026-12-02")'
    evening = run(day, "am I free on Wednesday evening").answer.splitlines()
    assert evening[0] == (
        "Not free from 17:00 to 23:00: 1 event. Free 17:00 to 19:30, 21:00 to 23:00."
    )
    assert len(evening) == 5
    afternoon = run(day, "am I free on Wednesday afternoon").answer
    assert afternoon.startswith("Free from 12:00 to 18:00.")
    empty = run('list_events(date="2026-12-05")', "am I free on Saturday").answer
    assert empty == "Nothing is planned for Sat 5 Dec 2026."


def test_a_search_shows_a_series_twice_at_most(run: Callable[..., Result]) -> None:
    found = run('search_events(query="choir")', "find choir").answer.splitlines()
    assert [line[:17] for line in found[1:]] == ["- Wed 2 Dec 2026 ", "- Wed 9 Dec 2026 "]


def test_a_series_goes_on_when_time_has_moved_on(
    stores: Stores, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def starts(title: str) -> list[datetime]:
        view = load_view(stores, "me", Zeros())
        return sorted(
            start
            for one in view.items
            if one.text("title") == title and (start := one.time("start"))
        )

    last = starts("Choir")[-1]
    later = NOW + timedelta(days=800)
    monkeypatch.setattr("ctrag.assistant.context.item_arrays.now_in", lambda zone: later)
    known = starts("Choir")
    assert last < later < known[-1]
    assert {start.strftime("%a %H:%M") for start in known} == {"Wed 19:30"}
    assert len(known) == len(set(known))
    assert starts("Ida's birthday")[-1] == datetime(2030, 12, 2)
    run('cancel_event(title="Choir")', "cancel choir from now on")
    assert starts("Choir")[-1] < NOW  # what is cancelled for good does not come back
