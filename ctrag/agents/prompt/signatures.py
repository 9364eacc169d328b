"""A tool in one line: enough to call it, at a tenth of its document's tokens."""

import re
from collections.abc import Mapping
from typing import Any

_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
_KINDS = {"integer": "int", "number": "float", "boolean": "bool"}
_KEPT = ("type", "enum", "const", "$ref", "required")
_SCHEMAS = ("items", "additionalProperties")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions")
_DEEPEST = 4
"""Depth to which nested references are followed."""
_CHOICES = 8
"""Values of an argument that are listed."""


def signature_line(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """`name(text, number: int, optional?): first sentence`; arguments are text unless a type is
    given."""
    required = parameters.get("required") or ()
    arguments = ", ".join(
        _argument(key, _kind(schema, parameters), key in required)
        for key, schema in (parameters.get("properties") or {}).items()
    )
    return f"{name}({arguments}): {first_sentence(description)}"


def first_sentence(text: str) -> str:
    """Up to the first full stop or line break."""
    return _SENTENCE.split(text.strip(), maxsplit=1)[0]


def bare_parameters(schema: Any) -> Any:
    """A JSON Schema without its descriptions: names, types, enums, references with their
    definitions, and required fields."""
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, value in schema.items():
        if key in _KEPT:
            kept[key] = value
        elif key in _SCHEMAS and isinstance(value, dict):
            kept[key] = bare_parameters(value)
        elif key in _LISTED and isinstance(value, list):
            kept[key] = [bare_parameters(one) for one in value]
        elif key in _NAMED and isinstance(value, dict):
            kept[key] = {name: bare_parameters(one) for name, one in value.items()}
    return kept


def _argument(key: str, kind: str, required: bool) -> str:
    return f"{key}{'' if required else '?'}{'' if kind == 'string' else f': {kind}'}"


def _kind(schema: Any, root: Mapping[str, Any], depth: int = 0) -> str:
    """A schema's type in short, following references from the root."""
    if not isinstance(schema, dict):
        return "any"
    if isinstance(schema.get("$ref"), str):
        return (
            _kind(_referred(schema["$ref"], root), root, depth + 1) if depth < _DEEPEST else "any"
        )
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list) and values:
        more = "|..." if len(values) > _CHOICES else ""
        return "|".join(str(one) for one in values[:_CHOICES]) + more
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            kinds = dict.fromkeys(_kind(one, root, depth) for one in schema[key])
            return ("&" if key == "allOf" else "|").join(kinds)
    kind = schema.get("type", "any")
    if kind in ("array", "list"):
        return f"[{_kind(schema.get('items', {}), root, depth)}]"
    fields = schema.get("properties")
    if isinstance(fields, dict) and fields:
        inside = (f"{key}: {_kind(one, root, depth)}" for key, one in fields.items())
        return "{" + ", ".join(inside) + "}"
    return _KINDS.get(kind, kind) if isinstance(kind, str) else "any"


def _referred(reference: str, root: Mapping[str, Any]) -> Any:
    """Resolve a reference within the schema (`#/$defs/Address`); None for others."""
    if not reference.startswith("#/"):
        return None
    found: Any = root
    for part in reference[2:].split("/"):
        found = found.get(part) if isinstance(found, dict) else None
    return found
