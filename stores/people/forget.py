"""Erasing a person, one item or one contact from every file of the stores.

The stores are rebuilt without what is erased, and older files are removed. Killed half way, the old
files are still the current ones, or the old ones are left over; forgetting again finishes it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from stores.database import StoreUnavailable
from stores.errors import InputError
from stores.people import bulk, generations
from stores.people.app_spec import AppSpec
from stores.people.app_store import AppStore
from stores.people.items import Contact
from stores.people.people_store import UnknownPerson
from stores.people.store_files import PEOPLE, StoreFiles


@dataclass(slots=True)
class Forgotten:
    """What was erased."""

    items: int = 0
    contacts: int = 0
    profile: bool = False
    damaged: dict[str, str] = field(default_factory=dict)
    """Stores that could not be read, hence may still hold something → why."""
    leftovers: int = 0
    """Folders of older or half-built files that were removed though the person was gone."""

    def __str__(self) -> str:
        if self.leftovers and not (self.items or self.contacts or self.profile):
            return "what an interrupted forgetting had left over is erased"
        parts = [] if self.profile is False and self.contacts else [_count(self.items, "item")]
        parts += ["the profile"] if self.profile else []
        if self.profile or self.contacts:
            parts.append(_count(self.contacts, "contact"))
        *first, last = parts
        return f"{', '.join(first)} and {last} erased" if first else f"{last} erased"


def forget(files: StoreFiles, person_id: str, item_id: str | None = None) -> Forgotten:
    """See `Stores.forget`."""
    found = Forgotten()

    def erase(folder: Path) -> None:
        # All files, not only those of this process's applications.
        for path in sorted(folder.glob("*.duckdb")):
            if path.name == PEOPLE:
                continue
            store = files.store_at(path, AppSpec(path.stem, ()))

            def erase_items(store: AppStore = store) -> None:
                found.items += store.forget(person_id, item_id)
                bulk.compact(store.path)

            _or_name(found, path.stem, erase_items)
        people = files.people_in(folder)
        if item_id is not None:

            def erase_version() -> None:
                if people.forget_version(person_id, item_id):
                    bulk.compact(people.path)

            _or_name(found, "people", erase_version)
        if item_id is None:

            def erase_person() -> None:
                found.profile = person_id in people.ids()
                if found.profile:
                    found.contacts = len(people.person(person_id).contacts)
                people.forget(person_id)
                bulk.compact(people.path)

            _or_name(found, "people", erase_person)
        elif not found.items and not found.damaged:
            raise InputError(f"item: {person_id!r} has no item {item_id!r}")

    with files.lease():
        if not _known(files, person_id):
            found.leftovers = _remove_leftovers(files)
            if not found.leftovers:
                raise UnknownPerson(person_id, files.read(lambda one: files.people_in(one).ids()))
            return found
        _rebuild(files, erase)
    # Several stores may have had data of one item.
    found.items = found.items if item_id is None else min(found.items, 1)
    return found


def forget_contact(files: StoreFiles, person_id: str, which: str) -> Forgotten:
    """See `Stores.forget_contact`."""
    found = Forgotten()

    def erase(folder: Path) -> None:
        people = files.people_in(folder)
        people.create()
        gone = chosen_contacts(people.person(person_id).contacts, which, person_id)
        found.contacts = people.forget_contacts(person_id, gone.__contains__)
        bulk.compact(people.path)
        related = any(one.relation for one in gone)
        for store in files.stores_in(folder) if related else ():  # it is part of items' text

            def restate(store: AppStore = store) -> None:
                store.restate(person_id)
                bulk.compact(store.path)

            if store.path.exists():
                _or_name(found, store.app.name, restate)
        found.damaged.clear()  # they hold items, not contacts

    with files.lease():
        people = files.people_in(files.current())
        chosen_contacts(people.person(person_id).contacts, which, person_id)
        _rebuild(files, erase)
    return found


def chosen_contacts(contacts: tuple[Contact, ...], which: str, person_id: str) -> list[Contact]:
    """The contact of that name, number or mail address; all equal ones.

    Raises:
        ValueError: There is none, or several that differ.
    """
    wanted = which.strip().casefold()
    found = [one for one in contacts if one.name.casefold() == wanted]
    if not found:
        found = [one for one in contacts if wanted in {text.casefold() for text in _texts(one)}]
    if not found:
        raise InputError(f"contact: {person_id!r} has no contact {which!r}")
    if any(one != found[0] for one in found):
        ways = "; ".join(one.phone or one.email or "without number or address" for one in found)
        raise InputError(
            f"contact: {which!r} is the name of {len(found)} contacts; "
            f"give the number or address of one: {ways}"
        )
    return found


def _texts(contact: Contact) -> set[str]:
    found: set[str] = set()
    for name in contact.__dataclass_fields__:
        value = getattr(contact, name)
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, tuple):
            found |= {str(one) for one in value}
    return found - {""}


def _known(files: StoreFiles, person_id: str) -> bool:
    """Whether the person may have data here; where the people cannot be read, they may."""
    if not files.exist():
        raise UnknownPerson(person_id, [])
    try:
        return files.read(lambda folder: person_id in files.people_in(folder).ids())
    except StoreUnavailable as error:
        if error.reason.startswith("locked"):
            raise
        return True


def _rebuild(files: StoreFiles, erase: Callable[[Path], None]) -> None:
    manifest = files.manifest()
    bulk.swap(files, "forgetting", manifest.encoder, erase, keep_previous=False)
    _remove_leftovers(files)
    left = generations.others(files.root, {files.manifest().generation})
    if left:
        raise OSError(f"forget: older files could not be removed: {left[0]}")


def _remove_leftovers(files: StoreFiles) -> int:
    """Remove generations that nothing refers to, and temporary files; how many there were."""
    manifest = files.manifest()
    keep = {manifest.generation} | ({manifest.previous} if manifest.previous else set())
    others = generations.others(files.root, keep)
    generations.prune(files.root, keep)
    stray = [path for path in files.root.rglob("*") if path.suffix in (".tmp", ".fresh")]
    stray += list(files.root.rglob("*.compact*"))
    for path in stray:
        path.unlink(missing_ok=True)
    return len(others) + len(stray)


def _or_name(found: Forgotten, name: str, erase: Callable[[], None]) -> None:
    """Erase in one store; a damaged one is named and keeps nobody from being forgotten."""
    try:
        erase()
    except StoreUnavailable as error:
        if not error.reason.startswith(("damaged", "missing", "not writable (Invalid")):
            raise
        found.damaged[name] = error.reason


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
