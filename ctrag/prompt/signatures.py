"""A tool in one line: what it takes to call it, a tenth of its document's tokens."""

import re
from collections.abc import Mapping
from typing import Any

_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
_KINDS = {"integer": "int", "number": "float", "boolean": "bool"}
_KEPT = ("type", "enum", "items", "properties", "required")
_CHOICES = 8
"""So many values of an argument are listed."""


def signature_line(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """`name(text, number: int, optional?): first sentence`; arguments are text where no kind is
    said."""
    required = parameters.get("required") or ()
    arguments = ", ".join(
        _argument(key, schema, key in required)
        for key, schema in (parameters.get("properties") or {}).items()
    )
    return f"{name}({arguments}): {first_sentence(description)}"


def first_sentence(text: str) -> str:
    """Up to the first full stop or line break."""
    return _SENTENCE.split(text.strip(), maxsplit=1)[0]


def bare_parameters(schema: Any) -> Any:
    """A JSON Schema without its descriptions: names, types, choices, what is required."""
    if not isinstance(schema, dict):
        return schema
    kept = {key: schema[key] for key in _KEPT if key in schema}
    if isinstance(kept.get("properties"), dict):
        kept["properties"] = {key: bare_parameters(one) for key, one in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = bare_parameters(kept["items"])
    return kept


def _argument(key: str, schema: Any, required: bool) -> str:
    kind = _kind(schema)
    return f"{key}{'' if required else '?'}{'' if kind == 'string' else f': {kind}'}"


def _kind(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "any"
    values = schema.get("enum")
    if isinstance(values, list) and values:
        more = "|..." if len(values) > _CHOICES else ""
        return "|".join(str(one) for one in values[:_CHOICES]) + more
    kind = schema.get("type", "any")
    if kind in ("array", "list"):
        return f"[{_kind(schema.get('items', {}))}]"
    fields = schema.get("properties")
    if isinstance(fields, dict) and fields:
        return "{" + ", ".join(f"{key}: {_kind(one)}" for key, one in fields.items()) + "}"
    return _KINDS.get(kind, kind) if isinstance(kind, str) else "any"
