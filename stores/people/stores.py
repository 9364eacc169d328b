"""The stores of all applications together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stores.database import READ_TIMEOUT, WRITE_TIMEOUT, StoreUnavailable
from stores.errors import NotFound
from stores.people import bulk, changes_journal, forget, import_news
from stores.people.app_spec import AppSpec, apps_of
from stores.people.bulk import Encode, Matrix
from stores.people.changes import Change, ChangeRecord, OutboxRow, TouchedItem, Undone
from stores.people.dataset import Persona
from stores.people.forget import Forgotten
from stores.people.import_news import Counts, ImportReport, Merge
from stores.people.item_rows import StoredItem, Vector
from stores.people.items import Person
from stores.people.learned import forget_learned
from stores.people.people_store import UnknownPerson
from stores.people.store_files import StoreFiles

__all__ = [
    "Counts",
    "Encode",
    "ImportReport",
    "Matrix",
    "Merge",
    "PersonItems",
    "Stores",
    "UnknownPerson",
    "Vector",
]


@dataclass(frozen=True, slots=True)
class PersonItems:
    """The items of one person, and the stores that could not be read."""

    items: list[StoredItem]
    """Grouped by application in the order of the specs; inside one, in stored order."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Application → reason."""


class Stores:
    """One DuckDB file per application and one for the people, under one folder.

    All methods that read or write items name the person whose items they are.
    """

    def __init__(
        self,
        root: Path,
        apps: Sequence[AppSpec] | None = None,
        *,
        timeout: float = WRITE_TIMEOUT,
        read_timeout: float = READ_TIMEOUT,
    ) -> None:
        """Stores under `root`, which need not exist yet.

        Args:
            root: The folder.
            apps: Applications; when None, the packaged seven and those that the folder's
                `apps.yaml` declares.
            timeout: Seconds that a write waits for others who write or read.
            read_timeout: Seconds that a read waits for a writer.
        """
        self.root = root
        self.apps = tuple(apps_of(root) if apps is None else apps)
        self._files = StoreFiles(root, self.apps, timeout, read_timeout)

    @classmethod
    def open(
        cls,
        root: Path,
        apps: Sequence[AppSpec] | None = None,
        *,
        timeout: float = WRITE_TIMEOUT,
        read_timeout: float = READ_TIMEOUT,
    ) -> "Stores":
        """Existing stores, their schema brought up to date; arguments as for `Stores`.

        Raises:
            FileNotFoundError: `root` holds no stores.
            ValueError: The manifest is damaged.
            StoreUnavailable: The schema needs an update and others are writing.
        """
        stores = cls(root, apps, timeout=timeout, read_timeout=read_timeout)
        if not stores.exists():
            raise NotFound(f"no stores in {root}: run `ctrag import` first")
        files = stores._files
        if bulk.outdated(files, files.manifest()):
            with files.lease():
                bulk.migrate(files)
        return stores

    def exists(self) -> bool:
        """Whether the folder holds stores."""
        return self._files.exist()

    @property
    def files(self) -> StoreFiles:
        """The files, for `stores.people.doctor`."""
        return self._files

    @property
    def encoder(self) -> str | None:
        """Name of the encoder that made the vectors."""
        return self._files.manifest().encoder

    def people(self) -> list[str]:
        """Ids of all people."""
        files = self._files
        return files.read(lambda folder: files.people_in(folder).ids()) if self.exists() else []

    def person(self, person_id: str) -> Person:
        """Profile and contacts.

        Raises:
            UnknownPerson: The stores have no person of that id.
        """
        if not self.exists():
            raise UnknownPerson(person_id, [])
        files = self._files
        return files.read(lambda folder: files.people_in(folder).person(person_id))

    def items(self, person_id: str) -> PersonItems:
        """All items of one person; stores that cannot be read are reported, the others still used.

        All come from one generation, even while an import swaps in the next.
        """
        return self._files.read(lambda folder: self._items_in(folder, person_id))

    def person_and_items(self, person_id: str) -> tuple[Person, PersonItems]:
        """`person` and `items` from one generation: an import between them changes neither.

        Raises:
            UnknownPerson: The stores have no person of that id.
        """
        if not self.exists():
            raise UnknownPerson(person_id, [])
        return self._files.read(
            lambda folder: (
                self._files.people_in(folder).person(person_id),
                self._items_in(folder, person_id),
            )
        )

    def signature(self) -> tuple[object, ...]:
        """Changes whenever any store may have changed; costs a few file look-ups."""
        folder = self._files.current()
        return (folder.name, *(store.signature() for store in self._files.stores_in(folder)))

    def state(self, person_id: str, app: str, name: str) -> object:
        """A named value that an application keeps for the person (JSON), or None."""
        files = self._files
        return files.read(lambda folder: files.store_in(folder, app).state(person_id, name))

    def outbox(self, person_id: str, app: str | None = None) -> list[tuple[str, OutboxRow]]:
        """(application, row) of everything that left the phone, oldest first.

        Args:
            person_id: Whose outbox.
            app: Only this application's; all when None.

        Raises:
            StoreUnavailable: A store cannot be read.
        """
        rows = self._files.read(
            lambda folder: [
                (store.app.name, row)
                for store in self._files.stores_in(folder)
                if app in (None, store.app.name)
                for row in store.outbox(person_id)
            ]
        )
        return sorted(rows, key=lambda pair: pair[1].change_id)

    def sources(self, person_id: str) -> dict[str, Any]:
        """Name → what is known of each source elsewhere that the person's items come from, JSON."""
        files = self._files
        return files.read(lambda folder: files.people_in(folder).sources(person_id))

    def versions(self, person_id: str) -> dict[str, Any]:
        """Item id → what is known of the version of it that is stored or gone, JSON."""
        files = self._files
        return files.read(lambda folder: files.people_in(folder).versions(person_id))

    def apply(self, person_id: str, app: str, change: Change, at: datetime) -> ChangeRecord:
        """Carry out a change in one application's store, in one transaction.

        Raises:
            StoreUnavailable: The store is locked for too long, missing or damaged.
            UnknownPerson: The stores have no person of that id.
            ValueError: The change breaks a rule; nothing was changed.
        """
        with self._files.lease():
            manifest = self._files.manifest()
            folder = self.root / manifest.generation
            store = self._files.store_in(folder, app)
            self._files.people_in(folder).person(person_id)
            change_id = changes_journal.next_change_id(self._files)
            store.apply(person_id, change, change_id, at)
        return ChangeRecord(change_id, app, at, change.summary)

    def changes(self, person_id: str) -> list[ChangeRecord]:
        """The newest change by a call in each application of one person, newest first.

        Raises:
            StoreUnavailable: A store cannot be read.
        """
        files = self._files
        found = files.read(
            lambda folder: [
                store.last_change(person_id, imports=False) for store in files.stores_in(folder)
            ]
        )
        return sorted(
            (record for record in found if record is not None), key=lambda one: -one.change_id
        )

    def touched(self, person_id: str) -> list[TouchedItem]:
        """The person's items that calls made, changed or removed, each with its newest call.

        Stores that cannot be read are passed over; `items` names them.
        """
        return self._files.read(lambda folder: self._touched_in(folder, person_id))

    def undo(self, person_id: str) -> Undone:
        """Undo the person's own last change or import, whatever others did since.

        Returns:
            What was undone, in words, and what had left the phone with it.

        Raises:
            UnknownPerson: The stores have no person of that id.
            ValueError: There is nothing of theirs to undo.
            StoreUnavailable: A store cannot be read, so the last change is unknown.
        """
        return changes_journal.undo(self._files, person_id)

    def import_personas(
        self,
        personas: Sequence[Persona],
        encode: Encode,
        encoder: str,
        merge: Merge | None = None,
        continues: ImportReport | None = None,
        *,
        undoable: bool = True,
        gone: Mapping[str, Collection[str]] = MappingProxyType({}),
        versions: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    ) -> ImportReport:
        """Add people and items; items whose id exists are replaced, others stay.

        Vectors are computed before anything is locked. A new generation of files is built next to
        the old one and swapped in by a rename: readers continue, and see either the old or the
        new. Importing the same again changes nothing. Each person can undo their own part, unless
        `undoable` is false: then it is not in the journal.

        Args:
            personas: The people and their items.
            encode: Makes the vectors of items that are new.
            encoder: Name of the encoder.
            merge: What becomes of a person who is stored already; replaced by the new one when
                None.
            continues: The earlier batches of the same import, with the generation that the first
                made: this one is added to it, and an undo takes all of them back.
            undoable: Whether it is in the journal.
            gone: Of people among `personas`, ids of items to remove, where they are stored.
            versions: Of the same, item id → what is known of its version from now on.

        Raises:
            ValueError: A person or one of their items appears twice, an item belongs to an
                application that these stores do not have, or the encoder is another one.
            OSError, StoreUnavailable: The disk is full or read-only, or the people cannot be read;
                the stores are as before. Items of a damaged application are left out, and counted.
        """
        return bulk.import_personas(
            self._files,
            personas,
            encode,
            encoder,
            merge,
            continues,
            undoable=undoable,
            gone=gone,
            versions=versions,
        )

    def compare(
        self,
        personas: Sequence[Persona],
        encoder: str,
        merge: Merge | None = None,
        gone: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> ImportReport:
        """What `import_personas` would change; nothing is."""
        return import_news.compare(self._files, personas, encoder, merge, gone).report()

    def forget(self, person_id: str, item_id: str | None = None) -> Forgotten:
        """Erase one item, or everything of a person, from the current and all older files.

        An item that was deleted before is erased from the journal. The person's
        journal of its application is erased with it: earlier changes there can no longer be undone.
        Damaged stores keep what they hold, and are named. Where the person is unknown, what an
        interrupted forgetting left over is removed.

        Raises:
            UnknownPerson: The stores have no person of that id, and nothing was left over.
            ValueError: The person has no item of that id.
            OSError, StoreUnavailable: A store is locked or cannot be written: nothing was
                erased. Or older files could not be removed; the message names them.
        """
        found = forget.forget(self._files, person_id, item_id)
        forget_learned(self.root, person_id)  # what was corrected may name the item
        return found

    def forget_contact(self, person_id: str, which: str) -> Forgotten:
        """Erase one contact from the current and all older files.

        Args:
            person_id: Whose.
            which: The contact's name, or a number or mail address where several have the name.

        Raises:
            UnknownPerson: The stores have no person of that id.
            ValueError: There is no such contact, or there are several.
        """
        found = forget.forget_contact(self._files, person_id, which)
        forget_learned(self.root, person_id)  # what was taught may name them
        return found

    def _touched_in(self, folder: Path, person_id: str) -> list[TouchedItem]:
        found: list[TouchedItem] = []
        for store in self._files.stores_in(folder):
            try:
                found += store.touched(person_id)
            except StoreUnavailable:
                continue
        return sorted(found, key=lambda one: one.record.change_id)

    def _items_in(self, folder: Path, person_id: str) -> PersonItems:
        found: list[StoredItem] = []
        unavailable: dict[str, str] = {}
        for store in self._files.stores_in(folder):
            try:
                found += store.items(person_id)
            except StoreUnavailable as error:
                unavailable[store.app.name] = error.reason
        return PersonItems(found, unavailable)
