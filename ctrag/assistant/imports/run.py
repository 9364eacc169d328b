"""An import in batches: what is stored stays, whatever comes after it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ctrag.assistant.imports.cancelled import Cancelled
from ctrag.assistant.imports.files import Place, Record
from ctrag.assistant.imports.found import LeftOut
from ctrag.assistant.imports.merging import merged, with_contacts
from ctrag.assistant.imports.report import Report
from stores.people.dataset import Persona
from stores.people.items import Contact, Item, Person
from stores.people.stores import Encode, ImportReport, Matrix, Stores

BATCH = 500
"""Items that are encoded and stored together: what a kill loses at most."""
_CANCELLED = "you cancelled it here"
_SLICE = 25
"""Items between two calls of `told`."""
Told = Callable[[int, Place | None], None]
"""Called with the number of items encoded so far, and where reading is."""


def import_into(
    stores: Stores,
    person: Person,
    records: Iterable[tuple[Place | None, Record]],
    encode: Encode,
    encoder: str,
    *,
    report: Report | None = None,
    told: Told | None = None,
    batch: int = BATCH,
) -> Report:
    """Import what readers found for one person.

    Of records with one id the first is taken. Contacts are merged into those that the person has.

    Args:
        stores: Where to.
        person: Who, with the profile that they shall have; their contacts stay.
        records: Items, contacts and what was left out, each with its place in the sources.
        encode: Makes the vectors of items that are new.
        encoder: Name of the encoder.
        report: Filled while the import runs, so that it holds what is stored already when the
            import is stopped; with `dry_run` nothing is stored.
        told: Called after every few items.
        batch: Items of one batch.

    Raises:
        ValueError, OSError, StoreUnavailable: As for `Stores.import_personas`; batches before are
            stored.
    """
    run = _Run(stores, encode, encoder, report or Report(ImportReport(0, 0, 0, 0)), told)
    cancelled = Cancelled(stores, person.person_id)
    items: dict[str, Item] = {}
    contacts: list[Contact] = []
    seen: set[str] = set()
    stored = False
    for place, record in records:
        run.place = place
        if isinstance(record, LeftOut):
            run.report.left_out.append(record)
        elif isinstance(record, Contact):
            contacts.append(record)
        elif record.id in seen:
            run.report.copies += 1
        elif cancelled.has(record):
            source = "" if place is None else place.name
            left = LeftOut("event", record.text("title"), _CANCELLED, source, on_purpose=True)
            run.report.left_out.append(left)
        else:
            seen.add(record.id)
            items[record.id] = record
            if len(items) >= batch:
                run.store([_persona(person, contacts, items)])
                items, contacts, stored = {}, [], True
    if items or contacts or not stored:
        run.store([_persona(person, contacts, items)])
    return run.report


def import_people(
    stores: Stores,
    personas: Sequence[Persona],
    encode: Encode,
    encoder: str,
    *,
    report: Report | None = None,
    told: Told | None = None,
    batch: int = BATCH,
) -> Report:
    """Import the people of a data set; arguments as for `import_into`."""
    run = _Run(stores, encode, encoder, report or Report(ImportReport(0, 0, 0, 0)), told)
    for some in _batches(personas, batch):
        run.store(some)
    return run.report


class _Run:
    """One import, batch after batch."""

    def __init__(
        self, stores: Stores, encode: Encode, encoder: str, report: Report, told: Told | None
    ) -> None:
        self.report = report
        self.place: Place | None = None
        self._stores = stores
        self._encode = encode
        self._encoder = encoder
        self._told = told
        self._encoded = 0

    def store(self, personas: Sequence[Persona]) -> None:
        """Store one batch, or only compare it."""
        if self.report.dry_run:
            news = self._stores.compare(personas, self._encoder, merged)
        else:
            news = self._stores.import_personas(
                personas, self._vectors, self._encoder, merged, self.report.stored
            )
        self.report.stored += news

    def _vectors(self, owned: Sequence[tuple[Person, Item]]) -> Matrix:
        parts = []
        for start in range(0, len(owned), _SLICE):
            parts.append(self._encode(owned[start : start + _SLICE]))
            self._encoded += len(parts[-1])
            if self._told is not None:
                self._told(self._encoded, self.place)
        return np.concatenate(parts)


def _persona(person: Person, contacts: Sequence[Contact], items: dict[str, Item]) -> Persona:
    known = with_contacts((), contacts, person.profile.name)
    return Persona(replace(person, contacts=known), tuple(items.values()))


def _batches(personas: Sequence[Persona], size: int) -> Iterator[list[Persona]]:
    """People in groups of about so many items; somebody with more is in several."""
    group: list[Persona] = []
    count = 0
    for persona in personas:
        parts = [
            Persona(persona.person, persona.items[start : start + size])
            for start in range(0, max(1, len(persona.items)), size)
        ]
        for part in parts:
            if group and count + len(part.items) > size:
                yield group
                group, count = [], 0
            group.append(part)
            count += len(part.items)
    if group:
        yield group
