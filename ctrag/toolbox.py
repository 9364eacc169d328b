"""The APIs an assistant may call: their arguments, effects and failures, read from YAML."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from ctrag.errors import InputError
from stores.bounded_yaml import load_yaml

if TYPE_CHECKING:
    from yaml import SafeLoader as _YamlLoader
else:
    _YamlLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

ArgumentType = Literal["string", "integer", "datetime", "date", "contact", "contacts", "enum"]
Effect = Literal["read", "write", "outward"]
Does = Literal["find", "create", "change", "remove", "send"]
_REACH: tuple[Effect, ...] = ("read", "write", "outward")
_PACKAGED = "ctrag/toolbox.yaml"

_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def _plan_name(name: str) -> str:
    """Check that a name can be spelled in a plan, a Python call expression."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise InputError("must be a lower-case Python name that is no keyword")
    return name


Name = Annotated[str, AfterValidator(_plan_name)]


class Argument(BaseModel):
    """One argument of an API; `match`: whether plans are scored on its value or its presence."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    type: ArgumentType
    match: Literal["value", "text"]
    required: bool
    description: str
    values: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _values_belong_to_enums(self) -> Self:
        if self.type == "enum" and not self.values:
            raise InputError("an enum needs values")
        if self.type != "enum" and self.values:
            raise InputError(f"only an enum has values, not a {self.type}")
        if len(set(self.values)) < len(self.values):
            raise InputError("values must differ from each other")
        return self


class Tool(BaseModel):
    """One API of one application."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    app: str
    api: Name
    description: str
    effect: Effect
    arguments: tuple[Argument, ...]
    fails_when: str
    does: Does | None = None
    """How an API of a further application runs (see `own`); None for the packaged ones, which have
    code, and for APIs that are only planned."""

    @model_validator(mode="after")
    def _names_are_free(self) -> Self:
        if self.api == "none":
            raise InputError("api: 'none' is the plan that calls nothing")
        names = [argument.name for argument in self.arguments]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"arguments: {name!r} occurs more than once")
        return self

    @model_validator(mode="after")
    def _does_what_its_effect_says(self) -> Self:
        fitting = {"read": ("find",), "write": ("create", "change", "remove"), "outward": ("send",)}
        if self.does is not None and self.does not in fitting[self.effect]:
            raise InputError(
                f"does: an API of effect {self.effect} does {' or '.join(fitting[self.effect])}, "
                f"not {self.does}"
            )
        return self

    @property
    def arguments_by_name(self) -> dict[str, Argument]:
        """The arguments in their written order."""
        return {argument.name: argument for argument in self.arguments}

    @property
    def signature(self) -> str:
        """For example `google_directions(destination, mode?)`: `?` marks optional arguments."""
        names = (arg.name if arg.required else f"{arg.name}?" for arg in self.arguments)
        return f"{self.api}({', '.join(names)})"


@dataclass(frozen=True)
class Toolbox:
    """All tools of an assistant, in file order; iterating yields the tools.

    Raises:
        ValueError: if two tools share an API name.
    """

    tools: tuple[Tool, ...]
    _by_api: dict[str, Tool] = field(init=False, repr=False, compare=False)

    def __init__(self, tools: Iterable[Tool]) -> None:
        object.__setattr__(self, "tools", tuple(tools))
        by_api: dict[str, Tool] = {}
        for tool in self.tools:
            if tool.api in by_api:
                apps = f"{by_api[tool.api].app} and {tool.app}"
                raise InputError(f"{tool.api}: api: occurs more than once (in {apps})")
            by_api[tool.api] = tool
        object.__setattr__(self, "_by_api", by_api)

    @classmethod
    def from_file(cls, path: Path | str) -> Toolbox:
        """Read a toolbox in YAML: applications, each with a list of APIs.

        Raises:
            OSError: if the file cannot be read.
            ValueError: at the first fault, naming file, API, field and rule.
        """
        path = Path(path)
        return _parse(path.read_bytes(), str(path))

    @classmethod
    def packaged(cls) -> Toolbox:
        """The 59 APIs that ctrag itself can execute, read once per process."""
        return _packaged()

    def get(self, api: str) -> Tool | None:
        """The tool of that API name, or None if the toolbox has none."""
        return self._by_api.get(api)

    @property
    def names(self) -> tuple[str, ...]:
        """API names in file order."""
        return tuple(self._by_api)

    @property
    def apps(self) -> tuple[str, ...]:
        """Applications in the order of their first tool."""
        return tuple(dict.fromkeys(tool.app for tool in self.tools))

    def to_yaml(self) -> str:
        """The toolbox as `from_file` reads it."""
        content: dict[str, list[dict[str, Any]]] = {}
        for tool in self.tools:
            entry = tool.model_dump(mode="json", exclude={"app"}, exclude_none=True)
            for argument in entry["arguments"]:
                if not argument["values"]:
                    del argument["values"]
            content.setdefault(tool.app, []).append(entry)
        return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)


