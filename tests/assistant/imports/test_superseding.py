"""The newest version of an event counts, in whatever order, file and import its versions come."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.files import new_person, owner_of, records_in
from ctrag.assistant.imports.report import Report
from ctrag.assistant.imports.run import import_into
from stores.people.changes import Change
from stores.people.item_rows import StoredItem
from stores.people.items import Contact, Item, Person
from stores.people.stores import ImportReport, Matrix, Stores
from tests.assistant.imports.test_calendars import calendar, event

Bring = Callable[..., Report]
OLDER = "an older version: a newer one counts"
CARD = Contact("Ada", email="ada@x.example", emails=("ada@x.example",))
ADA = replace(new_person("ada", "Ada", "Europe/Berlin"), contacts=(CARD,))


def zeros(owned: Sequence[tuple[Person, Item]]) -> Matrix:
    return np.zeros((len(owned), 3), np.float32)


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path / "stores")


@pytest.fixture
def bring(stores: Stores, tmp_path: Path) -> Bring:
    """`bring(name=data, …)`: one import of a folder with these files, read in this order."""

    def run(*, dry_run: bool = False, **files: bytes) -> Report:
        report = Report(ImportReport(0, 0, 0, 0), dry_run=dry_run)
        records = []
        for name, data in files.items():
            kind = "eml" if data.startswith(b"From:") else "ics"
            path = tmp_path / f"{name}.{kind}"
            path.write_bytes(data)
            records += list(records_in(path, owner_of(ADA)))
        return import_into(stores, ADA, records, zeros, "zeros", report=report, batch=2)

    return run


def walk(number: int, hour: int, *lines: str, uid: str = "walk") -> str:
    """The event in its version of that number, changed on the day of December after it."""
    return event(
        f"UID:{uid}",
        f"DTSTAMP:202612{number + 1:02}T080000Z",
        f"SEQUENCE:{number}",
        "SUMMARY:Walk",
        f"DTSTART;TZID=Europe/Berlin:20261220T{hour:02}0000",
        "DURATION:PT1H",
        *lines,
    )


def mail(number: int, component: str, method: str = "REQUEST") -> bytes:
    head = f"""From: Ole <ole@x.example>
To: ada@x.example
Subject: Walk
Message-ID: <{number}@x.example>
Date: {number + 1} Dec 2026 09:00:00 +0100
Content-Type: text/calendar; method={method}

