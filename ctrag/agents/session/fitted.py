"""Single values as models send them, read as the type that a schema wants of them."""

import json
from collections.abc import Mapping
from typing import Any

from ctrag.agents.catalogue.schema_walk import Schema
from ctrag.agents.catalogue.wanted import Wanted, WantedValues
from ctrag.agents.session.sent_names import letters
from ctrag.agents.session.sent_values import parsed

_SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "object": dict,
    "array": list,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
_WORDS = {"true": True, "True": True, "false": False, "False": False}
_NOTHING = frozenset({"null", "None", "none", "undefined"})
_DEPTH = 50
"""Levels of objects and lists that are looked at."""


class FittedValues:
    """Reads values by one tool's schema."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._wanted = WantedValues(parameters)

    def wanted(self, schema: Schema) -> Wanted:
        """What a subschema wants, for those who choose by it."""
        return self._wanted.of(schema)

    def of_object(self, given: Mapping[str, Any], wanted: Wanted, depth: int = 0) -> dict[str, Any]:
        """An object with its members as their schemas want them; null for an optional one that
        takes none leaves it out."""
        made: dict[str, Any] = {}
        for name, value in given.items():
            schema = wanted.properties.get(name, wanted.others)
            inner = self._wanted.of(schema)
            refuses_null = bool(inner.types) and "null" not in inner.types
            if name not in wanted.required and refuses_null and _is_nothing(value, inner):
                continue
            made[name] = self._fitted(value, schema, depth + 1)
        return made

    def _fitted(self, value: Any, schema: Schema, depth: int) -> Any:
        """The value as the type that the schema wants, where it can be read as that."""
        wanted = self._wanted.of(schema)
        if depth > _DEPTH:
            return value
        scalar = bool(wanted.types) and wanted.types <= _SCALARS
        if scalar and isinstance(value, list) and len(value) == 1:
            value = value[0]
        value = _of_type(value, wanted.types)
        if isinstance(value, list):
            schemas = [*wanted.first, *[wanted.items] * (len(value) - len(wanted.first))]
            told = zip(value, schemas, strict=False)
            return [self._fitted(one, inner, depth + 1) for one, inner in told]
        if value is not None and "array" in wanted.types and wanted.types <= {"array", "null"}:
            return self._list_of(value, wanted.items, depth)
        if isinstance(value, Mapping):
            if wanted.properties and wanted.others in (None, False):
                value = respelled(value, wanted.properties)
            return self.of_object(value, wanted, depth)
        return value

    def _list_of(self, value: Any, items: Schema, depth: int) -> Any:
        """A list of the one value, where it is one of the items and no list in another spelling;
        else the value."""
        if isinstance(value, str) and value.strip() in _NOTHING:
            return value
        wanted = self._wanted.of(items)
        made = self._fitted(value, items, depth + 1)
        if isinstance(made, str) and (not made.strip() or any(one in made for one in ",;\n[")):
            return value
        if isinstance(made, Mapping) and (not made or made.keys() - wanted.properties.keys()):
            return value
        return [made] if any(_is_of(made, kind) for kind in wanted.types) else value


def respelled(given: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """The members, with those that the schema lacks under the name there that has the same
    letters and digits, if it is one alone and was not given itself."""
    unknown = [name for name in given if name not in properties]
    if not unknown:
        return dict(given)
    plain: dict[str, list[str]] = {}
    for name in properties:
        plain.setdefault(letters(name), []).append(name)
    names: dict[str, str] = {}
    for name in unknown:
        found = plain.get(letters(name), []) if letters(name) else []
        if len(found) == 1 and found[0] not in given and found[0] not in names.values():
            names[name] = found[0]
    return {names.get(name, name): value for name, value in given.items()}


def _is_nothing(value: Any, wanted: Wanted) -> bool:
    """Whether it is null, also as a text where none is wanted; so models send what they leave
    out."""
    return value is None or (
        isinstance(value, str) and value in _NOTHING and "string" not in wanted.types
    )


def _of_type(value: Any, types: frozenset[str]) -> Any:
    """The value as one of the types, where it can be read as that."""
    if not types:
        return value
    if isinstance(value, bool):
        return json.dumps(value) if types <= {"string", "null"} else value
    if isinstance(value, int | float):
        if types <= {"string", "null"}:
            return str(value)
        whole = isinstance(value, float) and value.is_integer() and "integer" in types
        return int(value) if whole and "number" not in types else value
    if not isinstance(value, str) or "string" in types:
        return value
    if value.strip() in _NOTHING:
        return None if "null" in types else value
    read: Any = _WORDS.get(value.strip(), value)
    try:
        read = json.loads(value) if isinstance(read, str) else read
    except (ValueError, RecursionError):
        read = parsed(value)
    read = parsed(read)  # written as a text twice
    if isinstance(read, float) and read.is_integer() and "number" not in types:
        read = int(read)
    return read if any(_is_of(read, kind) for kind in types) else value


def _is_of(value: Any, kind: str) -> bool:
    of_kind = isinstance(value, _PYTHON_TYPES.get(kind, ()))
    return of_kind and (kind == "boolean" or not isinstance(value, bool))
