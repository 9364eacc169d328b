"""Calendars and address books that are exported again: what is no longer in them goes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ctrag.assistant.imports.files import new_person, owner_of, records_in
from ctrag.assistant.imports.found import Owner
from ctrag.assistant.imports.run import import_into
from ctrag.assistant.sync.engine import Synced, synchronize
from ctrag.assistant.sync.mirror import Mirror
from ctrag.assistant.sync.source import SourceUnavailable
from stores.people.items import Contact, Person
from stores.people.stores import Stores
from tests.assistant.sync.conftest import calendar, encode, event, titles

CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:{}\nTEL:{}\nEND:VCARD\n"
Bring = Callable[[Path], Synced]


@pytest.fixture
def bring(stores: Stores) -> Bring:
    def run(path: Path) -> Synced:
        known = stores.exists() and "me" in stores.people()
        person = stores.person("me") if known else new_person("me", "Me", "Europe/Oslo")
        return synchronize(stores, person, Mirror(path), encode, "any", adopt=True)

    return run


def named(text: str) -> str:
    return text.replace("VERSION:2.0\r\n", "VERSION:2.0\r\nX-WR-CALNAME:Home\r\n")


def test_an_event_that_is_not_in_the_next_export_goes_and_undo_brings_it_back(
    bring: Bring, stores: Stores, tmp_path: Path
) -> None:
    first, next_one = tmp_path / "home.ics", tmp_path / "home (1).ics"
    first.write_text(named(calendar(event("1", "Dentist"), event("2", "Choir"))))
    next_one.write_text(named(calendar(event("2", "Choir"), event("3", "Sauna"))))
    assert bring(first).report.stored.added == 2
    assert bring(first).unchanged
    done = bring(next_one)
    assert (done.report.stored.added, done.gone) == (1, 1)
    assert titles(stores) == ["Choir", "Sauna"]
    stores.undo("me")
    assert titles(stores) == ["Choir", "Dentist"]


def test_what_a_plain_import_of_the_file_brought_is_the_files(
    bring: Bring, stores: Stores, tmp_path: Path
) -> None:
    path = tmp_path / "home.ics"
    path.write_text(calendar(event("1", "Dentist"), event("2", "Choir")))
    ada = new_person("me", "Me", "Europe/Oslo")
    import_into(stores, ada, records_in(path, owner_of(ada)), encode, "any")
    bring(path)
    path.write_text(calendar(event("2", "Choir")))
    assert bring(path).gone == 1
    assert titles(stores) == ["Choir"]


def test_a_card_that_went_takes_nobody_else_and_nothing_of_another_book(
    bring: Bring, stores: Stores, tmp_path: Path
) -> None:
    ada = new_person("me", "Me", "Europe/Oslo")
    mine = Contact("Ida", email="ida@x.example")
    import_into(stores, ada, [(None, mine), (None, Contact("Ola"))], encode, "any")
    book = tmp_path / "book.vcf"
    book.write_text(CARD.format("Ida", 11111111) + CARD.format("Per", 22222222))
    bring(book)
    book.write_text(CARD.format("Ida", 11111111))
    assert bring(book).gone == 1
    [ida, ola] = stores.person("me").contacts
    assert (ida.name, ida.phone, ida.email, ola.name) == ("Ida", "11111111", "ida@x.example", "Ola")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (calendar(event("1", "Dentist")).partition("END:VCALENDAR")[0], "is it cut off"),
        ("just words", "--mirror is for calendars and address books"),
        (
            "From - Thu Apr 17 08:00:00 2025\nFrom: a@x.example\nSubject: s\n\nb\n",
            "--mirror is for",
        ),
    ],
)
def test_a_file_that_is_not_whole_takes_nothing_away(
    bring: Bring, stores: Stores, tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "home.ics"
    path.write_text(calendar(event("1", "Dentist"), event("2", "Choir")))
    bring(path)
    path.write_text(text)
    with pytest.raises(SourceUnavailable, match=problem):
        bring(path)
    assert titles(stores) == ["Choir", "Dentist"]


def test_a_file_that_vanished_from_a_folder_takes_its_events_with_it(
    bring: Bring, stores: Stores, tmp_path: Path
) -> None:
    folder = tmp_path / "vdir"
    folder.mkdir()
    (folder / "1.ics").write_text(calendar(event("1", "Dentist")))
    (folder / "2.ics").write_text(calendar(event("2", "Choir")))
    bring(folder)
    (folder / "1.ics").unlink()
    assert bring(folder).gone == 1
    assert titles(stores) == ["Choir"]


def test_what_only_time_took_out_of_a_series_stays(
    bring: Bring, stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weekly = event("1", "Choir").replace("END:VEVENT", "RRULE:FREQ=WEEKLY\r\nEND:VEVENT")
    weekly = weekly.replace("20261201", "20240102")
    path = tmp_path / "home.ics"
    path.write_text(calendar(weekly))
    bring(path)
    before = len(titles(stores))
    now = owner_of(stores.person("me")).now + timedelta(days=70)

    def later(person: Person) -> Owner:
        return replace(owner_of(person), now=now)

    monkeypatch.setattr("ctrag.assistant.sync.engine.owner_of", later)
    path.write_text(calendar(weekly, event("2", "Dentist")))
    assert bring(path).gone == 0
    assert len(titles(stores)) == before + 1 + 10  # ten weeks later, and nothing is taken away
