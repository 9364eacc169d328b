"""An import is stored batch by batch, told as it goes, and taken back as a whole."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.apps.repeating import series_key
from ctrag.assistant.imports.files import Place, Record, new_person, owner_of
from ctrag.assistant.imports.found import LeftOut
from ctrag.assistant.imports.report import Report
from ctrag.assistant.imports.run import import_into, import_people
from stores.people.app_spec import packaged_apps
from stores.people.changes import Change
from stores.people.dataset import Persona, load_dataset, write_personas
from stores.people.items import CANCELLED, Contact, Item, Person, Profile, Usage, Value
from stores.people.stores import ImportReport, Matrix, Stores

ADA = new_person("ada", "Ada Quist", "Europe/Oslo")


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path / "stores")


def note(number: int, body: str = "x") -> Item:
    fields = {"title": f"n{number}", "body": body, "folder": "f", "modified_at": ADA.now}
    return Item(f"ada-notes-{number}", "notes", fields)


def zeros(owned: Sequence[tuple[Person, Item]]) -> Matrix:
    return np.zeros((len(owned), 3), np.float32)


def bring(stores: Stores, *records: Record, report: Report | None = None, size: int = 2) -> Report:
    placed = ((None, record) for record in records)
    return import_into(stores, ADA, placed, zeros, "zeros", report=report, batch=size)


def test_each_batch_is_stored_before_the_next_is_read(stores: Stores) -> None:
    stored: list[int] = []

    def records() -> Iterator[tuple[Place | None, Record]]:
        for number in range(5):
            stored.append(len(stores.items("ada").items) if stores.exists() else 0)
            yield None, note(number)

    import_into(stores, ADA, records(), zeros, "zeros", batch=2)
    assert stored == [0, 0, 2, 2, 4]
    assert len(stores.items("ada").items) == 5


def test_what_is_stored_when_an_import_is_stopped_stays_and_the_next_run_goes_on(
    stores: Stores,
) -> None:
    def stopped() -> Iterator[tuple[Place | None, Record]]:
        for number in range(3):
            yield None, note(number)
        raise KeyboardInterrupt

    report = Report(ImportReport(0, 0, 0, 0))
    with pytest.raises(KeyboardInterrupt):
        import_into(stores, ADA, stopped(), zeros, "zeros", report=report, batch=2)
    assert report.stored.added == 2
    again = bring(stores, *map(note, range(4))).stored
    assert (again.added, again.changed, again.unchanged) == (2, 0, 2)


def test_an_undo_takes_back_all_batches(stores: Stores) -> None:
    bring(stores, note(9))
    bring(stores, *map(note, range(5)), Contact("Ida", phone="1"))
    assert "5 items" in stores.undo("ada").summary
    assert [one.item.id for one in stores.items("ada").items] == ["ada-notes-9"]
    assert stores.person("ada").contacts == ()


def test_the_same_again_changes_nothing_whatever_the_batches(stores: Stores) -> None:
    records = (
        note(1),
        Contact("Ida", phone="1"),
        note(2),
        Contact("Ola"),
        note(3),
        note(1, "copy"),
    )
    first = bring(stores, *records)
    assert (first.stored.added, first.copies, first.stored.contacts.added) == (3, 1, 2)
    before = stores.signature()
    again = bring(stores, *records, size=500)
    assert not again.stored.anything
    assert (again.stored.unchanged, again.stored.contacts.unchanged) == (3, 2)
    assert stores.signature() == before


def test_a_dry_run_tells_the_same_and_stores_nothing(stores: Stores) -> None:
    bring(stores, note(1), Contact("Ida"))
    before = stores.signature()
    records = (note(1, "new"), note(2), Contact("Ida", email="i@x.example"), Contact("Ola"))
    dry = bring(stores, *records, report=Report(ImportReport(0, 0, 0, 0), dry_run=True))
    assert stores.signature() == before
    real = bring(stores, *records)
    assert dry.counts() == real.counts()
    assert (real.stored.added, real.stored.changed) == (1, 1)
    assert (real.stored.contacts.added, real.stored.contacts.changed) == (1, 1)


def test_a_later_book_erases_no_number(stores: Stores) -> None:
    bring(stores, Contact("Ida", phone="1", phones=("1",)))
    bring(stores, Contact("Ida", email="i@x.example", emails=("i@x.example",)))
    [ida] = stores.person("ada").contacts
    assert (ida.phone, ida.email) == ("1", "i@x.example")


def test_reasons_are_grouped_the_first_are_named_and_json_has_all(stores: Stores) -> None:
    lost = [LeftOut("mail", f"mail {n}\x1b[2J", "it has no date", "a.mbox") for n in range(5)]
    small = LeftOut("contact", "Ida", "its note is cut", "b.vcf", lost=False)
    report = bring(stores, note(1), *lost, small)
    assert list(report.lines("here")) == [
        "here: 1 items added, 0 changed, 0 as before",
        "  notes: 1 added, 0 changed, 0 as before",
        "Left out:",
        "  5 mails: it has no date (mail 0 [2J in a.mbox; mail 1 [2J in a.mbox; "
        "mail 2 [2J in a.mbox; and 2 more)",
        "Also noted:",
        "  1 contact: its note is cut (Ida in b.vcf)",
    ]
    told = report.as_json()
    assert (told["lost"], len(told["left_out"])) == (5, 6)
    assert told["kinds"] == {"notes": {"added": 1, "changed": 0, "same": 0}}


def test_progress_is_told_every_few_items(stores: Stores) -> None:
    told: list[int] = []
    records = ((None, note(number)) for number in range(60))
    import_into(stores, ADA, records, zeros, "zeros", told=lambda count, _: told.append(count))
    assert told == [25, 50, 60]


def full_items() -> tuple[Item, ...]:
    """An item of each application with something in every field."""
    some: dict[str, Value] = {
        "string": "Grüße, “Ada”",
        "text": "two\nlines\t\\ and 🐋",
        "datetime": datetime(2026, 11, 2, 8, 15),
        "boolean": True,
        "integer": 75,
        "strings": ("Liv Moe", "Ola"),
    }
    used = Usage(3, datetime(2026, 11, 1, 9), (7, 21), "home")
    return tuple(
        Item(
            f"ada-full-{app.name}",
            app.name,
            {one.name: one.values[0] if one.values else some[one.type] for one in app.fields},
            used,
        )
        for app in packaged_apps()
    )


def test_people_of_a_data_set_come_in_batches_and_out_again_as_they_were(
    stores: Stores, tmp_path: Path
) -> None:
    full = Contact(
        "Liv Moe",
        phone="1",
        phones=("1", "2"),
        emails=("l@x.example",),
        email="l@x.example",
        nicknames=("Livsen",),
        organisation="Klinikk",
        title="Dentist",
        related=("spouse: Even",),
        birthday="--05-02",
        addresses=("Strandveien 8",),
        note="two\nlines",
        uid="7",
    )
    ada = replace(ADA, contacts=(full, Contact("Ola", "friend", "3")))
    ben = Person("ben", datetime(2025, 4, 17), Profile("Ben"))
    items = full_items()
    people = [Persona(ada, (*map(note, range(5)), *items)), Persona(ben, ())]
    report = import_people(stores, people, zeros, "zeros", batch=2)
    assert (report.stored.people, report.stored.added, report.stored.contacts.added) == (2, 12, 2)
    folders = [tmp_path / "one", tmp_path / "two"]
    source = stores
    for folder in folders:
        folder.mkdir()
        exported = [
            Persona(source.person(one), tuple(x.item for x in source.items(one).items))
            for one in ("ada", "ben")
        ]
        write_personas(folder, exported)
        source = Stores(folder / "stores")
        import_people(source, load_dataset(folder).personas, zeros, "zeros")
    assert (folders[0] / "personas.jsonl").read_bytes() == (
        folders[1] / "personas.jsonl"
    ).read_bytes()
    assert source.person("ada").contacts == ada.contacts
    again = {stored.item.id: stored.item for stored in source.items("ada").items}
    assert [again[one.id] for one in items] == list(items)
    same = import_people(source, load_dataset(folders[0]).personas, zeros, "zeros").stored
    assert (same.added, same.changed, same.contacts.changed) == (0, 0, 0)


def test_the_persons_zone_decides_and_their_own_card_says_their_addresses() -> None:
    tokyo = new_person("eve", "Eve", "Asia/Tokyo")
    own = Contact("EVE", email="e@x.example", emails=("e@x.example", "f@x.example"))
    owner = owner_of(replace(tokyo, contacts=(own,)))
    assert owner.zone.key == "Asia/Tokyo"
    assert owner.addresses == ("e@x.example", "f@x.example")


def choir(day: int) -> Item:
    start = datetime(2026, 12, day, 19)
    times: dict[str, Value] = {"start": start, "end": start, "repeats": SERIES}
    fields = {"title": "Choir", "location": None, "attendees": (), "notes": None, **times}
    return Item(f"ada-calendar-{day}", "calendar", fields)


SERIES = "BEGIN:VEVENT\nUID:choir\nDTSTART:20261202T190000\nRRULE:FREQ=WEEKLY\nEND:VEVENT"


def test_what_was_cancelled_here_does_not_come_back_with_the_same_calendar(stores: Stores) -> None:
    days = [2, 9, 16]
    bring(stores, *map(choir, days), size=9)
    once = Change("", remove=["ada-calendar-9"], state={CANCELLED: ["ada-calendar-9"]})
    stores.apply("ada", "calendar", once, ADA.now)
    again = bring(stores, *map(choir, days))
    [left] = again.left_out
    assert (left.why, left.on_purpose, again.lost) == ("you cancelled it here", True, 0)
    rest = Change("", remove=["ada-calendar-16"], state={CANCELLED: [series_key(SERIES)]})
    stores.apply("ada", "calendar", rest, ADA.now)
    bring(stores, *map(choir, [*days, 23]))
    assert [one.item.id for one in stores.items("ada").items] == ["ada-calendar-2"]
    stores.undo("ada")
    counts = bring(stores, *map(choir, [*days, 23])).stored.apps["calendar"]
    assert (counts.added, counts.changed, counts.unchanged) == (1, 0, 2)  # not the 9th
