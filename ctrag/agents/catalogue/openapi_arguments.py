"""The arguments of one OpenAPI operation as one tool's schema."""

from collections.abc import Mapping
from typing import Any, Protocol

from ctrag.agents.catalogue.openapi_media import (
    BYTES,
    holds_text,
    is_bytes,
    is_file,
    is_text_format,
)
from ctrag.agents.catalogue.openapi_operations import Argument, Place
from ctrag.agents.catalogue.openapi_parts import as_list, as_map, as_text

_PARAMETER_KEYS = frozenset(
    "type enum items default format minimum maximum exclusiveMinimum exclusiveMaximum minLength "
    "maxLength pattern minItems maxItems uniqueItems multipleOf nullable".split()
)
_CHOICES = ("oneOf", "anyOf", "not")
_CHAIN = 10
"""References in a row that are followed."""


_Flat = tuple[dict[str, Any], list[str], list[str], dict[str, Any]]
"""Properties, those required, the references inside, and the document's own schema of each."""


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
        self._further: Any = None
        self.arguments: dict[str, Argument] = {}

    @property
    def open_body(self) -> bool:
        """Whether the body takes further fields than those that are arguments."""
        return self._further is not None

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
        self,
        given: Any,
        required: bool,
        name: str,
        content_type: str = "application/json",
        encoding: Mapping[str, Any] | None = None,
    ) -> None:
        """A body: its properties where it is an object, else one argument.

        Args:
            given: The document's schema.
            required: Whether it must be sent.
            name: Of the argument, if it is one.
            content_type: As it is sent.
            encoding: How single fields of a form are written.
        """
        schema, needed = self._reader.schema(given)
        flat = self._flat(schema, given, ())
        form = "json" not in content_type and (
            "form-urlencoded" in content_type or "multipart" in content_type
        )
        if flat is None or not (form or "json" in content_type or content_type == "*/*"):
            if is_text_format(content_type):
                if not holds_text(schema):
                    schema = {"type": "string", "description": f"The body as {content_type}."}
            elif "json" not in content_type and is_bytes(schema):
                schema = _said(schema, BYTES)
            self._needed += needed
            self._put(Argument(name, "whole body"), schema, required)
            return
        properties, asked, more, originals = flat
        self._needed += more
        target = self._target_of(given)
        if (further := as_map(target).get("additionalProperties")) not in (None, False):
            self._further, more = self._reader.schema(further)
            self._needed += more
        multipart = "multipart" in content_type
        for key, one in properties.items():
            written = as_map(as_map(encoding).get(key))
            kind = as_text(written.get("contentType")).partition(",")[0].strip()
            file = form and is_file(originals[key], kind, multipart, self._target)
            argument = Argument(
                key,
                "body",
                as_text(written.get("style")),
                written.get("explode") is not False,
                file=file,
                content_type=kind,
            )
            self._put(argument, _said(one, BYTES) if file else one, key in asked)

    def _flat(self, schema: Any, given: Any, seen: tuple[str, ...]) -> _Flat | None:
        """The fields of an object; None if it is no plain one."""
        if isinstance(given, Mapping) and isinstance(reference := given.get("$ref"), str):
            if reference in seen or not isinstance(target := self._target(reference), Mapping):
                return None
            return self._flat(self._reader.schema(target)[0], target, (*seen, reference))
        if not isinstance(given, Mapping) or any(_chooses(given.get(one)) for one in _CHOICES):
            return None
        kinds = schema.get("type", "object")
        if set(kinds if isinstance(kinds, list) else [kinds]) - {"null"} != {"object"}:
            return None
        properties: dict[str, Any] = {}
        required: list[str] = []
        needed: list[str] = []
        originals: dict[str, Any] = {}
        for member in as_list(given.get("allOf")):
            inner = self._flat(self._reader.schema(member)[0], member, seen)
            if inner is None:
                return None
            properties |= inner[0]
            required += inner[1]
            needed += inner[2]
            originals |= inner[3]
        own = as_map(given.get("properties"))
        only_read = {str(key) for key, one in own.items() if as_map(one).get("readOnly") is True}
        for key, one in own.items():
            if str(key) in only_read:
                continue
            made, more = self._reader.schema(one)
            properties[str(key)] = made
            originals[str(key)] = one
            needed += more
        if not properties:
            return None
        asked = [str(one) for one in as_list(given.get("required"))]
        required += [one for one in asked if one in properties and one not in only_read]
        return properties, required, needed, originals

    def _target_of(self, given: Any) -> Any:
        """A schema, or what its references lead to."""
        for _ in range(_CHAIN):
            if not isinstance(given, Mapping) or not isinstance(given.get("$ref"), str):
                break
            given = self._target(given["$ref"])
        return given

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
        if self._further is not None:
            made["additionalProperties"] = self._further or True
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


def _said(schema: Any, text: str) -> Any:
    """A schema with a further sentence in its description."""
    made = dict(as_map(schema))
    made["description"] = f"{as_text(made.get('description'))} {text}".strip()
    return made
