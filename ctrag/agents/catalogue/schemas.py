"""JSON Schemas of arguments as the APIs of models take them, and the way back.

- `wire_schema`: the root an object without unions and references, the arguments' names of letters,
  digits, `_`, `.` and `-`; references stay references, and every array says what its items are.
- `original_arguments`: the way back, to the names that the tool's owner knows.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctrag.agents.catalogue.dialects import modern
from ctrag.agents.catalogue.names import digest
from ctrag.agents.catalogue.schema_walk import (
    Schema,
    mapped,
    pointed,
    pointer_step,
    pointer_steps,
    subschemas,
)
from ctrag.agents.catalogue.wanted import WantedValues

NAME_LIMIT = 64
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SPELLED = {"<": "_lt", ">": "_gt", "[]": "", "$": "", "@": "", "=": "_eq", "!": "_not"}
_UNIONS = ("anyOf", "oneOf")
_NOT_AT_ROOT = frozenset(("$ref", "allOf", "anyOf", "oneOf", "not", "enum", "const"))


def wire_schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of arguments as the APIs of models take it, see the module.

    A union at the root becomes all arguments of its alternatives, required where every alternative
    requires them, and its description says which belong together. A reference to what is not in
    the schema allows anything.
    """
    schema = modern(parameters)
    root = _object_root(_hoisted(schema))
    names = wire_argument_names(root)

    def visit(one: Schema) -> Schema:
        if not isinstance(one, Mapping):
            return one
        made = with_items(mapped(one, visit))
        reference = made.get("$ref")
        if isinstance(reference, str):
            if pointed(root, reference) is None:
                del made["$ref"]
            elif names:
                made["$ref"] = _renamed_pointer(reference, names)
        return _renamed(made, names) if names else made

    made: dict[str, Any] = visit(root)
    return _used(made)


