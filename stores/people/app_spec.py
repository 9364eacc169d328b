"""Which applications there are and what their fields mean.

Seven are packaged. Further ones are data: an `apps.yaml` in a data set or stores folder, in the
packaged file's format. A process knows the applications of all folders that it has opened.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from stores.bounded_yaml import load_yaml
from stores.errors import InputError
from stores.files import write_text

APPS = "apps.yaml"
FieldType = Literal["string", "text", "datetime", "boolean", "integer", "strings"]
Role = Literal["title", "text", "person", "place", "time", "end", "group", "state", "other"]

_SQL_TYPES: dict[str, str] = {
    "string": "VARCHAR",
    "text": "VARCHAR",
    "datetime": "TIMESTAMP",
    "boolean": "BOOLEAN",
    "integer": "BIGINT",
    "strings": "VARCHAR[]",
}
_DEFAULT_TYPES: dict[str, type] = {"string": str, "text": str, "boolean": bool, "integer": int}
# Names become columns and file names, which may be case-insensitive.
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED = {
    *("id", "usage", "persona_id", "item_id", "content_hash", "vector", "rowid"),
    *("opens_30d", "last_opened", "usual_hours", "usual_place"),
}


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of an application's items."""

    name: str
    type: FieldType
    role: Role = "other"
    required: bool = True
    values: tuple[str, ...] = ()
    default: bool | int | str | None = None

    @property
    def sparse(self) -> bool:
        """Whether items without a value do not have the field at all: one for programs, not people,
        that few items have."""
        return self.role == "other" and not self.required and self.default == ""

    @property
    def sql_type(self) -> str:
        """The DuckDB column type that holds the field."""
        return _SQL_TYPES[self.type]


