"""An import in batches: what is stored stays, whatever comes after it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ctrag.assistant.imports.cancelled import Cancelled
from ctrag.assistant.imports.changed_here import ChangedHere
from ctrag.assistant.imports.files import Place, Record
from ctrag.assistant.imports.found import LeftOut, Version
from ctrag.assistant.imports.merging import merged, with_contacts
from ctrag.assistant.imports.report import Report
from ctrag.assistant.imports.superseding import Noted, Superseding
from stores.people.dataset import Persona
from stores.people.items import Contact, Item, Person
from stores.people.stores import Encode, ImportReport, Matrix, Stores

BATCH = 500
"""Items that are encoded and stored together: what a kill loses at most."""
_CANCELLED = "you cancelled it here"
_CHANGED = "you changed it here since: it stays so"
_KINDS = {"calendar": "event", "reminders": "to-do", "notes": "journal"}
"""What reports call items that have versions."""
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

    Of records with one id the newest version is taken; where none is newer, the first. What a
    newer version says no more is removed. Contacts are merged into those that the person has.

    Args:
        stores: Where to.
        person: Who, with the profile that they shall have; their contacts stay.
        records: Items, each after its version, contacts and what was left out, each with its place
            in the sources.
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
    noted = Noted(stores, person.person_id)
    chosen = _Chosen(stores, person.person_id, noted, run.report)
    contacts: list[Contact] = []
    stored = False
    for place, record in records:
        run.place = place
        source = "" if place is None else place.name
        if isinstance(record, LeftOut):
            run.report.left_out.append(record)
        elif isinstance(record, Contact):
            contacts.append(record)
        elif isinstance(record, Version):
            chosen.hear(record, source)
        else:
            chosen.add(record, source)
        if len(chosen.items) >= batch:
            run.store([_persona(person, contacts, chosen.items)], chosen.gone, noted.changed)
            contacts, stored = [], True
            chosen.next_batch()
    if contacts or chosen.items or chosen.gone or noted.changed or not stored:
        run.store([_persona(person, contacts, chosen.items)], chosen.gone, noted.changed)
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


class _Chosen:
    """Which of the items that are read shall be stored, and which of the stored ones go."""

    def __init__(self, stores: Stores, person_id: str, noted: Noted, report: Report) -> None:
        self.items: dict[str, Item] = {}
        """Those of this batch."""
        self.gone: set[str] = set()
        self._noted = noted
        self._report = report
        self._seen: set[str] = set()
        self._versions = Superseding(stores, person_id, noted)
        self._cancelled = Cancelled(stores, person_id)
        self._changed = ChangedHere(stores, person_id, noted)

    def hear(self, version: Version, source: str) -> None:
        """A version, before the items that are of it."""
        gone, older = self._versions.hear(version)
        if older is not None:
            self._report.left_out.append(replace(older, source=source))
        for item_id in gone:
            self.items.pop(item_id, None)
        self.gone |= gone

    def add(self, item: Item, source: str) -> None:
        """An item."""
        verdict = self._versions.verdict(item)
        if verdict == "older":  # told by its version
            return
        if verdict == "copy" or (verdict is None and item.id in self._seen):
            self._report.copies += 1
            return
        if self._cancelled.has(item):
            self._leave(item, _CANCELLED, source)
            return
        self.gone.discard(item.id)
        if item.id not in self._seen and self._changed.keeps(item):
            self._leave(item, _CHANGED, source, lost=False)
            return
        self._seen.add(item.id)
        self._versions.took(item)
        self.items[item.id] = item

    def next_batch(self) -> None:
        """This one is stored."""
        self.items, self.gone = {}, set()
        self._noted.changed.clear()

    def _leave(self, item: Item, why: str, source: str, *, lost: bool = True) -> None:
        kind = _KINDS.get(item.app, item.app)
        left = LeftOut(kind, item.text("title"), why, source, lost=lost, on_purpose=True)
        self._report.left_out.append(left)


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

    def store(
        self,
        personas: Sequence[Persona],
        gone: Collection[str] = (),
        versions: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Store one batch, or only compare it; `gone` and `versions` are of its first person."""
        gone_of = {personas[0].person.person_id: gone} if gone else {}
        if self.report.dry_run:
            news = self._stores.compare(personas, self._encoder, merged, gone_of)
        else:
            news = self._stores.import_personas(
                personas,
                self._vectors,
                self._encoder,
                merged,
                self.report.stored,
                gone=gone_of,
                versions={personas[0].person.person_id: versions} if versions else {},
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
