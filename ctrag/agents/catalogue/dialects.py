"""JSON Schemas of every dialect that servers send, as draft 2020-12."""

from collections.abc import Mapping
from typing import Any

from ctrag.agents.catalogue.keywords import with_readable_keywords
from ctrag.agents.catalogue.schema_places import Places
from ctrag.agents.catalogue.schema_walk import Schema, mapped

_KEYWORDS = frozenset(
    "type properties items $ref $defs definitions allOf anyOf oneOf patternProperties "
    "additionalProperties".split()
)
"""One of these makes a table a schema, and not one of arguments."""
_TYPES = frozenset("string number integer boolean array object null".split())
_OTHER_TYPES = {
    "str": "string", "text": "string", "date": "string", "file": "string", "enum": "string",
    "int": "integer", "long": "integer", "float": "number", "double": "number",
    "decimal": "number", "bool": "boolean", "dict": "object", "map": "object", "list": "array",
    "tuple": "array", "none": "null",
}  # fmt: skip


def modern(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of any dialect as draft 2020-12.

    Tuples become `prefixItems`, boolean limits numbers, `dependencies` its two successors,
    `nullable` a type, `definitions` `$defs`; references go by place; names of types that no draft
    has are translated or dropped, keywords of the wrong type likewise. What is asked of the
    arguments stays the same. Patterns are left as they are.
    """
    schema = _as_arguments(schema)
    places = Places(schema)
    moved = "$defs" not in schema and isinstance(schema.get("definitions"), Mapping)

    def visit(one: Schema) -> Schema:
        if not isinstance(one, Mapping):
            return one
        made = mapped(_modern(one), visit)
        if isinstance(reference := made.get("$ref"), str):
            reference = places.of(reference, one)
            if moved and reference.startswith("#/definitions/"):
                reference = f"#/$defs/{reference.removeprefix('#/definitions/')}"
            made["$ref"] = reference
        return made

    whole: dict[str, Any] = visit(schema)
    whole.pop("$schema", None)
    if moved:
        whole["$defs"] = whole.pop("definitions")
    return whole


def _as_arguments(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema; a table of arguments that lacks the schema around it gets one."""
    bare = schema and all(
        isinstance(one, Mapping) and isinstance(one.get("type"), str) for one in schema.values()
    )
    if not bare or not _KEYWORDS.isdisjoint(schema):
        return schema
    return {"type": "object", "properties": schema}


def _modern(schema: Mapping[str, Any]) -> dict[str, Any]:
    """One schema's own keywords; what is inside is not looked at."""
    new = with_readable_keywords(schema)
    for gone in ("$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"):
        new.pop(gone, None)
    if isinstance(new.get("id"), str):
        del new["id"]
    for old in ("$recursiveRef", "$dynamicRef"):
        if isinstance(new.get(old), str):
            new.setdefault("$ref", new.pop(old))
    _types(new)
    if isinstance(new.get("items"), list):
        new["prefixItems"] = new.pop("items")
        if "additionalItems" in new:
            new["items"] = new.pop("additionalItems")
        if not new["prefixItems"]:
            del new["prefixItems"]
    new.pop("additionalItems", None)
    for strict, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(new.get(strict), bool):
            if new.pop(strict) and limit in new:
                new[strict] = new.pop(limit)
        elif strict in new and not isinstance(new[strict], int | float):
            del new[strict]
    _dependencies(new)
    _required(new)
    return new


def _types(new: dict[str, Any]) -> None:
    if "type" in new:
        given = new["type"] if isinstance(new["type"], list) else [new["type"]]
        if given == [None]:
            given = []
        given = ["null" if one is None else one for one in given]  # YAML's null without quotes
        if not all(isinstance(one, str | Mapping) for one in given):
            return  # no draft has such types
        names = [_type_name(one) for one in given]
        known = list(dict.fromkeys(one for one in names if one))
        if len(known) < len(dict.fromkeys(names)):  # one of them is anything
            known = []
        new["type"] = known[0] if len(known) == 1 else known
        if not known:
            del new["type"]
    if new.pop("nullable", False) is True:
        if isinstance(new.get("type"), str):
            new["type"] = [new["type"], "null"] if new["type"] != "null" else "null"
        if isinstance(new.get("enum"), list) and None not in new["enum"]:
            new["enum"] = [*new["enum"], None]


def _type_name(value: Any) -> str:
    """A type as JSON Schema names it; empty where it says nothing."""
    if not isinstance(value, str):
        return ""
    lower = value.lower()
    return lower if lower in _TYPES else _OTHER_TYPES.get(lower, "")


def _dependencies(new: dict[str, Any]) -> None:
    old = new.pop("dependencies", None)
    for name, needed in old.items() if isinstance(old, Mapping) else ():
        kind = "dependentSchemas" if isinstance(needed, Mapping | bool) else "dependentRequired"
        if kind == "dependentRequired":
            needed = [needed] if isinstance(needed, str) else needed
            if not isinstance(needed, list):
                continue
        new[kind] = {**new.get(kind, {}), name: needed}


def _required(new: dict[str, Any]) -> None:
    """Draft 3 says it at the property, all others at its object."""
    if "required" in new and not isinstance(new["required"], list):
        del new["required"]
    properties = new.get("properties")
    if not isinstance(properties, Mapping):
        return
    needed = [
        str(name)
        for name, one in properties.items()
        if isinstance(one, Mapping) and one.get("required") is True
    ]
    if needed:
        new["required"] = list(dict.fromkeys([*new.get("required", []), *needed]))