@dataclass(frozen=True, slots=True)
class AppSpec:
    """One application: its name and its fields, in the order in which they are shown."""

    name: str
    fields: tuple[FieldSpec, ...]
    phrase: tuple[str, ...] = ()
    """Parts of the item's text, each with one `{field}`; see `apps.yaml`."""
    like: str | None = None
    """The packaged application that a further one resembles; None to infer it from the fields."""

    _by_role: dict[Role, tuple[str, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        for one in self.fields:
            self._by_role[one.role] = (*self._by_role.get(one.role, ()), one.name)

    def named(self, role: Role) -> tuple[str, ...]:
        """Names of the fields with `role`, in declared order."""
        return self._by_role.get(role, ())

    @property
    def similar_app(self) -> str:
        """The packaged application whose items these resemble, and whose place they take in trained
        models. For a packaged application, itself."""
        if self.like is not None:
            return self.like
        if self.name in _packaged():
            return self.name
        if self.named("end"):
            return "calendar"
        if self.named("person"):
            return "mail"
        flags = {one.name for one in self.fields if one.type == "boolean"}
        if flags.intersection(self.named("state")):
            return "reminders"
        return "notes" if self.named("text") else "google"


class _FieldModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: FieldType
    role: Role = "other"
    required: bool = True
    values: tuple[str, ...] = ()
    default: bool | int | str | None = None

    @model_validator(mode="after")
    def _values_and_default_fit(self) -> "_FieldModel":
        if self.values and self.type != "string":
            raise InputError(f"values are for fields of type string, this one is {self.type}")
        if self.default is None:
            return self
        if self.required:
            raise InputError("a default is for fields with `required: false`")
        if type(self.default) is not _DEFAULT_TYPES.get(self.type):
            raise InputError(f"default {self.default!r} is no {self.type}")
        if self.values and self.default not in self.values:
            raise InputError(f"default {self.default!r} is not among the values")
        return self


class _AppModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
    fields: dict[str, _FieldModel]
    phrase: tuple[str, ...] = ()
    like: str | None = None

    @model_validator(mode="after")
    def _fields_fit_together(self) -> "_AppModel":
        if not self.fields:
            raise InputError("fields: an application needs at least one")
        for role in ("time", "end"):
            names = [name for name, field in self.fields.items() if field.role == role]
            if len(names) > 1:
                raise InputError(
                    f"fields: at most one may have the role {role}, not {', '.join(names)}"
                )
        for name in self.fields:
            if not _NAME.fullmatch(name) or name in _RESERVED:
                raise InputError(f"fields: {name!r} is not usable as a field name")
        for part in self.phrase:
            found = [one[1:] for one in Formatter().parse(part) if one[1] is not None]
            # A width such as `{title:>999999999}` would take all memory, `{title:d}` would fail.
            if len(found) != 1 or found[0] not in {(name, "", None) for name in self.fields}:
                raise InputError(
                    f"phrase: {part[:60]!r} must name exactly one of the fields, as {{field}} alone"
                )
        return self


def load_apps(path: Path) -> tuple[AppSpec, ...]:
    """Applications declared in a YAML file such as the packaged `apps.yaml`.

    Raises:
        ValueError: The file breaks a rule; the message names the application, field and rule.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    return _parse(text, str(path))


@cache
def packaged_apps() -> tuple[AppSpec, ...]:
    """The seven applications that ctrag ships."""
    return _parse(files("stores.people").joinpath(APPS).read_text(encoding="utf-8"), APPS)


@cache
def _packaged() -> dict[str, AppSpec]:
    return {spec.name: spec for spec in packaged_apps()}


_further: dict[str, AppSpec] = {}


def known_apps() -> tuple[AppSpec, ...]:
    """The packaged applications, then the further ones that this process knows."""
    return (*packaged_apps(), *_further.values())


def spec_of(app: str) -> AppSpec:
    """The application of that name.

    Raises:
        ValueError: It is not declared.
    """
    found = _packaged().get(app) or _further.get(app)
    if found is None:
        names = ", ".join(spec.name for spec in known_apps())
        raise InputError(f"app: {app!r} is unknown; known: {names}")
    return found


def register_apps(specs: Iterable[AppSpec]) -> None:
    """Make further applications known to this process; packaged ones are known already.

    Raises:
        ValueError: An application of that name has other fields, or `like` names no packaged one.
    """
    packaged = _packaged()
    for spec in specs:
        known = packaged.get(spec.name) or _further.get(spec.name)
        if known is not None and known != spec:
            raise InputError(
                f"{spec.name}: this name is taken by an application with other fields; rename one"
            )
        if spec.like is not None and spec.like not in packaged:
            raise InputError(
                f"{spec.name}: like: must be one of {', '.join(packaged)}, not {spec.like!r}"
            )
        if known is None:
            _further[spec.name] = spec


def apps_of(*folders: Path) -> tuple[AppSpec, ...]:
    """The packaged applications and those in the folders' `apps.yaml`, made known.

    Raises:
        ValueError: A file breaks a rule, or two applications of one name differ.
    """
    found = dict(_packaged())
    for folder in folders:
        path = folder / APPS
        if path.exists():
            specs = load_apps(path)
            register_apps(specs)
            found |= {spec.name: spec for spec in specs}
    return tuple(found.values())


def write_apps(folder: Path, specs: Sequence[AppSpec]) -> None:
    """Write the applications that are not packaged into the folder's `apps.yaml`, if any."""
    further = {spec.name: _dumped(spec) for spec in specs if spec.name not in _packaged()}
    if further:
        text = yaml.safe_dump(further, sort_keys=False, allow_unicode=True, width=100)
        write_text(folder / APPS, text)


def _dumped(spec: AppSpec) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for one in spec.fields:
        fields[one.name] = {"type": one.type, "role": one.role}
        if one.values:
            fields[one.name]["values"] = list(one.values)
        if not one.required:
            fields[one.name]["required"] = False
        if one.default is not None:
            fields[one.name]["default"] = one.default
    dumped: dict[str, Any] = {} if spec.like is None else {"like": spec.like}
    if spec.phrase:
        dumped["phrase"] = list(spec.phrase)
    return {**dumped, "fields": fields}


def _parse(text: str, source: str) -> tuple[AppSpec, ...]:
    try:
        raw = load_yaml(text)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except (yaml.YAMLError, ValueError) as error:  # a date that is none is a ValueError
        raise InputError(f"{source}: not YAML: {' '.join(str(error).split())}") from None
    apps = raw if isinstance(raw, dict) else {}
    if not apps:
        raise InputError(f"{source}: must be a mapping of applications")
    specs = []
    for name, body in apps.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "people":
            raise InputError(f"{source}: {name!r} is not usable as an application name")
        try:
            app = _AppModel.model_validate(body)
        except ValidationError as error:
            problem = error.errors()[0]
            where = "".join(f"{part}: " for part in (source, name, *problem["loc"]))
            raise InputError(where + problem["msg"].removeprefix("Value error, ")) from None
        fields = tuple(
            FieldSpec(field, **model.model_dump()) for field, model in app.fields.items()
        )
        specs.append(AppSpec(name, fields, app.phrase, app.like))
    return tuple(specs)
