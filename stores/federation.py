"""The stores of all applications together."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from stores import generations
from stores.app_store import (
    AppStore,
    Change,
    ChangeRecord,
    OutboxRow,
    StoredItem,
    Vector,
    content_hash,
)
from stores.database import READ_PATIENCE, WRITE_PATIENCE, StoreUnavailable, writing
from stores.dataset import Persona
from stores.generations import Manifest
from stores.items import Item, Person
from stores.people_store import PeopleStore, UnknownPerson
from stores.spec import AppSpec, packaged_apps

_PEOPLE = "people.duckdb"
_Result = TypeVar("_Result")
Matrix = NDArray[np.float32]
Encode = Callable[[Sequence[tuple[Person, Item]]], Matrix]
"""Gives one row of float32 for each person's item, in the same order."""


@dataclass(frozen=True, slots=True)
class PersonItems:
    """What the stores hold of one person, and which stores did not answer."""

    items: list[StoredItem]
    """Grouped by application in the order of the specs; inside one, in stored order."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Application → reason."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import changed."""

    people: int
    added: int
    changed: int
    unchanged: int

    @property
    def anything(self) -> bool:
        """Whether a new generation was made."""
        return bool(self.people or self.added or self.changed)


class Stores:
    """One DuckDB file per application and one for the people, under one folder.

    All methods that read or write items name the person whose items they are.
    """

    def __init__(
        self,
        root: Path,
        apps: Sequence[AppSpec] | None = None,
        *,
        patience: float = WRITE_PATIENCE,
        read_patience: float = READ_PATIENCE,
    ) -> None:
        """Stores under `root`, which need not exist yet.

        Args:
            root: The folder.
            apps: Applications; the packaged seven when None.
            patience: Seconds that a write waits for others who write or read.
            read_patience: Seconds that a read waits for a writer.
        """
        self.root = root
        self.apps = tuple(packaged_apps() if apps is None else apps)
        self._patience = patience
        self._read_patience = read_patience

    @classmethod
    def open(
        cls,
        root: Path,
        apps: Sequence[AppSpec] | None = None,
        *,
        patience: float = WRITE_PATIENCE,
        read_patience: float = READ_PATIENCE,
    ) -> "Stores":
        """Existing stores, their schema brought up to date; arguments as for `Stores`.

        Raises:
            FileNotFoundError: `root` holds no stores.
            ValueError: The manifest is damaged.
            StoreUnavailable: The schema needs an update and others are writing.
        """
        stores = cls(root, apps, patience=patience, read_patience=read_patience)
        if not stores.exists():
            raise FileNotFoundError(f"no stores in {root}: run `ctrag import` first")
        if stores._outdated(stores._manifest()):
            with stores._lease():
                stores._migrate()
        return stores

    def exists(self) -> bool:
        """Whether the folder holds stores."""
        return (self.root / generations.MANIFEST).exists()

    @property
    def encoder(self) -> str | None:
        """Name of the encoder that made the vectors."""
        return self._manifest().encoder

    def people(self) -> list[str]:
        """Ids of all people."""
        return self._read(lambda folder: self._people_in(folder).ids()) if self.exists() else []

    def person(self, person_id: str) -> Person:
        """Profile and contacts.

        Raises:
            UnknownPerson: The stores hold nobody of that id.
        """
        if not self.exists():
            raise UnknownPerson(person_id, [])
        return self._read(lambda folder: self._people_in(folder).person(person_id))

    def items(self, person_id: str) -> PersonItems:
        """All items of one person; a store that does not answer is named, the others do.

        All come from one generation, even while an import swaps in the next.
        """

        def read(folder: Path) -> PersonItems:
            found: list[StoredItem] = []
            unavailable: dict[str, str] = {}
            for store in self._stores_in(folder):
                try:
                    found += store.items(person_id)
                except StoreUnavailable as error:
                    unavailable[store.app.name] = error.reason
            return PersonItems(found, unavailable)

        return self._read(read)

    def signature(self) -> tuple[object, ...]:
        """Changes whenever any store may have changed; costs a few file look-ups."""
        folder = self.root / self._manifest().generation
        return (folder.name, *(store.signature() for store in self._stores_in(folder)))

    def state(self, person_id: str, app: str, name: str) -> object:
        """A named value that an application keeps for the person (JSON), or None."""
        return self._read(lambda folder: self._store_in(folder, app).state(person_id, name))

    def outbox(self, person_id: str, app: str | None = None) -> list[tuple[str, OutboxRow]]:
        """(application, row) of everything that left the phone, oldest first.

        Args:
            person_id: Whose outbox.
            app: Only this application's; all when None.

        Raises:
            StoreUnavailable: A store does not answer.
        """
        rows = self._read(
            lambda folder: [
                (store.app.name, row)
                for store in self._stores_in(folder)
                if app in (None, store.app.name)
                for row in store.outbox(person_id)
            ]
        )
        return sorted(rows, key=lambda pair: pair[1].change_id)

    def apply(self, person_id: str, app: str, change: Change, at: datetime) -> ChangeRecord:
        """Carry out a change in one application's store, in one transaction.

        Raises:
            StoreUnavailable: The store is locked for too long, missing or damaged.
            UnknownPerson: The stores hold nobody of that id.
            ValueError: The change breaks a rule; nothing was changed.
        """
        with self._lease():
            manifest = self._manifest()
            folder = self.root / manifest.generation
            store = self._store_in(folder, app)
            self._people_in(folder).person(person_id)
            # Later than the import that it follows, even if the clock was set back.
            change_id = max(time.time_ns(), manifest.changed_at + 1)
            store.apply(person_id, change, change_id, at)
        return ChangeRecord(change_id, app, at, change.summary)

    def changes(self, person_id: str) -> list[ChangeRecord]:
        """The newest change of each application of one person, newest first.

        Raises:
            StoreUnavailable: A store does not answer.
        """
        found = self._read(
            lambda folder: [store.last_change(person_id) for store in self._stores_in(folder)]
        )
        return sorted(
            (record for record in found if record is not None), key=lambda one: -one.change_id
        )

    def undo(self, person_id: str) -> str:
        """Take back the person's last change, or the last import if that came later.

        Returns:
            What was taken back, in words.

        Raises:
            UnknownPerson: The stores hold nobody of that id.
            ValueError: There is nothing to take back, or others changed things since the import.
            StoreUnavailable: A store does not answer, so nobody knows which change was the last.
        """
        with self._lease():
            manifest = self._manifest()
            self.person(person_id)
            records = self.changes(person_id)
            # An import whose older generation is gone cannot be taken back: what is in the
            # journal was done before or after it, and can.
            if records and (
                records[0].change_id > manifest.changed_at or manifest.previous is None
            ):
                self._store(records[0].app).revert(person_id, records[0].change_id)
                return records[0].summary
            if manifest.previous is None:
                raise ValueError(f"undo: nothing to take back for {person_id!r}")
            for store in self._stores():
                other = store.changed_since(manifest.changed_at)
                if other is not None:
                    raise ValueError(
                        f"undo: {other!r} changed something after the import; undo that first"
                    )
            self._swap_back(manifest)
            return manifest.summary

    def import_personas(
        self, personas: Sequence[Persona], encode: Encode, encoder: str
    ) -> ImportReport:
        """Add people and items; items whose id exists are replaced, others stay.

        Vectors are made before anything is locked. A new generation of files is built beside
        the old one and swapped in by a rename; importing the same again changes nothing.

        Raises:
            ValueError: A person or one of their items appears twice, an item belongs to an
                application that these stores do not have, or the encoder is another one.
            OSError, StoreUnavailable: The disk is full or read-only, or a store is damaged;
                the stores are as before.
        """
        self._check(personas)
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        while True:
            seen = self._manifest() if self.exists() else None
            people, added, changed, unchanged = self._compare(personas, encoder)
            report = ImportReport(len(people), len(added), len(changed), unchanged)
            if not report.anything:
                return report
            fresh = [*added, *changed]
            vectors = encode(fresh) if fresh else np.empty((0, 0), np.float32)
            rows = [
                (person.person_id, StoredItem(item, vector))
                for (person, item), vector in zip(fresh, vectors, strict=True)
            ]
            with self._lease():
                if seen != (self._manifest() if self.exists() else None):
                    continue  # somebody else imported, forgot or took back: compare again
                summary = f"import of {len(people)} people and {len(fresh)} items"
                self._swap(summary, encoder, partial(self._load, people=people, rows=rows))
            return report

    def forget(self, person_id: str, item_id: str | None = None) -> int:
        """Erase one item, or everything of a person, from the current and all older files.

        An item that was deleted before is erased from the journal.

        Returns:
            How many items were erased.

        Raises:
            UnknownPerson: The stores hold nobody of that id.
            ValueError: The person has no item of that id.
            OSError, StoreUnavailable: A store is damaged or cannot be written: nothing was
                erased. Or older files could not be removed; the message names them.
        """
        erased = 0

        def erase(folder: Path) -> None:
            nonlocal erased
            # All files, not only those of this process's applications.
            for path in sorted(folder.glob("*.duckdb")):
                if path.name == _PEOPLE:
                    continue
                store = self._app_store(path, AppSpec(path.stem, ()))
                erased += store.forget(person_id, item_id)
                _compact(path)
            if item_id is None:
                people = self._people_in(folder)
                people.forget(person_id)
                _compact(people.path)
            elif not erased:
                raise ValueError(f"item: {person_id!r} has no item {item_id!r}")

        with self._lease():
            self.person(person_id)
            self._swap("forgetting", self.encoder, erase, keep_previous=False)
            left = generations.others(self.root, {self._manifest().generation})
        if left:
            raise OSError(f"forget: older files could not be removed: {left[0]}")
        return erased

    def _check(self, personas: Sequence[Persona]) -> None:
        people: set[str] = set()
        known = {app.name for app in self.apps}
        for persona in personas:
            person_id = persona.person.person_id
            if person_id in people:
                raise ValueError(f"persona_id: {person_id!r} appears twice")
            people.add(person_id)
            items: set[str] = set()
            for item in persona.items:
                if item.app not in known:
                    raise ValueError(f"app: {item.app!r} of item {item.id!r} is unknown")
                if item.id in items:
                    raise ValueError(f"id: item {item.id!r} of {person_id!r} appears twice")
                items.add(item.id)

    def _compare(
        self, personas: Iterable[Persona], encoder: str
    ) -> tuple[list[Person], list[tuple[Person, Item]], list[tuple[Person, Item]], int]:
        known = set(self.people())
        if known and self.encoder != encoder:
            raise ValueError(
                f"encoder: these stores hold vectors of {self.encoder}, not of {encoder}; "
                "import into a new folder"
            )
        personas = list(personas)
        ids = [
            persona.person.person_id for persona in personas if persona.person.person_id in known
        ]
        old_people = self._read(lambda folder: self._people_in(folder).people()) if known else {}
        old: dict[tuple[str, str], str] = {}
        here = set(self._manifest().apps) if self.exists() else set()
        for store in self._stores() if ids else ():
            if store.app.name in here:
                old |= store.content_hashes(ids)
        people = [
            one.person for one in personas if old_people.get(one.person.person_id) != one.person
        ]
        # A contact's relation is part of an item's wording: new contacts, new vectors.
        restated = {person.person_id for person in people}
        added: list[tuple[Person, Item]] = []
        changed: list[tuple[Person, Item]] = []
        unchanged = 0
        for persona in personas:
            person = persona.person
            for item in persona.items:
                digest = old.get((person.person_id, item.id))
                if digest is None:
                    added.append((person, item))
                elif digest != content_hash(item) or person.person_id in restated:
                    changed.append((person, item))
                else:
                    unchanged += 1
        return people, added, changed, unchanged

    def _load(
        self,
        folder: Path,
        people: Sequence[Person],
        rows: Sequence[tuple[str, StoredItem]],
    ) -> None:
        directory = self._people_in(folder)
        directory.create()
        if people:
            directory.put(people)
        # An item may have moved to another application: every store drops all that come.
        replaced = [(person_id, stored.item.id) for person_id, stored in rows]
        restated = [person.person_id for person in people]
        for store in self._stores_in(folder):
            new = not store.path.exists()
            if new or store.pending():
                store.create()
            mine = (row for row in rows if row[1].item.app == store.app.name)
            store.load(mine, () if new else replaced, () if new else restated)

    def _swap(
        self,
        summary: str,
        encoder: str | None,
        fill: Callable[[Path], None],
        *,
        keep_previous: bool = True,
    ) -> None:
        current = self._manifest() if self.exists() else None
        lost = self._lost(current)
        if lost and keep_previous:
            raise StoreUnavailable(lost[0], "missing")  # an import must not pass it off as empty
        with generations.building(self.root, current) as folder:
            fill(folder)
            previous = current.generation if current is not None and keep_previous else None
            manifest = Manifest(
                generation=folder.name,
                previous=previous,
                changed_at=max(time.time_ns(), current.changed_at + 1 if current else 0),
                summary=summary,
                encoder=encoder,
                apps=tuple(
                    sorted(
                        {*(path.stem for path in folder.glob("*.duckdb") if path.name != _PEOPLE)}
                        | set(lost)
                    )
                ),
                counter=generations.number_of(folder.name),
            )
            generations.write_manifest(self.root, manifest)
        generations.prune(self.root, {folder.name} | ({previous} if previous else set()))

    def _swap_back(self, manifest: Manifest) -> None:
        """Make the previous generation the current one again; the caller holds the lease."""
        old = self.root / str(manifest.previous) / generations.MANIFEST
        try:
            restored = Manifest.model_validate_json(old.read_bytes())
        except (OSError, ValueError):
            raise ValueError(
                f"undo: the files from before the {manifest.summary} are gone or damaged"
            ) from None
        restored = restored.model_copy(update={"previous": None, "counter": manifest.counter})
        generations.write_manifest(self.root, restored)
        generations.prune(self.root, {restored.generation})
        self._migrate()

    def _lost(self, manifest: Manifest | None) -> list[str]:
        if manifest is None:
            return []
        folder = self.root / manifest.generation
        return [app for app in manifest.apps if not (folder / f"{app}.duckdb").exists()]

    def _outdated(self, manifest: Manifest) -> list[AppStore]:
        """Stores that lack schema steps, or that no import knew of."""
        found = []
        for store in self._stores_in(self.root / manifest.generation):
            try:
                if store.app.name not in manifest.apps or store.pending():
                    found.append(store)
            except StoreUnavailable:
                continue  # named again by whatever reads it
        return found

    def _migrate(self) -> None:
        """Bring schemas up to date; the caller holds the lease."""
        manifest = self._manifest()
        stores = self._outdated(manifest)
        for store in stores:
            try:
                store.create()
            except StoreUnavailable:
                continue  # the other stores still answer, and this one says why it does not
        apps = tuple(
            sorted({*manifest.apps, *(one.app.name for one in stores if one.path.exists())})
        )
        if apps != manifest.apps:
            generations.write_manifest(self.root, manifest.model_copy(update={"apps": apps}))

    def _read(self, read: Callable[[Path], _Result]) -> _Result:
        """What `read` finds in the current generation's folder.

        A reader may be so slow that its generation is removed on the way: it starts again.
        """
        while True:
            folder = self.root / self._manifest().generation
            failure: StoreUnavailable | None = None
            try:
                result = read(folder)
            except StoreUnavailable as error:
                failure = error
            manifest = self._manifest()
            if folder.name in (manifest.generation, manifest.previous):
                if failure is not None:
                    raise failure
                return result

    def _lease(self) -> AbstractContextManager[None]:
        return generations.lease(self.root, self._patience)

    def _manifest(self) -> Manifest:
        return generations.read_manifest(self.root)

    def _people_in(self, folder: Path) -> PeopleStore:
        return PeopleStore(folder / _PEOPLE, self._patience, self._read_patience)

    def _stores(self) -> list[AppStore]:
        return self._stores_in(self.root / self._manifest().generation)

    def _stores_in(self, folder: Path) -> list[AppStore]:
        return [self._app_store(folder / f"{app.name}.duckdb", app) for app in self.apps]

    def _app_store(self, path: Path, app: AppSpec) -> AppStore:
        return AppStore(path, app, self._patience, self._read_patience)

    def _store(self, app: str) -> AppStore:
        return self._store_in(self.root / self._manifest().generation, app)

    def _store_in(self, folder: Path, app: str) -> AppStore:
        for store in self._stores_in(folder):
            if store.app.name == app:
                return store
        raise ValueError(f"app: {app!r} is unknown; known: {', '.join(a.name for a in self.apps)}")


def _compact(path: Path) -> None:
    """Rewrite a file so that it holds live rows only: deleted ones leave its free blocks."""
    fresh = path.with_name(path.name + ".compact")
    fresh.unlink(missing_ok=True)
    with writing(path, path.stem) as connection:
        connection.commit()
        quoted = str(fresh).replace("'", "''")
        connection.execute(f"ATTACH '{quoted}' AS compacted")
        name = connection.execute("SELECT current_database()").fetchone()
        assert name is not None
        connection.execute(f'COPY FROM DATABASE "{name[0]}" TO compacted')
        connection.execute("CHECKPOINT compacted")
        connection.execute("DETACH compacted")
        connection.begin()
    fresh.replace(path)


__all__ = ["Encode", "ImportReport", "PersonItems", "Stores", "UnknownPerson", "Vector"]