"""
    return head.encode() + calendar(component, head=f"METHOD:{method}\n").replace(b"\r", b"")


def times(stores: Stores) -> list[str]:
    found = (one.item for one in stores.items("ada").items if one.item.app == "calendar")
    return sorted(f"{item.time('start'):%d %H:%M}" for item in found)


OLD, NEW = walk(0, 8), walk(1, 14)
CANCELLED = walk(2, 14, "STATUS:CANCELLED")
DECLINED = walk(2, 14, "ATTENDEE;PARTSTAT=DECLINED:mailto:ada@x.example")


@pytest.mark.parametrize(
    "files",
    [
        {"a": calendar(OLD), "b": calendar(NEW)},
        {"a": calendar(NEW), "b": calendar(OLD)},
        {"a": mail(0, OLD), "b": mail(1, NEW)},
        {"a": mail(0, OLD), "b": calendar(NEW)},
    ],
)
def test_of_several_files_the_newest_version_counts_and_the_other_is_told(
    bring: Bring, stores: Stores, files: dict[str, bytes]
) -> None:
    report = bring(**files)
    assert times(stores) == ["20 14:00"]
    assert [one.why for one in report.left_out] == [OLDER]


@pytest.mark.parametrize("again", [calendar(OLD), mail(0, OLD)])
def test_an_older_version_of_a_later_import_changes_nothing(
    bring: Bring, stores: Stores, again: bytes
) -> None:
    bring(a=calendar(NEW))
    report = bring(a=again)
    assert (times(stores), report.stored.changed) == (["20 14:00"], 0)
    assert [(one.why, one.on_purpose) for one in report.left_out] == [(OLDER, True)]


@pytest.mark.parametrize(
    "later", [calendar(CANCELLED), calendar(DECLINED), mail(2, CANCELLED, "CANCEL")]
)
def test_what_is_cancelled_or_declined_later_goes_is_counted_and_does_not_come_back(
    bring: Bring, stores: Stores, later: bytes
) -> None:
    bring(a=calendar(NEW))
    assert bring(a=later, dry_run=True).stored.removed == 1
    report = bring(a=later)
    assert (times(stores), report.stored.removed) == ([], 1)
    assert "  1 removed: cancelled, declined or no longer in a newer version" in report.lines("")
    report = bring(a=mail(0, OLD))
    assert times(stores) == []
    assert "cancelled or declined since" in report.left_out[0].why


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
def test_what_is_cancelled_in_one_file_is_not_stored_from_another(
    bring: Bring, stores: Stores, order: list[str]
) -> None:
    files = {"a": mail(0, OLD), "b": mail(2, CANCELLED, "CANCEL")}
    bring(**{name: files[name] for name in order})
    assert times(stores) == []


def test_what_takes_place_after_all_is_back(bring: Bring, stores: Stores) -> None:
    bring(a=calendar(CANCELLED))
    bring(a=calendar(walk(3, 16)))
    assert times(stores) == ["20 16:00"]


def test_a_new_version_of_a_series_leaves_none_of_its_old_times(
    bring: Bring, stores: Stores
) -> None:
    bring(a=calendar(walk(0, 19, "RRULE:FREQ=WEEKLY;COUNT=3")))
    report = bring(a=calendar(walk(1, 20, "RRULE:FREQ=WEEKLY;COUNT=2")))
    assert times(stores) == ["20 20:00", "27 20:00"]
    assert (report.stored.added, report.stored.removed) == (2, 3)
    assert bring(a=calendar(walk(2, 20))).stored.removed == 2  # it repeats no more
    assert times(stores) == ["20 20:00"]


def test_times_of_a_series_that_are_long_past_stay(bring: Bring, stores: Stores) -> None:
    year = datetime.now().year
    lines = (f"DTSTART:{year - 3}0101T090000", "RRULE:FREQ=WEEKLY")
    then = replace(owner_of(ADA), now=datetime(year - 2, 6, 1))
    found = read_calendar(calendar(event("UID:choir", "SUMMARY:Choir", *lines)), then)
    import_into(stores, ADA, ((None, one) for one in found.records()), zeros, "zeros")
    bring(a=calendar(event("UID:choir", "SEQUENCE:1", "SUMMARY:Choir", *lines, "LOCATION:Hall")))
    items = [one.item for one in stores.items("ada").items]
    starts = sorted(item.time("start") or datetime.min for item in items)
    assert starts[0] < datetime(year - 2, 1, 1)
    assert {later - one for one, later in pairwise(starts)} == {timedelta(days=7)}
    old = [item.time("start") or datetime.max for item in items if not item.text("location")]
    assert max(old) < datetime.now() - timedelta(days=366)


SERIES = "RRULE:FREQ=DAILY;COUNT=3"
MOVED = event(
    "UID:walk",
    "DTSTAMP:20261205T080000Z",
    "SEQUENCE:2",
    "SUMMARY:Walk",
    "RECURRENCE-ID;TZID=Europe/Berlin:20261221T080000",
    "DTSTART;TZID=Europe/Berlin:20261221T110000",
)


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
def test_a_changed_occurrence_holds_against_its_series_until_that_changes(
    bring: Bring, stores: Stores, order: list[str]
) -> None:
    files = {"a": mail(0, walk(0, 8, SERIES)), "b": mail(4, MOVED)}
    bring(**{name: files[name] for name in order})
    assert times(stores) == ["20 08:00", "21 11:00", "22 08:00"]
    bring(a=files["a"])
    assert times(stores) == ["20 08:00", "21 11:00", "22 08:00"]
    bring(a=mail(5, walk(5, 9, SERIES)))
    assert times(stores) == ["20 09:00", "21 09:00", "22 09:00"]


def test_a_series_that_is_cancelled_takes_its_changed_occurrence_along(
    bring: Bring, stores: Stores
) -> None:
    bring(b=mail(4, MOVED))
    bring(a=mail(0, walk(0, 8, SERIES)))
    bring(a=mail(6, walk(6, 8, SERIES, "STATUS:CANCELLED"), "CANCEL"))
    assert times(stores) == []


def test_an_occurrence_that_is_cancelled_by_mail_leaves_the_others(
    bring: Bring, stores: Stores
) -> None:
    gone = MOVED.replace("SEQUENCE:2", "SEQUENCE:3\nSTATUS:CANCELLED")
    bring(a=mail(0, walk(0, 8, SERIES)))
    for _ in range(2):
        bring(b=mail(5, gone, "CANCEL"), a=mail(0, walk(0, 8, SERIES)))
        assert times(stores) == ["20 08:00", "22 08:00"]


def test_an_undo_takes_the_version_back_too(bring: Bring, stores: Stores) -> None:
    bring(a=calendar(OLD))
    bring(a=calendar(CANCELLED))
    stores.undo("ada")
    assert times(stores) == ["20 08:00"]
    assert bring(a=calendar(NEW)).stored.changed == 1


def test_nothing_is_known_of_versions_of_what_was_forgotten(bring: Bring, stores: Stores) -> None:
    bring(a=calendar(OLD, walk(0, 9, uid="swim")))
    known = stores.versions("ada")
    assert len(known) == 2
    [first, _] = known
    stores.forget("ada", first)
    assert first not in stores.versions("ada")
    bring(a=calendar(walk(3, 9, "STATUS:CANCELLED", uid="swim")))
    stores.forget("ada")
    assert stores.versions("ada") == {}


def move(stores: Stores, hour: int) -> None:
    """What a call does that moves the event."""
    [item] = [one.item for one in stores.items("ada").items if one.item.app == "calendar"]
    start = datetime(2026, 12, 20, hour)
    moved = replace(item, fields={**item.fields, "start": start})
    stores.apply("ada", "calendar", Change("", put=[StoredItem(moved)]), start)


@pytest.mark.parametrize("number", [0, 1])
def test_what_was_changed_here_stays_until_it_changes_there(
    bring: Bring, stores: Stores, number: int
) -> None:
    bring(a=calendar(walk(0, 8)))
    move(stores, 10)
    move(stores, 11)
    report = bring(a=calendar(walk(number, 8)))  # the same, if only stamped anew
    assert times(stores) == ["20 11:00"]
    assert [(one.why, one.lost) for one in report.left_out] == [
        ("you changed it here since: it stays so", False)
    ]
    bring(a=calendar(walk(2, 15)))
    assert times(stores) == ["20 15:00"]
    bring(a=calendar(walk(3, 8)))  # back to where it was before: that is news again
    assert times(stores) == ["20 08:00"]


def test_what_was_changed_here_stays_when_the_journal_knows_of_it_no_more(
    bring: Bring, stores: Stores
) -> None:
    bring(a=calendar(OLD))
    move(stores, 10)
    for day in range(22):
        bring(a=calendar(walk(0, day % 20, uid="swim" if day < 20 else "choir")))
    assert stores.touched("ada") == []
    bring(a=calendar(OLD))
    assert "20 10:00" in times(stores)


def test_a_file_without_versions_is_what_counts_now(bring: Bring, stores: Stores) -> None:
    daily = ("UID:walk", "SUMMARY:Walk", "DTSTART:20261220T080000", SERIES)
    gone = ("UID:walk", "RECURRENCE-ID:20261221T080000", "STATUS:CANCELLED")
    bring(a=calendar(event(*daily), event(*gone)))
    assert times(stores) == ["20 08:00", "22 08:00"]
    bring(a=calendar(event(*daily)))
    assert times(stores) == ["20 08:00", "21 08:00", "22 08:00"]
    bring(a=calendar(event(*daily[:2], "DTSTART:20261220T090000", SERIES)))
    assert times(stores) == ["20 09:00", "21 09:00", "22 09:00"]


def test_a_ticked_or_cancelled_to_do_counts_by_its_version_too(
    bring: Bring, stores: Stores
) -> None:
    def task(number: int, *lines: str) -> bytes:
        known = ("UID:post", "SUMMARY:Post", f"SEQUENCE:{number}")
        return calendar(event(*known, *lines, kind="VTODO"))

    bring(a=task(1, "STATUS:COMPLETED"))
    bring(a=task(0))
    [item] = [one.item for one in stores.items("ada").items]
    assert item.flag("done")
    assert bring(a=task(2, "STATUS:CANCELLED")).stored.removed == 1
    bring(a=task(0))
    assert stores.items("ada").items == []
