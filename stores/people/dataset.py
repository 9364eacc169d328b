"""A data set folder: `personas.jsonl`, `queries.jsonl`, read whole or not at all; each may be
compressed, as `personas.jsonl.bz2`.

Labels are loaded by a separate function, so that code that answers requests cannot get one by
accident.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from stores.compressed import kept
from stores.errors import InputError
from stores.files import write_text
from stores.people.app_spec import AppSpec, apps_of, packaged_apps, spec_of, write_apps
from stores.people.item_objects import dump_item, read_item
from stores.people.items import Contact, Item, LabelledPlan, Labels, Person, Profile, Request
from stores.people.lines import read_lines, validated
from stores.people.local_time import LocalTime, format_local_time

PERSONAS = "personas.jsonl"
QUERIES = "queries.jsonl"
DIALOGUES, SEVERAL = "dialogues.jsonl", "several.jsonl"

Kind = Literal[
    "now", "reference", "habit", "mismatch", "write", "multi", "refind", "explicit", "no_tool"
]

_DIGITS = 12
"""Of a fingerprint: 48 bits."""

_Text = Annotated[str, StringConstraints(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Contact(_Strict):
    name: _Text
    relation: str = ""
    phone: str | None = None
    email: str | None = None
    phones: list[str] = []
    emails: list[str] = []
    nicknames: list[str] = []
    organisation: str = ""
    title: str = ""
    related: list[str] = []
    birthday: str | None = None
    addresses: list[str] = []
    note: str = ""
    uid: str = ""

    def contact(self) -> Contact:
        """The contact."""
        values: dict[str, Any] = self.model_dump()
        for key in ("phones", "emails", "nicknames", "related", "addresses"):
            values[key] = tuple(values[key])
        return Contact(**values)


class _Profile(_Strict):
    model_config = ConfigDict(extra="ignore", strict=True)
    name: _Text
    age: int | None = None
    profession: str | None = None
    city: str | None = None
    timezone: str | None = None
    home: str | None = None
    work: str | None = None
    favorite_music_genre: str | None = None
    favorite_movie_genre: str | None = None
    favorite_cuisine: str | None = None
    favorite_sport: str | None = None
    hobbies: list[str] = []
    household: str | None = None


class _Persona(_Strict):
    model_config = ConfigDict(extra="ignore", strict=True)
    persona_id: _Text
    now: LocalTime
    profile: _Profile
    contacts: list[_Contact] = []
    apps: dict[str, list[dict[str, Any]]]


class _Plan(_Strict):
    api: _Text
    arguments: dict[str, str | int | list[str]] = {}


class _Request(_Strict):
    # Unknown columns are ignored: data sets may contain notes of their own.
    model_config = ConfigDict(extra="ignore", strict=True)
    query_id: _Text
    persona_id: _Text
    text: _Text
    asked_at: LocalTime
    place: str | None = None
    playing: str | None = None


class _Labels(_Strict):
    model_config = ConfigDict(extra="ignore", strict=True)
    query_id: _Text
    kind: Kind | None = None
    chain_of_thought: str | None = None
    relevant: list[str] | None = None
    tools: list[str] | None = None
    plan: _Plan | None = None
    also: list[_Plan] | None = None


@dataclass(frozen=True, slots=True)
class Persona:
    """A person with all their items, as a data set holds them."""

    person: Person
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class DatasetRequest:
    """A request of a data set: who asks, and under which id."""

    query_id: str
    person_id: str
    request: Request


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set without its labels."""

    folder: Path
    personas: tuple[Persona, ...]
    requests: tuple[DatasetRequest, ...]

    def persona(self, person_id: str) -> Persona:
        """The persona of that id; KeyError if the data set has none."""
        return next(one for one in self.personas if one.person.person_id == person_id)


def load_dataset(folder: Path, apps: Sequence[AppSpec] | None = None) -> Dataset:
    """People, items and requests of a data set folder, without labels.

    Args:
        folder: Holds `personas.jsonl` and, if requests are wanted, `queries.jsonl`.
        apps: Applications that items may belong to; when None, the packaged seven and those of
            the folder's `apps.yaml`.

    Raises:
        ValueError: A line breaks a rule. The message names file, line, field and rule.
        FileNotFoundError: There is no `personas.jsonl`.
    """
    specs = {app.name: app for app in (apps_of(folder) if apps is None else apps)}
    personas: dict[str, Persona] = {}
    owners: dict[str, str] = {}
    for where, raw in read_lines(folder / PERSONAS):
        row = validated(_Persona, raw, where)
        if row.persona_id in personas:
            raise InputError(f"{where}: persona_id: {row.persona_id!r} appears twice")
        items = tuple(_items(row.apps, specs, where))
        for item in items:
            if item.id in owners:
                raise InputError(f"{where}: id: item {item.id!r} appears twice")
            owners[item.id] = row.persona_id
        personas[row.persona_id] = Persona(_person(row), items)
    requests = tuple(_requests(folder / QUERIES, personas, owners))
    return Dataset(folder, tuple(personas.values()), requests)


