"""The arguments of one OpenAPI operation as one tool's schema."""

import re
from collections.abc import Mapping
from typing import Any, Protocol

from ctrag.agents.catalogue.openapi_operations import Argument, Place
from ctrag.agents.catalogue.openapi_parts import as_list, as_map, as_text

_PARAMETER_KEYS = frozenset(
    "type enum items default format minimum maximum exclusiveMinimum exclusiveMaximum minLength "
    "maxLength pattern minItems maxItems uniqueItems multipleOf nullable".split()
)
_SECRETS = re.compile(
    r"(?:x[-_])?(?:api[-_]?key|auth[-_]?token|access[-_]?token)|proxy-authorization|cookie", re.I
)
"""Parameters that hold credentials, whether the document says so or not."""


_CHOICES = ("oneOf", "anyOf", "not")


class Schemas(Protocol):
    """The schemas of the document."""

    def target(self, reference: str) -> Any:
        """The schema that a reference points to; None where nothing is there."""
        ...

    def schema(self, value: Any) -> tuple[Any, list[str]]:
        """A schema in draft 2020-12, and the references in it."""
        ...

    def definitions(self, needed: list[str]) -> dict[str, Any]:
        """All that the references need."""
        ...


class ToolArguments:
    """The arguments of one tool."""

    def __init__(self, reader: Schemas) -> None:
        self._reader = reader
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []
        self._needed: list[str] = []
        self.arguments: dict[str, Argument] = {}

    def add(self, argument: Argument, parameter: Mapping[str, Any]) -> None:
        """A parameter of path, query, header, cookie or form."""
        content = next(iter(as_map(parameter.get("content")).values()), None)
        given = parameter.get("schema") or as_map(content).get("schema")
        if not isinstance(given, Mapping):
            given = {key: parameter[key] for key in _PARAMETER_KEYS & set(parameter)}
            given = {key: parameter[key] for key in parameter if key in given}  # in their order
        schema, needed = self._reader.schema(given)
        self._needed += needed
        if (text := as_text(parameter.get("description"))) and "description" not in schema:
            schema["description"] = text
        required = parameter.get("required") is True or argument.place == "path"
        self._put(argument, schema, required)

    def add_body(
        self, given: Any, required: bool, name: str, content_type: str = "application/json"
    ) -> None:
        """A body: its properties where it is an object, else one argument."""
        schema, needed = self._reader.schema(given)
        flat = self._flat(schema, given, ())
        form = "json" not in content_type and (
            "form-urlencoded" in content_type or "multipart" in content_type
        )
        if flat is None or not (form or "json" in content_type or content_type == "*/*"):
            self._needed += needed
            self._put(Argument(name, "whole body"), schema, required)
            return
        properties, asked, more = flat
        self._needed += more
        for key, one in properties.items():
            inner = as_map(one)
            is_file = inner.get("format") == "binary" or "contentMediaType" in inner
            self._put(Argument(key, "body", file=form and is_file), one, key in asked)

    def _flat(
        self, schema: Any, given: Any, seen: tuple[str, ...]
    ) -> tuple[dict[str, Any], list[str], list[str]] | None:
        """Properties, those required and the references inside; None if it is no plain object."""
        if isinstance(given, Mapping) and isinstance(reference := given.get("$ref"), str):
            if reference in seen or not isinstance(target := self._target(reference), Mapping):
                return None
            return self._flat(self._reader.schema(target)[0], target, (*seen, reference))
        if not isinstance(given, Mapping) or any(_chooses(given.get(one)) for one in _CHOICES):
            return None
        if schema.get("type", "object") not in ("object", ["object", "null"]):
            return None
        properties: dict[str, Any] = {}
        required: list[str] = []
        needed: list[str] = []
        for member in as_list(given.get("allOf")):
            inner = self._flat(self._reader.schema(member)[0], member, seen)
            if inner is None:
                return None
            properties |= inner[0]
            required += inner[1]
            needed += inner[2]
        own = as_map(given.get("properties"))
        only_read = {str(key) for key, one in own.items() if as_map(one).get("readOnly") is True}
        for key, one in own.items():
            if str(key) in only_read:
                continue
            made, more = self._reader.schema(one)
            properties[str(key)] = made
            needed += more
        if not properties:
            return None
        asked = [str(one) for one in as_list(given.get("required"))]
        required += [one for one in asked if one in properties and one not in only_read]
        return properties, required, needed

    def _target(self, reference: str) -> Any:
        return self._reader.target(reference)

    def _put(self, argument: Argument, schema: Any, required: bool) -> None:
        name = argument.name
        if name in self._properties:
            place = "body" if argument.place == "whole body" else argument.place
            name = f"{name}_{place}"
        while name in self._properties:
            name += "_"
        self._properties[name] = schema
        self.arguments[name] = argument
        if required:
            self._required.append(name)

    def parameters(self) -> dict[str, Any]:
        """The tool's schema."""
        made: dict[str, Any] = {"type": "object", "properties": self._properties}
        if self._required:
            made["required"] = list(dict.fromkeys(self._required))
        if definitions := self._reader.definitions(self._needed):
            made["$defs"] = definitions
        return made


def _chooses(value: Any) -> bool:
    """Whether a union offers other properties, not just another choice of those required."""
    members = value if isinstance(value, list) else [value]
    return value is not None and any(set(as_map(one)) - {"required"} for one in members)


def argument_of(one: Mapping[str, Any], place: Place, old: bool, file: bool = False) -> Argument:
    """Where a parameter goes; `old`: as Swagger 2 writes it."""
    name = as_text(one.get("name"))
    if old:
        kind = as_text(one.get("collectionFormat")) or "csv"
        styles = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}
        simple = "simple" if place in ("path", "header") else "form"
        return Argument(name, place, styles.get(kind, simple), kind == "multi", file=file)
    default = "simple" if place in ("path", "header") else "form"
    style = as_text(one.get("style")) or default
    explode = one.get("explode", style == "form")
    return Argument(name, place, style, explode is True, isinstance(one.get("content"), Mapping))


def is_secret(name: str, place: str, security: tuple[Any, ...]) -> bool:
    """Whether a parameter holds a credential that the document describes as an argument."""
    if _SECRETS.fullmatch(name):
        return True
    return name.lower() == "token" and (place == "header" or bool(security))


def preferred_type(kinds: list[str]) -> str:
    """The content type to send: JSON, a form, a multipart form, else the first."""

    def rank(kind: str) -> int:
        plain = kind.partition(";")[0].strip().lower()
        if plain == "application/json":
            return 0
        if plain.endswith("+json") or plain in ("*/*", "application/*"):
            return 1
        return 2 if plain.endswith("form-urlencoded") else 3 if "multipart" in plain else 4

    return min(kinds, key=rank)
