"""What a JSON Schema wants of a value, with its references, combinations and unions followed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctrag.agents.catalogue.schema_walk import Schema, pointed

_UNIONS = ("anyOf", "oneOf")
_DEPTH = 100
"""References and combinations that are followed one behind the other."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a schema wants of a value."""

    types: frozenset[str] = frozenset()
    """Empty where any is allowed, or where it cannot be told."""
    properties: Mapping[str, Schema] = field(default_factory=dict)
    """Of an object."""
    required: frozenset[str] = frozenset()
    """Those of them that every alternative needs."""
    others: Schema = None
    """Of an object's further properties; None where nothing is said of them."""
    items: Schema = None
    """Of a list's members behind those of `first`; None where nothing is said of them."""
    first: tuple[Schema, ...] = ()
    """Of a list's first members, one each."""


class WantedValues:
    """Reads the subschemas of one schema, each once, so that no schema takes long."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[int, tuple[Schema, Wanted]] = {}  # with the schema: ids are used again

    def of(self, schema: Schema) -> Wanted:
        """What the schema wants."""
        return self._of(schema, 0)

    def _of(self, schema: Schema, depth: int) -> Wanted:
        if not isinstance(schema, Mapping) or depth > _DEPTH:
            return Wanted()
        known = self._known.get(id(schema))
        if known is not None:
            return known[1]
        self._known[id(schema)] = schema, Wanted()  # what refers to itself adds nothing
        found = self._read(schema, depth + 1)
        self._known[id(schema)] = schema, found
        return found

    def _read(self, schema: Mapping[str, Any], depth: int) -> Wanted:
        found = _own(schema)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            found = _both(found, self._of(pointed(self._root, reference), depth))
        for one in _list(schema.get("allOf")):
            found = _both(found, self._of(one, depth))
        for union in _UNIONS:
            if ways := [self._of(one, depth) for one in _list(schema.get(union))]:
                found = _both(found, _either(ways))
        more = [schema.get("then"), schema.get("else"), *_values(schema.get("dependentSchemas"))]
        for one in more:
            properties = self._of(one, depth).properties
            found = replace(found, properties=_together(found.properties, properties, "anyOf"))
        return found


def _own(schema: Mapping[str, Any]) -> Wanted:
    properties, required = schema.get("properties"), schema.get("required")
    others = schema.get("additionalProperties")
    if patterns := _values(schema.get("patternProperties")):
        others = _one([others, *patterns] if isinstance(others, Mapping) else patterns)
    items = schema.get("items")
    first = items if isinstance(items, list) else _list(schema.get("prefixItems"))
    return Wanted(
        frozenset(_types(schema)),
        properties if isinstance(properties, Mapping) else {},
        frozenset(map(str, required)) if isinstance(required, list) else frozenset(),
        others,
        None if isinstance(items, list) else items,
        tuple(first),
    )


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    declared = schema.get("type")
    if isinstance(declared, str | list):
        for one in [declared] if isinstance(declared, str) else declared:
            yield "null" if one is None else str(one)
        if schema.get("nullable") is True:
            yield "null"
    elif "const" in schema:
        yield _type_of(schema["const"])
    else:
        yield from map(_type_of, _list(schema.get("enum")))


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return names.get(type(value), "object")


def _both(one: Wanted, other: Wanted) -> Wanted:
    """What two schemas want that both hold for a value."""
    return Wanted(
        _common(one.types, other.types),
        _together(one.properties, other.properties, "allOf"),
        one.required | other.required,
        other.others if one.others is None else one.others,
        other.items if one.items is None else one.items,
        one.first or other.first,
    )


def _common(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    if not one or not other:
        return one or other
    common = one & other
    for some, more in ((one, other), (other, one)):
        if "integer" in some and "number" in more:
            common |= {"integer"}
    return common


def _either(ways: list[Wanted]) -> Wanted:
    """What schemas want of which a value has to meet one."""
    types = [one.types for one in ways]
    properties: Mapping[str, Schema] = {}
    for one in ways:
        properties = _together(properties, one.properties, "anyOf")
    objects = [one for one in ways if one.properties]
    needed = [one.required for one in objects]
    return Wanted(
        frozenset().union(*types) if all(types) else frozenset(),
        properties,
        frozenset.intersection(*needed) if needed else frozenset(),
        _one(one.others for one in ways),
        _one(one.items for one in ways),
        next((one.first for one in ways if one.first), ()),
    )


def _one(schemas: Iterable[Schema]) -> Schema:
    """Several alternatives as one schema."""
    told: list[Schema] = []
    for one in schemas:
        if one is not None and one not in told:
            told.append(one)
    return {"anyOf": told} if len(told) > 1 else told[0] if told else None


def _together(
    one: Mapping[str, Schema], other: Mapping[str, Schema], joined: str
) -> Mapping[str, Schema]:
    """The properties of both; one that both have stands under both schemas."""
    if not one or not other:
        return one or other
    made = dict(one)
    for name, schema in other.items():
        held = made.get(name, schema)
        if held == schema:
            made[name] = schema
        elif isinstance(held, Mapping) and list(held) == [joined]:
            made[name] = {joined: [*held[joined], schema]}
        else:
            made[name] = {joined: [held, schema]}
    return made


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
