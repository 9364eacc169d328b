"""Walking through a JSON Schema: its subschemas, and what its references point to."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_ONE = (
    "additionalProperties additionalItems unevaluatedProperties unevaluatedItems contains not if "
    "then else propertyNames contentSchema items"
).split()
"""Keywords whose value is a schema."""
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
"""Keywords whose value is a list of schemas."""
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose value maps names to schemas."""

Schema = Any
"""A mapping or a boolean."""


def mapped(schema: Mapping[str, Any], visit: Callable[[Schema], Schema]) -> dict[str, Any]:
    """A copy whose direct subschemas are `visit`'s results."""
    copy = dict(schema)
    for key in _ONE:
        if isinstance(copy.get(key), Mapping | bool):
            copy[key] = visit(copy[key])
    for key in _MANY:
        if isinstance(copy.get(key), list):
            copy[key] = [visit(one) for one in copy[key]]
    for key in _NAMED:
        if isinstance(copy.get(key), Mapping):
            copy[key] = {str(name): visit(one) for name, one in copy[key].items()}
    return copy


def subschemas(schema: Schema) -> Iterator[dict[str, Any]]:
    """The schema and all inside it that are mappings, references not followed."""
    if not isinstance(schema, Mapping):
        return
    waiting: list[Schema] = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            yield one if isinstance(one, dict) else dict(one)
            inner: list[Schema] = []
            mapped(one, lambda each, inner=inner: inner.append(each))  # type: ignore[misc]
            waiting.extend(inner)


def placed_subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All that `subschemas` gives, with the reference to each, nearest to the root first."""
    waiting: list[tuple[str, Any]] = [("#", schema)]
    for place, one in waiting:
        if not isinstance(one, Mapping):
            continue
        yield place, one
        for key in _ONE:
            waiting.append((f"{place}/{key}", one.get(key)))
        for key in _MANY:
            inner = one.get(key)
            for number, each in enumerate(inner if isinstance(inner, list) else ()):
                waiting.append((f"{place}/{key}/{number}", each))
        for key in _NAMED:
            inner = one.get(key)
            for name, each in inner.items() if isinstance(inner, Mapping) else ():
                waiting.append((f"{place}/{key}/{pointer_step(str(name))}", each))


def pointed(root: Mapping[str, Any], reference: str) -> Schema | None:
    """What a reference inside the schema points to; None where nothing is there."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for step in pointer_steps(reference):
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found if isinstance(found, Mapping | bool) else None


def pointer_steps(reference: str) -> list[str]:
    """The steps of a reference inside a schema, unescaped."""
    from urllib.parse import unquote

    path = unquote(reference[1:]).strip("/")
    return [one.replace("~1", "/").replace("~0", "~") for one in path.split("/")] if path else []


def pointer_step(name: str) -> str:
    """A name as one step of a reference."""
    return name.replace("~", "~0").replace("/", "~1")
