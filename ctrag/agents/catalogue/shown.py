"""How much of a tool's definition a model is shown; what is searched and called is the whole."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ctrag.agents.catalogue.schema_walk import mapped, pointed
from ctrag.agents.catalogue.schemas import reach, wire_schema, with_items
from ctrag.errors import InputError

CUT = " […]"
_VALUES = 20
"""Values that stay of an enumeration that is too long."""
_ENOUGH = 40
"""Values of an enumeration that is shown whole."""


@dataclass(frozen=True, slots=True)
class ShownLimits:
    """Characters of a definition that a model is shown; None for no limit."""

    description: int | None = 6_000
    """Of a tool's description."""
    argument: int | None = 2_000
    """Of the description of one argument."""
    schema: int | None = 12_000
    """Of the schema as JSON. A longer one loses, until it fits: long texts, the middle of long
    enumerations, what is nested deep, optional arguments."""

    def __post_init__(self) -> None:
        for name in ("description", "argument", "schema"):
            value = getattr(self, name)
            if value is not None and value < 100:
                raise InputError(f"{name}: must be at least 100 characters or null, not {value}")


EVERYTHING = ShownLimits(None, None, None)


def cut_text(text: str, limit: int | None) -> str:
    """A text of at most `limit` characters, with a mark where something is missing."""
    return text if limit is None or len(text) <= limit else text[: limit - len(CUT)] + CUT


def shown_schema(
    parameters: Mapping[str, Any], limits: ShownLimits | None = None
) -> tuple[dict[str, Any], bool]:
    """The arguments' schema as a model is shown it, and whether something is missing."""
    limits = limits or ShownLimits()
    whole = wire_schema(parameters)
    schema = _with_texts(whole, limits.argument)
    if limits.schema is None or _size(schema) <= limits.schema:
        return schema, schema != whole
    steps: list[Callable[[dict[str, Any]], dict[str, Any]]] = [
        lambda one: _with_values(one, _ENOUGH),
        lambda one: _with_texts(one, 300),
        lambda one: _with_texts(one, 100),
        lambda one: _with_texts(one, 50),
        *(_near(distance) for distance in (3, 2, 1)),
        *(_shallow(depth) for depth in (3, 2, 1)),
        _without_optional_texts,
        lambda one: _with_arguments(one, limits.schema or 0),
    ]
    if _size(schema) > 8 * limits.schema:  # what is so far away will not stay anyway
        schema = _near(5)(schema)
    for step in steps:
        schema = step(schema)
        if _size(schema) <= limits.schema:
            break
    return _without_lost(schema), True


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _with_texts(schema: dict[str, Any], limit: int | None) -> dict[str, Any]:
    def visit(one: Any) -> Any:
        if not isinstance(one, Mapping):
            return one
        made = mapped(one, visit)
        for key in ("description", "title", "$comment"):
            if isinstance(made.get(key), str):
                made[key] = cut_text(made[key], limit)
        return made

    made: dict[str, Any] = visit(schema)
    return made


def _with_values(schema: dict[str, Any], most: int) -> dict[str, Any]:
    """Long enumerations as examples: a model may give a value that is not among those shown."""

    def visit(one: Any) -> Any:
        if not isinstance(one, Mapping):
            return one
        made = mapped(one, visit)
        made.pop("examples", None)
        values = made.get("enum")
        if isinstance(values, list) and len(values) > most:
            del made["enum"]
            told = ", ".join(map(str, values[:_VALUES]))
            text = f"One of {len(values):,} values, such as {cut_text(told, 300)}."
            made["description"] = " ".join(filter(None, [_text(made.get("description")), text]))
            if "type" not in made and all(isinstance(value, str) for value in values):
                made["type"] = "string"
        return made

    made: dict[str, Any] = visit(schema)
    return made


def _without_lost(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without references to what was cut from it."""

    def visit(one: Any) -> Any:
        if not isinstance(one, Mapping):
            return one
        made = mapped(one, visit)
        reference = made.get("$ref")
        if isinstance(reference, str) and pointed(schema, reference) is None:
            del made["$ref"]
        return made

    made: dict[str, Any] = visit(schema)
    return made


def _near(distance: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Keeps definitions over fewer than `distance` references; the others allow any object."""

    def step(schema: dict[str, Any]) -> dict[str, Any]:
        defined = schema.get("$defs")
        if not isinstance(defined, Mapping):
            return schema
        rest = {key: value for key, value in schema.items() if key != "$defs"}
        far = dict(reach(rest, defined))
        kept = {
            name: one if far[name] < distance else _stub(one)
            for name, one in defined.items()
            if name in far
        }
        again = {name for name, _ in reach(rest, kept)}
        return {**rest, "$defs": {name: one for name, one in kept.items() if name in again}}

    return step


def _shallow(depth: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Keeps what is at most `depth` levels inside the root or a definition."""

    def cut(one: Any, left: int) -> Any:
        if not isinstance(one, Mapping):
            return one
        if left == 0:
            return one if "$ref" in one else _stub(one)
        return mapped(one, lambda inner: cut(inner, left - 1))

    def step(schema: dict[str, Any]) -> dict[str, Any]:
        defined = schema.get("$defs")
        rest = {key: value for key, value in schema.items() if key != "$defs"}
        made: dict[str, Any] = cut(rest, depth)
        if isinstance(defined, Mapping):
            kept = {name: cut(one, depth) for name, one in defined.items()}
            again = {name for name, _ in reach(made, kept)}
            if again:
                made["$defs"] = {name: one for name, one in kept.items() if name in again}
        return made

    return step


def _stub(schema: Any) -> Any:
    """A schema's type and first words alone."""
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: schema[key] for key in ("type", "enum", "const", "format") if key in schema}
    if isinstance(kept.get("enum"), list) and len(kept["enum"]) > _VALUES:
        del kept["enum"]
    if text := _text(schema.get("description")):
        kept["description"] = cut_text(text, 100)
    return with_items(kept)


def _without_optional_texts(schema: dict[str, Any]) -> dict[str, Any]:
    required = schema.get("required", [])
    kept = {
        name: one
        if name in required or not isinstance(one, Mapping)
        else {key: value for key, value in one.items() if key != "description"}
        for name, one in schema["properties"].items()
    }
    return {**schema, "properties": kept}


def _with_arguments(schema: dict[str, Any], limit: int) -> dict[str, Any]:
    """The arguments that fit, required ones first; others are named while there is room."""
    required = [one for one in schema.get("required", []) if one in schema["properties"]]
    order = dict.fromkeys([*required, *schema["properties"]])
    made = {key: value for key, value in schema.items() if key not in ("$defs", "properties")}
    if _size(made) > limit // 4:
        made = {"type": "object", "required": required[:50]}
    spent, kept, left = _size(made), dict[str, Any](), list[str]()
    for name in order:
        one = _stub(schema["properties"][name])
        cost = _size({name: one}) + 1
        if spent + cost <= limit * 3 // 4:
            spent, kept[name] = spent + cost, one
        else:
            left.append(name)
    said = _text(made.get("description"))
    more = f"{len(left)} further arguments: {', '.join(left)}"
    text = cut_text(more, max(100, limit - spent - len(said) - 100))
    return {**made, "properties": kept, "description": " ".join(filter(None, [said, text]))}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
