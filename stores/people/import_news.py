"""What of an import is new: people, items and contacts beside those that are stored."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from stores.errors import InputError
from stores.people.app_spec import AppSpec
from stores.people.changes import ImportMark
from stores.people.dataset import Persona
from stores.people.item_rows import content_hash
from stores.people.items import Item, Person
from stores.people.store_files import StoreFiles

Merge = Callable[[Person, Person], Person]
"""From a stored person and the imported one, the person to store."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of imported things of one kind."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.added + other.added,
            self.changed + other.changed,
            self.unchanged + other.unchanged,
        )


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import changed."""

    people: int
    added: int
    changed: int
    unchanged: int
    apps: Mapping[str, Counts] = field(default_factory=dict)
    """Application → what became of its items; the figures above are their sums."""
    contacts: Counts = Counts()
    generation: str | None = None
    """The generation that holds it, None where nothing was new."""
    unavailable: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Application whose store is missing or damaged → why, and how many items were left out."""
    mark: ImportMark | None = None
    """The import in the journals, which all its batches share."""
    removed: int = 0
    """Items that are gone."""

    def __add__(self, other: "ImportReport") -> "ImportReport":
        """Both batches of one import together."""
        apps = sorted({*self.apps, *other.apps})
        return ImportReport(
            people=self.people + other.people,
            added=self.added + other.added,
            changed=self.changed + other.changed,
            unchanged=self.unchanged + other.unchanged,
            apps={
                app: self.apps.get(app, Counts()) + other.apps.get(app, Counts()) for app in apps
            },
            contacts=self.contacts + other.contacts,
            generation=other.generation or self.generation,
            unavailable=_sum(self.unavailable, other.unavailable),
            mark=self.mark or other.mark,
            removed=self.removed + other.removed,
        )

    @property
    def anything(self) -> bool:
        """Whether a new generation was made."""
        return bool(self.people or self.added or self.changed or self.removed)


def _sum(
    one: Mapping[str, tuple[str, int]], other: Mapping[str, tuple[str, int]]
) -> dict[str, tuple[str, int]]:
    found = dict(one)
    for app, (why, count) in other.items():
        found[app] = (why, count + found.get(app, ("", 0))[1])
    return found


@dataclass(frozen=True, slots=True)
class News:
    """The part of an import that differs from the stores."""

    people: list[Person]
    added: list[tuple[Person, Item]]
    changed: list[tuple[Person, Item]]
    unchanged: list[Item]
    restated: list[tuple[Person, Item]]
    """Stored items whose text names a contact with another relation than before."""
    contacts: Counts
    unavailable: Mapping[str, tuple[str, int]]
    removed: list[tuple[str, str]]
    """(person, item id) pairs that are stored and shall not be."""

    def report(self) -> ImportReport:
        """The same as figures."""
        added = Counter(item.app for _, item in self.added)
        changed = Counter(item.app for _, item in self.changed)
        unchanged = Counter(item.app for item in self.unchanged)
        return ImportReport(
            people=len(self.people),
            added=added.total(),
            changed=changed.total(),
            unchanged=unchanged.total(),
            apps={
                app: Counts(added[app], changed[app], unchanged[app])
                for app in sorted({*added, *changed, *unchanged})
            },
            contacts=self.contacts,
            unavailable=self.unavailable,
            removed=len(self.removed),
        )


def compare(
    files: StoreFiles,
    personas: Iterable[Persona],
    encoder: str,
    merge: Merge | None,
    gone: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> News:
    """What of an import would be new; nothing is changed."""
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
    given = {one.person.person_id: len(one.person.contacts) for one in personas}
    if merge is not None:
        personas = [
            Persona(merge(old_people[one.person.person_id], one.person), one.items)
            if one.person.person_id in old_people
            else one
            for one in personas
        ]
    ids = [one.person.person_id for one in personas if one.person.person_id in old_people]
    old: dict[tuple[str, str], str] = {}
    here = set() if manifest is None else set(manifest.apps)
    broken = {} if manifest is None else files.unavailable(manifest)
    here -= broken.keys()
    for store in files.stores() if ids else ():
        if store.app.name in here:
            old |= store.content_hashes(ids)
    people = [one.person for one in personas if old_people.get(one.person.person_id) != one.person]
    # A contact's relation is part of an item's text: another relation, another vector.
    renamed = {
        person.person_id: names
        for person in people
        if (names := _related_anew(old_people.get(person.person_id), person))
    }
    added: list[tuple[Person, Item]] = []
    changed: list[tuple[Person, Item]] = []
    unchanged: list[Item] = []
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
            elif digest != content_hash(item):
                changed.append((person, item))
            else:
                unchanged.append(item)
    replaced = {(person.person_id, item.id) for person, item in changed}
    restated = [
        (person, stored.item)
        for person in people
        if person.person_id in renamed
        for store in files.stores()
        if store.app.name in here
        for stored in store.items(person.person_id)
        if (person.person_id, stored.item.id) not in replaced
        and not _names(stored.item, store.app).isdisjoint(renamed[person.person_id])
    ]
    contacts = sum(
        (
            _count_contacts(old_people.get(one.person_id), one, given[one.person_id])
            for one in (persona.person for persona in personas)
        ),
        Counts(),
    )
    unavailable = {app: (why, left_out[app]) for app, why in broken.items() if left_out[app]}
    removed = [
        (person_id, item_id)
        for person_id, items in gone.items()
        for item_id in sorted(items)
        if (person_id, item_id) in old
    ]
    return News(people, added, changed, unchanged, restated, contacts, unavailable, removed)


def _related_anew(old: Person | None, new: Person) -> set[str]:
    """Folded names of contacts whose relation is another one than before."""
    if old is None:
        return set()
    before, after = (
        {one.name.casefold(): one.relation for one in reversed(person.contacts)}
        for person in (old, new)
    )
    return {name for name in before | after if before.get(name, "") != after.get(name, "")}


def _names(item: Item, app: AppSpec) -> set[str]:
    """Folded names in the item's person fields."""
    values = [item.fields.get(name) for name in app.named("person")]
    listed = [value if isinstance(value, tuple) else (value,) for value in values]
    return {str(name).casefold() for names in listed for name in names if name}


def _count_contacts(old: Person | None, new: Person, given: int) -> Counts:
    """What became of `given` contacts with which the person `old` became `new`."""
    before = Counter(old.contacts if old is not None else ())
    fresh = Counter(new.contacts) - before
    gone = Counter(one.name.casefold() for one in (before - Counter(new.contacts)).elements())
    changed = (Counter(one.name.casefold() for one in fresh.elements()) & gone).total()
    added = fresh.total() - changed
    return Counts(added, changed, max(0, given - added - changed))