def fingerprints(folder: Path) -> dict[str, str]:
    """Person id → hash of id and content, of everybody who asks something in a data set folder.

    The content is the line of `personas.jsonl`, whatever the order of its keys and without what is
    empty: copies of a folder have the same people, and another person of the same id is another.
    A folder without `personas.jsonl` has no people.

    Raises:
        ValueError: A line breaks a rule.
    """
    if not kept(folder / PERSONAS).is_file():
        return {}
    asking = {one.person_id for one in load_dataset(folder).requests}
    asking |= {
        raw["persona_id"]
        for name in (DIALOGUES, SEVERAL)
        if kept(folder / name).is_file()
        for _, raw in read_lines(folder / name)
    }
    return {
        raw["persona_id"]: sha256(
            json.dumps(_without_empty(raw), sort_keys=True, ensure_ascii=False).encode()
        ).hexdigest()[:_DIGITS]
        for _, raw in read_lines(folder / PERSONAS)
        if raw["persona_id"] in asking
    }


def load_labels(folder: Path, apps: Sequence[AppSpec] | None = None) -> dict[str, Labels]:
    """Labels by query id, for training and scoring only.

    Raises:
        ValueError: A line breaks a rule, or a relevant item belongs to another person.
    """
    dataset = load_dataset(folder, apps)
    owned = {one.person.person_id: {item.id for item in one.items} for one in dataset.personas}
    persons = {one.query_id: one.person_id for one in dataset.requests}
    labels = {}
    for where, raw in read_lines(folder / QUERIES):
        row = validated(_Labels, raw, where)
        for item_id in row.relevant or ():
            if item_id not in owned[persons[row.query_id]]:
                raise InputError(f"{where}: relevant: {item_id!r} is no item of that person")
        labels[row.query_id] = Labels(
            kind=row.kind,
            chain_of_thought=row.chain_of_thought,
            relevant=None if row.relevant is None else tuple(row.relevant),
            tools=None if row.tools is None else tuple(row.tools),
            plan=None if row.plan is None else LabelledPlan(row.plan.api, row.plan.arguments),
            also=tuple(LabelledPlan(plan.api, plan.arguments) for plan in row.also or ()),
        )
    return labels


def dump_persona(persona: Persona, apps: Sequence[AppSpec] | None = None) -> dict[str, Any]:
    """The persona as a `personas.jsonl` line holds it; `load_dataset` reads it back.

    Args:
        persona: The persona.
        apps: Applications that the line names, with or without items; when None, the packaged
            seven and those that the items belong to.
    """
    specs = {app.name: app for app in (packaged_apps() if apps is None else apps)}
    grouped: dict[str, list[dict[str, Any]]] = {name: [] for name in specs}
    for item in persona.items:
        spec = specs.get(item.app) or spec_of(item.app)
        grouped.setdefault(item.app, []).append(dump_item(item, spec))
    person = persona.person
    return {
        "persona_id": person.person_id,
        "now": format_local_time(person.now),
        "profile": {**asdict(person.profile), "hobbies": list(person.profile.hobbies)},
        "contacts": [_dumped(contact) for contact in person.contacts],
        "apps": grouped,
    }


def _dumped(contact: Contact) -> dict[str, Any]:
    """The four fields that every contact has, then those that an address book told."""
    told = {
        key: list(one) if isinstance(one, tuple) else one for key, one in asdict(contact).items()
    }
    always = ("name", "relation", "phone", "email")
    return {key: one for key, one in told.items() if key in always or one}


def write_personas(folder: Path, personas: Iterable[Persona], *, private: bool = False) -> None:
    """Write `personas.jsonl` and an empty `queries.jsonl` into `folder`, which must exist; also
    `apps.yaml` where items belong to further applications. `private` files are for their
    owner alone."""
    personas = list(personas)
    apps = dict.fromkeys(item.app for persona in personas for item in persona.items)
    write_apps(folder, [spec_of(app) for app in apps])
    lines = [json.dumps(dump_persona(persona), ensure_ascii=False) for persona in personas]
    write_text(folder / PERSONAS, "".join(line + "\n" for line in lines), private=private)
    write_text(folder / QUERIES, "", private=private)


def _items(
    raw: Mapping[str, list[dict[str, Any]]], specs: Mapping[str, AppSpec], where: str
) -> Iterator[Item]:
    for app, rows in raw.items():
        if app not in specs:
            raise InputError(f"{where}: apps.{app}: unknown application; known: {', '.join(specs)}")
        for position, row in enumerate(rows):
            yield read_item(row, specs[app], f"{where}: apps.{app}.{position}")


def _person(row: _Persona) -> Person:
    profile = row.profile.model_dump()
    profile["hobbies"] = tuple(profile["hobbies"])
    return Person(
        person_id=row.persona_id,
        now=row.now,
        profile=Profile(**profile),
        contacts=tuple(contact.contact() for contact in row.contacts),
    )


def _requests(
    path: Path, personas: Mapping[str, Persona], owners: Mapping[str, str]
) -> Iterator[DatasetRequest]:
    if not kept(path).exists():
        return
    seen: set[str] = set()
    for where, raw in read_lines(path):
        row = validated(_Request, raw, where)
        if row.query_id in seen:
            raise InputError(f"{where}: query_id: {row.query_id!r} appears twice")
        seen.add(row.query_id)
        if row.persona_id not in personas:
            raise InputError(f"{where}: persona_id: {row.persona_id!r} is not in {PERSONAS}")
        if row.playing is not None and owners.get(row.playing) != row.persona_id:
            raise InputError(f"{where}: playing: {row.playing!r} is no item of that person")
        yield DatasetRequest(
            row.query_id, row.persona_id, Request(row.text, row.asked_at, row.place, row.playing)
        )


def _without_empty(value: Any) -> Any:
    """JSON without null and empty values."""
    if isinstance(value, dict):
        return {
            key: _without_empty(one) for key, one in value.items() if one not in (None, "", [], {})
        }
    return [_without_empty(one) for one in value] if isinstance(value, list) else value