@cache
def _packaged() -> Toolbox:
    source = resources.files("ctrag") / "toolbox.yaml"
    return _parse(source.read_bytes(), _PACKAGED)


class _UniqueKeys(_YamlLoader):
    """A loader that rejects duplicate keys, of which PyYAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1:
                line = node.start_mark.line + 1
                raise yaml.YAMLError(f"{key!r} occurs more than once in the map at line {line}")
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


def _parse(text: bytes, source: str) -> Toolbox:
    try:
        content = load_yaml(text, _UniqueKeys)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except (yaml.YAMLError, ValueError) as error:  # a date that is none is a ValueError
        raise InputError(f"{source}: not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise InputError(f"{source}: must map applications to lists of APIs")
    tools: list[Tool] = []
    for app, entries in content.items():
        if not isinstance(entries, list):
            raise InputError(f"{source}: {app}: must be a list of APIs")
        tools.extend(_tool(app, entry, position, source) for position, entry in enumerate(entries))
    try:
        return Toolbox(tools if source == _PACKAGED else map(_as_far_reaching, tools))
    except ValueError as error:
        raise InputError(f"{source}: {error}") from error


def _as_far_reaching(tool: Tool) -> Tool:
    """The tool with an effect that is no smaller than that of the packaged API whose code runs.

    A data set cannot turn the question before a call or a mail off by calling it a look-up.
    """
    packaged = _packaged().get(tool.api)
    if tool.does is not None or packaged is None:
        return tool
    effect = max(tool.effect, packaged.effect, key=_REACH.index)
    return tool if effect == tool.effect else tool.model_copy(update={"effect": effect})


def _tool(app: object, entry: object, position: int, source: str) -> Tool:
    if not isinstance(entry, Mapping):
        raise InputError(f"{source}: {app}[{position}]: must be a map with api, description, ...")
    api = entry.get("api", f"{app}[{position}]")
    if "app" in entry:
        raise InputError(f"{source}: {api}: app: stands above the list, not in the API")
    fields = {**entry, "app": app}
    if isinstance(arguments := entry.get("arguments"), list):
        fields["arguments"] = [_rejoined(argument) for argument in arguments]
    try:
        return Tool.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = _spell(fault["loc"], entry)
        rule = fault["msg"].removeprefix("Value error, ")
        raise InputError(f"{source}: {api}: {where}{rule}") from error


def _rejoined(argument: object) -> object:
    """Restore the part of a description that YAML splits off after a comma.

    In `{description: caller to block, by name or number}` YAML reads a second key with a null
    value; users' toolboxes are written that way.
    """
    if not isinstance(argument, Mapping) or not isinstance(argument.get("description"), str):
        return argument
    whole: dict[Any, Any] = {}
    last = ""
    for key, value in argument.items():
        if last == "description" and value is None and key not in Argument.model_fields:
            whole["description"] += f", {key}"
        else:
            whole[key] = value
            last = key
    return whole


def _spell(location: tuple[int | str, ...], entry: Mapping[str, Any]) -> str:
    """Turn `("arguments", 0, "type")` into `arguments: title: type: `."""
    parts: list[str] = []
    value: Any = entry
    for step in location:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            value = None
        named = isinstance(step, int) and isinstance(value, Mapping) and "name" in value
        parts.append(str(value["name"] if named else step))
    return "".join(f"{part}: " for part in parts)
