"""A data set folder: `personas.jsonl`, `queries.jsonl`, read whole or not at all.

Labels are loaded by a function of their own, so that what answers a request cannot hold one
by accident.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
)

from stores.files import write_text
from stores.items import Contact, Item, LabelledPlan, Labels, Person, Profile, Request, Usage, Value
from stores.spec import AppSpec, FieldSpec, apps_of, packaged_apps, spec_of, write_apps

PERSONAS = "personas.jsonl"
QUERIES = "queries.jsonl"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_HOUR_24 = re.compile(r"[^T ]+[T ]24")

Kind = Literal[
    "now", "reference", "habit", "mismatch", "write", "multi", "refind", "explicit", "no_tool"
]


def parse_local_time(value: object) -> datetime:
    """A local time from ISO 8601 text, cut to the minute.

    Raises:
        ValueError: The text is no ISO 8601 time, or has a time zone (all times are local).
    """
    if isinstance(value, datetime):
        moment = value
    else:
        try:
            # Newer Pythons read hour 24 as the next day's first.
            readable = isinstance(value, str) and not _HOUR_24.match(value)
            moment = datetime.fromisoformat(str(value) if readable else "")
        except ValueError:
            raise ValueError(
                f"must be a local ISO 8601 time such as 2025-04-17T12:59, not {value!r}"
            ) from None
    if moment.tzinfo is not None:
        raise ValueError(f"must be a local time without a time zone, not {value!r}")
    return moment.replace(second=0, microsecond=0)


def format_local_time(moment: datetime) -> str:
    """The spelling of times in data sets: `YYYY-MM-DDTHH:MM`."""
    return moment.replace(tzinfo=None).isoformat(timespec="minutes")


_LocalTime = Annotated[datetime, BeforeValidator(parse_local_time)]
_Text = Annotated[str, StringConstraints(min_length=1)]
_Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
_Hour = Annotated[int, Field(ge=0, le=23)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Usage(_Strict):
    opens_30d: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    last_opened: _LocalTime | None = None
    usual_hours: list[_Hour] = []
    usual_place: str | None = None


class _Contact(_Strict):
    name: _Text
    relation: str = ""
    phone: str | None = None
    email: str | None = None


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
    now: _LocalTime
    profile: _Profile
    contacts: list[_Contact] = []
    apps: dict[str, list[dict[str, Any]]]


class _Plan(_Strict):
    api: _Text
    arguments: dict[str, str | int | list[str]] = {}


class _Request(_Strict):
    # Columns that nothing here knows are left alone: data sets may carry notes of their own.
    model_config = ConfigDict(extra="ignore", strict=True)
    query_id: _Text
    persona_id: _Text
    text: _Text
    asked_at: _LocalTime
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


_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Persona:
    """A person with all their items, as a data set holds them."""

    person: Person
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a data set: who asks, and under which id."""

    query_id: str
    person_id: str
    request: Request


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set without its labels."""

    folder: Path
    personas: tuple[Persona, ...]
    requests: tuple[Asked, ...]

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
    for where, raw in _lines(folder / PERSONAS):
        row = _validate(_Persona, raw, where)
        if row.persona_id in personas:
            raise ValueError(f"{where}: persona_id: {row.persona_id!r} appears twice")
        items = tuple(_items(row.apps, specs, where))
        for item in items:
            if item.id in owners:
                raise ValueError(f"{where}: id: item {item.id!r} appears twice")
            owners[item.id] = row.persona_id
        personas[row.persona_id] = Persona(_person(row), items)
    requests = tuple(_requests(folder / QUERIES, personas, owners))
    return Dataset(folder, tuple(personas.values()), requests)


def load_labels(folder: Path, apps: Sequence[AppSpec] | None = None) -> dict[str, Labels]:
    """Labels by query id, for training and scoring only.

    Raises:
        ValueError: A line breaks a rule, or a relevant item belongs to somebody else.
    """
    dataset = load_dataset(folder, apps)
    owned = {one.person.person_id: {item.id for item in one.items} for one in dataset.personas}
    persons = {one.query_id: one.person_id for one in dataset.requests}
    labels = {}
    for where, raw in _lines(folder / QUERIES):
        row = _validate(_Labels, raw, where)
        for item_id in row.relevant or ():
            if item_id not in owned[persons[row.query_id]]:
                raise ValueError(f"{where}: relevant: {item_id!r} is no item of that person")
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
        grouped.setdefault(item.app, []).append(_dump_item(item, spec))
    person = persona.person
    return {
        "persona_id": person.person_id,
        "now": format_local_time(person.now),
        "profile": {**asdict(person.profile), "hobbies": list(person.profile.hobbies)},
        "contacts": [asdict(contact) for contact in person.contacts],
        "apps": grouped,
    }


def write_personas(folder: Path, personas: Iterable[Persona]) -> None:
    """Write `personas.jsonl` and an empty `queries.jsonl` into `folder`, which must exist; also
    `apps.yaml` where items belong to further applications."""
    personas = list(personas)
    apps = dict.fromkeys(item.app for persona in personas for item in persona.items)
    write_apps(folder, [spec_of(app) for app in apps])
    lines = [json.dumps(dump_persona(persona), ensure_ascii=False) for persona in personas]
    write_text(folder / PERSONAS, "".join(line + "\n" for line in lines))
    write_text(folder / QUERIES, "")


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            where = f"{path.name}:{number}"
            try:
                raw = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
            except json.JSONDecodeError as error:
                raise ValueError(
                    f"{where}: not JSON: {error.msg} at column {error.colno}"
                ) from None
            except UnicodeDecodeError as error:
                raise ValueError(f"{where}: not UTF-8 at byte {error.start + 1}") from None
            except _TwiceError as error:
                raise ValueError(f"{where}: {error}: appears twice in one object") from None
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{where}: not JSON: {error}") from None
            kind = type(raw).__name__
            if kind != "dict":
                raise ValueError(f"{where}: must be a JSON object, not {kind}")
            broken = _half_surrogate(raw) if _SURROGATE.search(line) else None
            if broken is not None:
                raise ValueError(f"{where}: {broken}: holds half of a surrogate pair")
            yield where, raw


def _half_surrogate(value: Any, path: str = "") -> str | None:
    """Path to a text that cannot be encoded, hence not stored, or None."""
    if isinstance(value, str):
        return path if any("\ud800" <= letter <= "\udfff" for letter in value) else None
    if isinstance(value, dict):
        parts = [(ascii(name)[1:-1], [name, part]) for name, part in value.items()]
    elif isinstance(value, list):
        parts = [(str(place), [part]) for place, part in enumerate(value)]
    else:
        return None
    for name, children in parts:
        for child in children:
            found = _half_surrogate(child, f"{path}.{name}" if path else name)
            if found is not None:
                return found
    return None


class _TwiceError(ValueError):
    """A JSON object names a field twice; Python would keep the last one only."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for name in names if names.count(name) > 1))
    return found


