"""Arguments of a tool as models send them, read as its schema has them."""

import json
from collections.abc import Mapping
from typing import Any

from ctrag.agents.session.sent_names import letters
from ctrag.agents.session.sent_values import WRAPPERS, object_of, pair, parsed

_PAIRS = frozenset({"name", "key", "value"})
_SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def tool_arguments(raw: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's arguments as its schema has them.

    A whole set under one name that the schema lacks is taken out of it; a name in other letters
    (`userId` for `user_id`) is the schema's where it can be one alone; a list of one in the place
    of a text or number is that one; a text in the place of an
    object, list, number or boolean is read as JSON where it is of that type; a number in the place
    of a text is written out; null for an optional argument that takes none leaves it out.
    Everything else is left as it is: the tool's own server judges it.

    Args:
        raw: An object, its JSON text, or None for no arguments.
        parameters: The tool's JSON Schema.

    Raises:
        ValueError: The arguments are no object.
    """
    properties = parameters.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    arguments = object_of(raw)
    if len(arguments) == 1:
        [(name, value)] = arguments.items()
        if name in WRAPPERS and name not in properties:
            inner = parsed(value)
            arguments = dict(inner) if isinstance(inner, Mapping) else arguments
            arguments = {} if value is None else arguments
        elif name not in properties and isinstance(value, Mapping) and _among(value, properties):
            arguments = dict(value)
    one = pair(arguments)
    if one is not None and not _PAIRS.intersection(properties) and one[0] in properties:
        arguments = dict([one])
    arguments = _respelled(arguments, properties)
    required = parameters.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    return {
        name: _fitted(value, properties.get(name))
        for name, value in arguments.items()
        if value is not None or name in needed or not _refuses_null(properties.get(name))
    }


def _among(value: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    """Whether all that it holds are arguments of the tool."""
    return bool(value) and all(name in properties for name in value)


def _respelled(arguments: dict[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with those that the schema lacks under the name there that has the same
    letters and digits, if it is one alone and was not given itself."""
    unknown = [name for name in arguments if name not in properties]
    if not unknown:
        return arguments
    plain: dict[str, list[str]] = {}
    for name in properties:
        plain.setdefault(letters(name), []).append(name)
    names: dict[str, str] = {}
    for name in unknown:
        found = plain.get(letters(name), []) if letters(name) else []
        if len(found) == 1 and found[0] not in arguments and found[0] not in names.values():
            names[name] = found[0]
    return {names.get(name, name): value for name, value in arguments.items()}


def _refuses_null(schema: Any) -> bool:
    """Whether null would be an error there; models send it for what they leave out."""
    types = _types(schema)
    return bool(types) and "null" not in types


def _fitted(value: Any, schema: Any) -> Any:
    """The value as the type that the schema wants, where it can be read as that."""
    wanted = _types(schema)
    if isinstance(value, list) and len(value) == 1 and wanted and wanted <= _SCALARS:
        value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        if wanted and wanted <= {"string", "null"}:
            return str(value)
        whole = isinstance(value, float) and value.is_integer() and "integer" in wanted
        return int(value) if whole and "number" not in wanted else value
    if not isinstance(value, str) or not wanted or "string" in wanted:
        return value
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        read = parsed(value)
    if isinstance(read, float) and read.is_integer() and "number" not in wanted:
        read = int(read)
    if read is None:
        return None if "null" in wanted else value
    for kind in wanted:
        of_kind = isinstance(read, _PYTHON_TYPES.get(kind, ()))
        if of_kind and (kind == "boolean" or not isinstance(read, bool)):
            return read
    return value


def _types(schema: Any) -> set[str]:
    """Types that a schema says itself or in its alternatives; empty where it leaves any open."""
    if not isinstance(schema, Mapping):
        return set()
    declared = schema.get("type")
    if isinstance(declared, str):
        return {declared}
    if isinstance(declared, list):
        return {str(one) for one in declared}
    ways = schema.get("anyOf") or schema.get("oneOf")
    found = [_types(one) for one in ways] if isinstance(ways, list) else []
    return set().union(*found) if all(found) else set()
