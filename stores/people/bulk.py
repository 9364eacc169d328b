"""Changes that build a whole new generation of files: `swap`, and the import of many people.

Whoever calls `migrate` or `swap` holds the lease; `import_personas` takes it itself.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stores.database import ROWS_TOGETHER, StoreUnavailable, writing
from stores.errors import InputError
from stores.files import make_private_folder
from stores.people import changes_journal, generations
from stores.people.app_spec import write_apps
from stores.people.app_store import AppStore
from stores.people.changes import ImportMark
from stores.people.dataset import Persona
from stores.people.generations import Manifest
from stores.people.import_news import ImportReport, Merge, compare
from stores.people.item_rows import StoredItem
from stores.people.items import Item, Person
from stores.people.store_files import PEOPLE, StoreFiles

Matrix = NDArray[np.float32]
Encode = Callable[[Sequence[tuple[Person, Item]]], Matrix]
"""Returns one row of float32 for each person's item, in the same order."""


def import_personas(
    files: StoreFiles,
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
    """See `Stores.import_personas`."""
    _check(files, personas)
    make_private_folder(files.root)
    while True:
        seen = files.manifest() if files.exist() else None
        news = compare(files, personas, encoder, merge, gone)
        if not news.report().anything:
            _note(files, versions)
            return news.report()
        fresh = [*news.added, *news.changed, *news.restated]
        vectors = encode(fresh) if fresh else np.empty((0, 0), np.float32)
        rows = [
            (person.person_id, StoredItem(item, vector))
            for (person, item), vector in zip(fresh, vectors, strict=True)
        ]
        with files.lease():
            if seen != (files.manifest() if files.exist() else None):
                continue  # another process imported, forgot or undid something: compare again
            report = news.report() if continues is None else continues + news.report()
            summary = _summary(report)
            mark = changes_journal.new_mark(files, summary) if undoable else None
            if mark is not None and continues is not None and continues.mark is not None:
                mark = replace(continues.mark, summary=summary)
            load = partial(
                _load,
                files,
                people=news.people,
                rows=rows,
                mark=mark,
                gone=news.removed,
                versions=versions,
            )
            # Before the swap: files of an application that nobody declares would be orphaned.
            write_apps(files.root, files.apps)
            generation = None if continues is None else continues.generation
            if seen is not None and seen.generation == generation:
                _extend(files, seen, summary, load)
            else:
                swap(files, summary, encoder, load)
            return replace(news.report(), generation=files.manifest().generation, mark=mark)


def _note(files: StoreFiles, versions: Mapping[str, Mapping[str, Any]]) -> None:
    """Note versions of what is stored already, or is not to be."""
    if not any(versions.values()):
        return
    with files.lease():
        directory = files.people_in(files.current())
        directory.create()
        for person_id, noted in versions.items():
            directory.set_versions(person_id, noted)


def _summary(report: ImportReport) -> str:
    return f"import of {report.people} people and {report.added + report.changed} items"


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


def _load(
    files: StoreFiles,
    folder: Path,
    people: Sequence[Person],
    rows: Sequence[tuple[str, StoredItem]],
    mark: ImportMark | None = None,
    gone: Sequence[tuple[str, str]] = (),
    versions: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> None:
    directory = files.people_in(folder)
    directory.create()
    named = {person.person_id for person in people}
    others = {person_id for person_id, _ in (*rows, *gone)} - named
    oldest = directory.put(people, mark, sorted(others))
    for person_id, noted in versions.items():
        if noted:
            directory.set_versions(person_id, noted, mark)
    # An item may have moved to another application: every store drops all imported ids.
    replaced = [*((person_id, stored.item.id) for person_id, stored in rows), *gone]
    broken = files.unavailable(files.manifest()) if files.exist() else {}
    for store in files.stores_in(folder):
        if store.app.name in broken:
            continue
        new = not store.path.exists()
        if new or store.pending():
            store.create()
        mine = (row for row in rows if row[1].item.app == store.app.name)
        store.load(mine, () if new else replaced, (), mark, oldest)


def _extend(
    files: StoreFiles, manifest: Manifest, summary: str, fill: Callable[[Path], None]
) -> None:
    """Add a further batch to the generation that the import's first batch made.

    Each store is changed in a transaction of its own; all batches are one import in the journals.
    """
    folder = files.root / manifest.generation
    fill(folder)
    for path in folder.iterdir():
        path.chmod(0o600)  # DuckDB creates files as the umask has it
    apps = {path.stem for path in folder.glob("*.duckdb") if path.name != PEOPLE}
    update = {"summary": summary, "apps": tuple(sorted({*manifest.apps, *apps}))}
    generations.write_manifest(files.root, manifest.model_copy(update=update))


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
        connection.execute(f"ATTACH '{quoted}' AS compacted (ROW_GROUP_SIZE {ROWS_TOGETHER})")
        connection.execute("COPY FROM DATABASE store TO compacted")
        connection.execute("CHECKPOINT compacted")
        connection.execute("DETACH compacted")
        connection.begin()
    fresh.replace(path)
