"""Changes that build a whole new generation of files: `swap`, and the import of many people.

Whoever calls `migrate` or `swap` holds the lease; `import_personas` takes it itself.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stores.database import StoreUnavailable, writing
from stores.errors import InputError
from stores.files import make_private_folder
from stores.people import changes_journal, generations
from stores.people.app_spec import write_apps
from stores.people.app_store import AppStore
from stores.people.changes import ImportMark
from stores.people.dataset import Persona
from stores.people.generations import Manifest
from stores.people.item_rows import StoredItem, content_hash
from stores.people.items import Item, Person
from stores.people.store_files import PEOPLE, StoreFiles

Matrix = NDArray[np.float32]
Encode = Callable[[Sequence[tuple[Person, Item]]], Matrix]
"""Returns one row of float32 for each person's item, in the same order."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import changed."""

    people: int
    added: int
    changed: int
    unchanged: int
    unavailable: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Application whose store is missing or damaged → why, and how many items were left out."""

    @property
    def anything(self) -> bool:
        """Whether a new generation was made."""
        return bool(self.people or self.added or self.changed)


@dataclass(frozen=True, slots=True)
class _News:
    """The part of an import that differs from the stores."""

    people: list[Person]
    added: list[tuple[Person, Item]]
    changed: list[tuple[Person, Item]]
    unchanged: int
    unavailable: Mapping[str, tuple[str, int]]

    @property
    def report(self) -> ImportReport:
        return ImportReport(
            len(self.people),
            len(self.added),
            len(self.changed),
            self.unchanged,
            self.unavailable,
        )


def import_personas(
    files: StoreFiles,
    personas: Sequence[Persona],
    encode: Encode,
    encoder: str,
    *,
    undoable: bool = True,
) -> ImportReport:
    """See `Stores.import_personas`."""
    _check(files, personas)
    make_private_folder(files.root)
    while True:
        seen = files.manifest() if files.exist() else None
        news = _compare(files, personas, encoder)
        if not news.report.anything:
            return news.report
        fresh = [*news.added, *news.changed]
        vectors = encode(fresh) if fresh else np.empty((0, 0), np.float32)
        rows = [
            (person.person_id, StoredItem(item, vector))
            for (person, item), vector in zip(fresh, vectors, strict=True)
        ]
        with files.lease():
            if seen != (files.manifest() if files.exist() else None):
                continue  # another process imported, forgot or undid something: compare again
            summary = f"import of {len(news.people)} people and {len(fresh)} items"
            mark = changes_journal.new_mark(files, summary) if undoable else None
            load = partial(_load, files, people=news.people, rows=rows, mark=mark)
            # Before the swap: files of an application that nobody declares would be orphaned.
            write_apps(files.root, files.apps)
            swap(files, summary, encoder, load)
        return news.report


def outdated(files: StoreFiles, manifest: Manifest) -> list[AppStore]:
    """Stores with pending schema steps, or that are not in the manifest."""
    found = []
    for store in files.stores_in(files.root / manifest.generation):
        try:
            if store.app.name not in manifest.apps or store.pending():
                found.append(store)
        except StoreUnavailable:
            continue  # reported by reads
    return found


def migrate(files: StoreFiles) -> None:
    """Migrate schemas."""
    manifest = files.manifest()
    stores = outdated(files, manifest)
    for store in stores:
        try:
            store.create()
        except StoreUnavailable:
            continue  # the other stores still work, and reads of this one report the reason
    apps = tuple(sorted({*manifest.apps, *(one.app.name for one in stores if one.path.exists())}))
    if apps != manifest.apps:
        generations.write_manifest(files.root, manifest.model_copy(update={"apps": apps}))


def _check(files: StoreFiles, personas: Sequence[Persona]) -> None:
    people: set[str] = set()
    known = {app.name for app in files.apps}
    for persona in personas:
        person_id = persona.person.person_id
        if person_id in people:
            raise InputError(f"persona_id: {person_id!r} appears twice")
        people.add(person_id)
        items: set[str] = set()
        for item in persona.items:
            if item.app not in known:
                raise InputError(f"app: {item.app!r} of item {item.id!r} is unknown")
            if item.id in items:
                raise InputError(f"id: item {item.id!r} of {person_id!r} appears twice")
            items.add(item.id)


def _compare(files: StoreFiles, personas: Iterable[Persona], encoder: str) -> _News:
    manifest = files.manifest() if files.exist() else None
    old_people = (
        {} if manifest is None else files.read(lambda folder: files.people_in(folder).people())
    )
    if manifest is not None and old_people and manifest.encoder != encoder:
        raise InputError(
            f"encoder: these stores hold vectors of {manifest.encoder}, not of {encoder}; "
            "import into a new folder"
        )
    personas = list(personas)
    ids = [one.person.person_id for one in personas if one.person.person_id in old_people]
    old: dict[tuple[str, str], str] = {}
    here = set() if manifest is None else set(manifest.apps)
    broken = {} if manifest is None else files.unavailable(manifest)
    for store in files.stores() if ids else ():
        if store.app.name in here - broken.keys():
            old |= store.content_hashes(ids)
    people = [one.person for one in personas if old_people.get(one.person.person_id) != one.person]
    # A contact's relation is part of an item's text: new contacts, new vectors.
    restated = {person.person_id for person in people}
    added: list[tuple[Person, Item]] = []
    changed: list[tuple[Person, Item]] = []
    unchanged = 0
    left_out = dict.fromkeys(broken, 0)
    for persona in personas:
        person = persona.person
        for item in persona.items:
            if item.app in broken:  # a store that cannot be read must not be taken for empty
                left_out[item.app] += 1
                continue
            digest = old.get((person.person_id, item.id))
            if digest is None:
                added.append((person, item))
            elif digest != content_hash(item) or person.person_id in restated:
                changed.append((person, item))
            else:
                unchanged += 1
    unavailable = {app: (reason, left_out[app]) for app, reason in broken.items() if left_out[app]}
    return _News(people, added, changed, unchanged, unavailable)


def _load(
    files: StoreFiles,
    folder: Path,
    people: Sequence[Person],
    rows: Sequence[tuple[str, StoredItem]],
    mark: ImportMark | None = None,
) -> None:
    directory = files.people_in(folder)
    directory.create()
    named = {person.person_id for person in people}
    oldest = directory.put(people, mark, sorted({person_id for person_id, _ in rows} - named))
    # An item may have moved to another application: every store drops all imported ids.
    replaced = [(person_id, stored.item.id) for person_id, stored in rows]
    restated = [person.person_id for person in people]
    broken = files.unavailable(files.manifest()) if files.exist() else {}
    for store in files.stores_in(folder):
        if store.app.name in broken:
            continue
        new = not store.path.exists()
        if new or store.pending():
            store.create()
        mine = (row for row in rows if row[1].item.app == store.app.name)
        store.load(mine, () if new else replaced, () if new else restated, mark, oldest)


def swap(
    files: StoreFiles,
    summary: str,
    encoder: str | None,
    fill: Callable[[Path], None],
    *,
    keep_previous: bool = True,
) -> None:
    """Build the next generation from a copy of this one that `fill` changes; make it current."""
    current = files.manifest() if files.exist() else None
    lost = _lost(files, current)
    with generations.building(files.root, current) as folder:
        fill(folder)
        for path in folder.iterdir():
            path.chmod(0o600)  # DuckDB creates files as the umask has it
        previous = current.generation if current is not None and keep_previous else None
        apps = {path.stem for path in folder.glob("*.duckdb") if path.name != PEOPLE}
        manifest = Manifest(
            generation=folder.name,
            previous=previous,
            changed_at=max(time.time_ns(), current.changed_at + 1 if current else 0),
            summary=summary,
            encoder=encoder,
            apps=tuple(sorted(apps | set(lost))),
            counter=generations.number_of(folder.name),
        )
        generations.write_manifest(files.root, manifest)
    generations.prune(files.root, {folder.name} | ({previous} if previous else set()))


def _lost(files: StoreFiles, manifest: Manifest | None) -> list[str]:
    if manifest is None:
        return []
    folder = files.root / manifest.generation
    return [app for app in manifest.apps if not (folder / f"{app}.duckdb").exists()]


def compact(path: Path) -> None:
    """Rewrite a file with its live rows only, without the free blocks of deleted ones."""
    fresh = path.with_name(path.name + ".compact")
    fresh.unlink(missing_ok=True)
    with writing(path, path.stem) as connection:
        connection.commit()
        quoted = str(fresh).replace("'", "''")
        connection.execute(f"ATTACH '{quoted}' AS compacted")
        connection.execute("COPY FROM DATABASE store TO compacted")
        connection.execute("CHECKPOINT compacted")
        connection.execute("DETACH compacted")
        connection.begin()
    fresh.replace(path)
