"""What a source elsewhere brought: noted beside the people, and removed when it vanished there."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from stores.people import bulk, changes_journal
from stores.people.import_news import ImportReport
from stores.people.items import Person
from stores.people.store_files import StoreFiles


def remove(
    files: StoreFiles, person: Person, items: Collection[str], name: str, content: Any
) -> ImportReport:
    """Remove items of a person, and make them `person`, in a new generation.

    Args:
        files: The stores.
        person: As they shall be, without the contacts that are gone.
        items: Ids of items that are gone; those of damaged stores stay.
        name: The source's name.
        content: What is known of it from now on, JSON.

    Returns:
        The mark and the generation, for the import that goes on from here.
    """
    with files.lease():
        manifest = files.manifest()
        mark = changes_journal.new_mark(files, f"synchronization with {name}")
        gone = [(person.person_id, one) for one in items]
        broken = files.unavailable(manifest)

        def fill(folder: Path) -> None:
            people = files.people_in(folder)
            people.create()
            changed = people.person(person.person_id) != person
            people.put([person] if changed else [], mark, [person.person_id])
            people.set_source(person.person_id, name, content, mark)
            for store in files.stores_in(folder):
                if store.app.name not in broken and store.path.exists():
                    store.load([], gone, mark=mark)

        bulk.swap(files, mark.summary, manifest.encoder, fill)
        return ImportReport(0, 0, 0, 0, generation=files.manifest().generation, mark=mark)


def note(files: StoreFiles, person_id: str, name: str, content: Any, done: ImportReport) -> None:
    """Note what is known of a source after an import from it; undone with the import."""
    with files.lease():
        people = files.people_in(files.current())
        people.create()
        mark = done.mark and replace(done.mark, summary=f"synchronization with {name}")
        people.set_source(person_id, name, content, mark)