def _validate(model: type[_Model], raw: object, where: str) -> _Model:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        problem = error.errors()[0]
        name = " ".join(".".join(str(part) for part in problem["loc"]).split()) or "line"
        rule = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            rule = "unknown field"
        elif problem["type"] not in {"missing", "value_error"}:
            rule += f", not {problem['input']!r:.80}"
        raise ValueError(f"{where}: {name}: {rule}") from None


def _python_type(field: FieldSpec) -> Any:
    if field.values:
        kind: Any = Literal[field.values]
    else:
        kind = {
            "string": str,
            "text": str,
            "datetime": _LocalTime,
            "boolean": bool,
            "integer": _Int64,
            "strings": list[str],
        }[field.type]
    return kind if field.required else kind | None


@cache
def item_model(app: AppSpec) -> type[BaseModel]:
    """What an item of the application must be in a data set, as a strict pydantic model."""
    fields: dict[str, Any] = {"id": (_Text, ...), "usage": (_Usage, _Usage())}
    for field in app.fields:
        default = ... if field.required else field.default
        # By alias: a field may be called `copy` or `json`, which pydantic keeps for itself.
        fields[f"field_{field.name}"] = (
            _python_type(field),
            Field(default, validation_alias=field.name),
        )
    return create_model(f"{app.name}_item", __base__=_Strict, **fields)


def read_item(raw: Mapping[str, Any], app: AppSpec, where: str) -> Item:
    """An item from the object that a data set holds of it.

    Args:
        raw: `id`, `usage` and the application's fields.
        app: The application.
        where: What the message of an error begins with.

    Raises:
        ValueError: The object breaks a rule of the application.
    """
    model: Any = _validate(item_model(app), raw, where)
    return Item(
        id=model.id,
        app=app.name,
        fields={field.name: _value(getattr(model, f"field_{field.name}")) for field in app.fields},
        usage=Usage(
            opens_30d=model.usage.opens_30d,
            last_opened=model.usage.last_opened,
            usual_hours=tuple(model.usage.usual_hours),
            usual_place=model.usage.usual_place,
        ),
    )


def _items(
    raw: Mapping[str, list[dict[str, Any]]], specs: Mapping[str, AppSpec], where: str
) -> Iterator[Item]:
    for app, rows in raw.items():
        if app not in specs:
            raise ValueError(f"{where}: apps.{app}: unknown application; known: {', '.join(specs)}")
        for position, row in enumerate(rows):
            yield read_item(row, specs[app], f"{where}: apps.{app}.{position}")


def _value(value: Any) -> Value:
    return tuple(value) if isinstance(value, list) else value


def _person(row: _Persona) -> Person:
    profile = row.profile.model_dump()
    profile["hobbies"] = tuple(profile["hobbies"])
    return Person(
        person_id=row.persona_id,
        now=row.now,
        profile=Profile(**profile),
        contacts=tuple(Contact(**contact.model_dump()) for contact in row.contacts),
    )


def _requests(
    path: Path, personas: Mapping[str, Persona], owners: Mapping[str, str]
) -> Iterator[Asked]:
    if not path.exists():
        return
    seen: set[str] = set()
    for where, raw in _lines(path):
        row = _validate(_Request, raw, where)
        if row.query_id in seen:
            raise ValueError(f"{where}: query_id: {row.query_id!r} appears twice")
        seen.add(row.query_id)
        if row.persona_id not in personas:
            raise ValueError(f"{where}: persona_id: {row.persona_id!r} is not in {PERSONAS}")
        if row.playing is not None and owners.get(row.playing) != row.persona_id:
            raise ValueError(f"{where}: playing: {row.playing!r} is no item of that person")
        yield Asked(
            row.query_id, row.persona_id, Request(row.text, row.asked_at, row.place, row.playing)
        )


def _dump_item(item: Item, app: AppSpec) -> dict[str, Any]:
    dumped: dict[str, Any] = {"id": item.id}
    for field in app.fields:
        value = item.fields.get(field.name)
        if not field.required and field.default is not None and value == field.default:
            continue
        dumped[field.name] = _dump_value(value)
    usage = item.usage
    dumped["usage"] = {
        "opens_30d": usage.opens_30d,
        "last_opened": _dump_value(usage.last_opened),
        "usual_hours": list(usage.usual_hours),
        "usual_place": usage.usual_place,
    }
    return dumped


def _dump_value(value: Value) -> Any:
    if isinstance(value, datetime):
        return format_local_time(value)
    return list(value) if isinstance(value, tuple) else value
