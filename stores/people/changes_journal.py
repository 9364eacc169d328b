"""The person's last change, whichever stores it is in, and taking it back.

Every change has an id that grows over all stores, whatever the clock does. A call changes one
store, an import several: its lines share one id, and are taken back together, in a new generation
of files.
"""

import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from stores.database import StoreUnavailable
from stores.errors import InputError
from stores.people import bulk
from stores.people.app_store import AppStore
from stores.people.changes import ChangeRecord, ImportMark, Undone
from stores.people.people_store import PeopleStore
from stores.people.store_files import StoreFiles


def next_change_id(files: StoreFiles) -> int:
    """Higher than the id of any change so far, even if the clock was set back.

    The caller holds the lease. Stores that cannot be read are passed over.
    """
    manifest = files.manifest()
    folder = files.root / manifest.generation
    highest = manifest.changed_at
    stores: list[PeopleStore | AppStore] = [files.people_in(folder), *files.stores_in(folder)]
    for store in stores:
        try:
            highest = max(highest, store.newest_change())
        except StoreUnavailable:
            continue
    return max(time.time_ns(), highest + 1)


def new_mark(files: StoreFiles, summary: str, *, continues: bool = False) -> ImportMark:
    """The mark of an import that begins now.

    Args:
        files: The stores; the caller holds the lease.
        summary: What undo says of it.
        continues: Whether this is a further batch of the last import: then the mark is that one's,
            so that undo takes back all batches.
    """
    last = files.people_in(files.current()).newest_import() if continues else None
    if last is not None:
        return replace(last, summary=summary)
    change_id = next_change_id(files) if files.exist() else time.time_ns()
    return ImportMark(change_id, datetime.now().replace(microsecond=0), summary)


def undo(files: StoreFiles, person_id: str) -> Undone:
    """See `Stores.undo`."""
    with files.lease():
        manifest = files.manifest()
        folder = files.root / manifest.generation
        people = files.people_in(folder)
        people.person(person_id)
        stores = [
            (record, store)
            for store in files.stores_in(folder)
            for record in [store.last_change(person_id)]
            if record is not None
        ]
        records: list[ChangeRecord] = [record for record, _ in stores]
        imported = people.last_change(person_id)
        records += [imported] if imported is not None else []
        if not records:
            raise InputError(f"undo: nothing to take back for {person_id!r}")
        last = max(records, key=lambda one: one.change_id)
        changed = [store for record, store in stores if record.change_id == last.change_id]
        if imported is None or imported.change_id != last.change_id:
            sent = []
            for store in changed:
                sent += [r.entry for r in store.outbox(person_id) if r.change_id == last.change_id]
                store.revert(person_id, last.change_id)
            return Undone(last.summary, tuple(sent))
        names = {store.app.name for store in changed}

        def revert(fresh: Path) -> None:
            directory = files.people_in(fresh)
            directory.create()
            restated = directory.revert(person_id, last.change_id)
            bulk.compact(directory.path)
            broken = files.unavailable(manifest)
            for store in files.stores_in(fresh):
                if store.app.name in broken or not store.path.exists():
                    continue
                if store.app.name in names:
                    store.revert(person_id, last.change_id)
                if restated:
                    store.restate(person_id)
                if restated or store.app.name in names:
                    bulk.compact(store.path)

        # The older generation would keep what is taken back.
        bulk.swap(files, "undo", manifest.encoder, revert, keep_previous=False)
        return Undone(imported.summary)
