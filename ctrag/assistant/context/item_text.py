"""Items as text: for lexical search, for embedding and for prompts."""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from string import Formatter

from stores.people.app_spec import AppSpec, Role, spec_of
from stores.people.items import Item, Person

_SEARCHED: tuple[Role, ...] = ("title", "text", "person", "place", "group")


def title(item: Item) -> str:
    """What people call the item: its title, else the person it is about."""
    spec = spec_of(item.app)
    return _joined(item, spec.named("title")) or _joined(item, spec.named("person"))


def searched_text(item: Item) -> str:
    """The text that lexical search indexes."""
    return _joined(item, [name for role in _SEARCHED for name in spec_of(item.app).named(role)])


def embedded_text(person: Person, item: Item) -> str:
    """The text that is embedded: the application's phrase, contacts with their relation."""
    spec = spec_of(item.app)
    named = set(spec.named("person"))
    parts = []
    for part, field in _phrase(spec):
        value = introduced(person, item, field) if field in named else item.text(field)
        if value:
            parts.append(part.format(**{field: value}))
    return "".join(parts) if parts else f"{item.app}: {searched_text(item)}"


def written(item: Item) -> str:
    """The free text of the item: its fields of type `text`."""
    names = (one.name for one in spec_of(item.app).fields if one.type == "text")
    return " ".join(filter(None, map(item.text, names)))


def people(item: Item) -> tuple[str, ...]:
    """Names in the item's person fields."""
    names: list[str] = []
    for field in spec_of(item.app).named("person"):
        value = item.fields.get(field)
        if isinstance(value, tuple):
            names += value
        elif isinstance(value, str):
            names.append(value)
    return tuple(names)


def groups(item: Item) -> tuple[str, ...]:
    """Folder, list, playlist and genre of the item."""
    return tuple(filter(None, (item.text(name) for name in spec_of(item.app).named("group"))))


def fields_of(item: Item, role: Role) -> tuple[str, ...]:
    """Names of the item's fields with that role, in declared order."""
    return spec_of(item.app).named(role)


def field_of(item: Item, role: Role) -> str | None:
    """Name of the item's first field with that role, or None."""
    names = fields_of(item, role)
    return names[0] if names else None


def time_of(item: Item, role: Role = "time") -> datetime | None:
    """The item's time in that role, or None."""
    name = field_of(item, role)
    return None if name is None else item.time(name)


def introduced(person: Person, item: Item, field: str) -> str:
    """Names in a field, those of contacts with their relation: `Ann (sister), Bo`."""
    value = item.fields.get(field)
    names = value if isinstance(value, tuple) else (str(value),) if value else ()
    introduced = []
    for name in names:
        contact = person.contact(name)
        relation = contact.relation if contact is not None else ""
        introduced.append(f"{name} ({relation})" if relation else name)
    return ", ".join(introduced)


@lru_cache(maxsize=256)
def _phrase(spec: AppSpec) -> tuple[tuple[str, str], ...]:
    """(part, its one field) of the application's phrase."""
    return tuple(
        (part, next(name for _, name, _, _ in Formatter().parse(part) if name))
        for part in spec.phrase
    )


def _joined(item: Item, names: Iterable[str]) -> str:
    return ". ".join(filter(None, (item.text(name).strip() for name in names)))