def with_items(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of an array with a schema of its items, without which the APIs refuse the whole
    request: those of a tuple are any of its members."""
    kinds = schema.get("type")
    if kinds != "array" and not (isinstance(kinds, list) and "array" in kinds):
        return schema
    if isinstance(schema.get("items"), Mapping):
        return schema
    kept: list[Schema] = []
    for one in _list(schema.get("prefixItems")):
        if isinstance(one, Mapping) and one not in kept:
            kept.append(one)
    return {**schema, "items": {"anyOf": kept} if len(kept) > 1 else kept[0] if kept else {}}


def wire_argument_names(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Names of arguments, nested ones too, that the APIs refuse → names that they take."""
    every = {
        name
        for one in subschemas(parameters)
        if isinstance(one.get("properties"), Mapping)
        for name in map(str, one["properties"])
    }
    taken = {name for name in every if _NAME.fullmatch(name)}
    found: dict[str, str] = {}
    for name in sorted(every - taken):
        spelled = _spelled(name)
        if not spelled or spelled in taken or len(spelled) > NAME_LIMIT:
            hashed = digest(name)
            spelled = f"{spelled[: NAME_LIMIT - len(hashed) - 1] or 'argument'}_{hashed}"
        taken.add(spelled)
        found[name] = spelled
    return found


def original_arguments(
    parameters: Mapping[str, Any], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments as a model gave them by a `wire_schema`, under the tool's own names.

    Names are those of the schema alone: in an object whose properties it does not say, all stay.
    """
    names = wire_argument_names(parameters)
    if not names:
        return dict(arguments)
    schema = modern(parameters)
    values = WantedValues(schema)

    def visit(value: Any, schema: Schema) -> Any:
        if not isinstance(value, Mapping | list):
            return value
        wanted = values.of(schema)
        if isinstance(value, list):
            schemas = [*wanted.first, *[wanted.items] * len(value)]
            return [visit(one, inner) for one, inner in zip(value, schemas, strict=False)]
        known = wanted.properties
        own = {names[name]: name for name in known if name in names}
        found = {own.get(str(key), str(key)): one for key, one in value.items()}
        return {key: visit(one, known.get(key, wanted.others)) for key, one in found.items()}

    made: dict[str, Any] = visit(arguments, schema)
    return made


def _spelled(name: str) -> str:
    for sign, word in _SPELLED.items():
        name = name.replace(sign, word)
    letters = unicodedata.normalize("NFKD", name)
    kept = "".join(one for one in letters if not unicodedata.combining(one))
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", kept).strip("_")


def _renamed(schema: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        schema["properties"] = {
            names.get(name, name): _saying(one, name) if name in names else one
            for name, one in properties.items()
        }
    if isinstance(schema.get("required"), list):
        schema["required"] = [names.get(one, one) for one in schema["required"]]
    needed = schema.get("dependentRequired")
    if isinstance(needed, Mapping):
        schema["dependentRequired"] = {
            names.get(name, name): [names.get(one, one) for one in many]
            for name, many in needed.items()
        }
    needed = schema.get("dependentSchemas")
    if isinstance(needed, Mapping):
        schema["dependentSchemas"] = {names.get(name, name): one for name, one in needed.items()}
    return schema


def _saying(schema: Schema, name: str) -> Schema:
    """An argument's schema with its own name in the description."""
    if not isinstance(schema, Mapping):
        return schema
    said = schema.get("description")
    text = f"`{name}`: {said}" if isinstance(said, str) and said else f"`{name}`"
    return {**schema, "description": text}


def _renamed_pointer(reference: str, names: Mapping[str, str]) -> str:
    steps = pointer_steps(reference)
    told = [
        names.get(step, step) if place and steps[place - 1] == "properties" else step
        for place, step in enumerate(steps)
    ]
    return "/".join(["#", *map(pointer_step, told)])


def _hoisted(schema: dict[str, Any]) -> dict[str, Any]:
    """References into the root's unions moved to `$defs`, since the unions will go."""
    inside = re.compile(r"#/(allOf|anyOf|oneOf)/(\d+)(/.*)?")
    moved: dict[str, Any] = {}

    def visit(one: Schema) -> Schema:
        if not isinstance(one, Mapping):
            return one
        made = mapped(one, visit)
        match = inside.fullmatch(made["$ref"]) if isinstance(made.get("$ref"), str) else None
        if match and (target := pointed(schema, f"#/{match[1]}/{match[2]}")) is not None:
            name = f"{match[1]}_{match[2]}"
            moved[name] = target
            made["$ref"] = f"#/$defs/{name}{match[3] or ''}"
        return made

    made: dict[str, Any] = visit(schema)
    if moved:
        made["$defs"] = {**made.get("$defs", {}), **{k: visit(v) for k, v in moved.items()}}
    return made


def _object_root(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with an object as its root, without union or reference there."""
    properties, required, notes = _flat(schema, schema, ())
    root = {key: value for key, value in schema.items() if key not in _NOT_AT_ROOT}
    if any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf")):
        for key in ("additionalProperties", "unevaluatedProperties", "discriminator"):
            root.pop(key, None)  # says of one alternative what is not true of all
    root["type"] = "object"
    root["properties"] = {
        name: {} if one is True else one for name, one in properties.items() if one is not False
    }
    root.pop("required", None)
    if required := [name for name in required if name in root["properties"]]:
        root["required"] = required
    if notes:
        said = root.get("description")
        root["description"] = " ".join([*([said] if isinstance(said, str) else []), *notes])
    return root


_Flat = tuple[dict[str, Any], list[str], list[str]]
"""Properties, those required, and what is to be said of them."""


def _flat(schema: Schema, root: Mapping[str, Any], seen: tuple[str, ...]) -> _Flat:
    if not isinstance(schema, Mapping):
        return {}, [], []
    own = schema.get("properties")
    properties = dict(own) if isinstance(own, Mapping) else {}
    required = [str(one) for one in schema.get("required", []) if isinstance(one, str)]
    notes: list[str] = []
    parts: list[_Flat] = []
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen and reference != "#":
        parts.append(_flat(pointed(root, reference), root, (*seen, reference)))
    for one in _list(schema.get("allOf")):
        parts.append(_flat(one, root, seen))
    for more, needed, said in parts:
        properties = _together(properties, more, "allOf")
        required += needed
        notes += said
    for union in _UNIONS:
        branches = [_flat(one, root, seen) for one in _list(schema.get(union))]
        if not branches:
            continue
        alternatives: dict[str, Any] = {}
        for more, _, said in branches:
            alternatives = _together(alternatives, more, "anyOf")
            notes += said
        properties = _together(properties, alternatives, "allOf")
        required += [one for one in branches[0][1] if all(one in each[1] for each in branches)]
        notes += _alternatives([needed or [*more] for more, needed, _ in branches])
    for conditional in ("then", "else"):
        more, _, _ = _flat(schema.get(conditional), root, seen)
        properties = {**more, **properties}
    return properties, list(dict.fromkeys(required)), notes


def _together(one: dict[str, Any], other: dict[str, Any], joined: str) -> dict[str, Any]:
    """Both; a name with two schemas has both of them (`allOf`) or either (`anyOf`)."""
    made = dict(one)
    for name, schema in other.items():
        held = made.get(name)
        if name not in made or held == {} or held is True:
            made[name] = schema
        elif held != schema and schema not in ({}, True):
            if isinstance(held, Mapping) and list(held) == [joined]:
                made[name] = {joined: [*held[joined], schema]}
            else:
                made[name] = {joined: [held, schema]}
    return made


def _alternatives(names: Sequence[Sequence[str]]) -> list[str]:
    told = [" and ".join(one) for one in dict.fromkeys(map(tuple, names)) if one]
    return [f"Give {', or '.join(told)}."] if len(told) > 1 else []


def _used(root: dict[str, Any]) -> dict[str, Any]:
    """The schema with those definitions alone that something refers to."""
    defined = root.get("$defs")
    if not isinstance(defined, Mapping):
        return root
    rest = {key: value for key, value in root.items() if key != "$defs"}
    reached = dict.fromkeys(name for name, _ in reach(rest, defined))
    if reached:
        rest["$defs"] = {name: defined[name] for name in defined if name in reached}
    return rest


def reach(root: Mapping[str, Any], defined: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Definitions that a schema needs, nearest first, and over how many references."""
    waiting, seen, distance = [*_referred(root)], set[str](), 1
    while waiting:
        following: list[str] = []
        for name in waiting:
            if name in seen or name not in defined:
                continue
            seen.add(name)
            yield name, distance
            following += _referred(defined[name])
        waiting, distance = following, distance + 1


def _referred(schema: Schema) -> Iterator[str]:
    for one in subschemas(schema):
        reference = one.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            yield pointer_steps(reference)[1]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
