"""Parts of a document that may be of any type: what is not of the right one is empty."""

from collections.abc import Collection, Mapping
from typing import Any


def as_map(value: Any) -> Mapping[str, Any]:
    """A mapping, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """A text or number as text, or an empty one."""
    return str(value) if isinstance(value, str | int | float) else ""


def without_properties(schema: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """A schema without these properties, nor do they have to be given."""
    made = dict(schema)
    made["properties"] = {
        name: one for name, one in as_map(schema.get("properties")).items() if name not in names
    }
    if "required" in schema:
        made["required"] = [one for one in as_list(schema["required"]) if one not in names]
    return made
