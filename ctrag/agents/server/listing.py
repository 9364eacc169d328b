"""Lists of tools in other forms than the protocol's, as the lists that they are meant to be."""

from collections.abc import Mapping
from typing import Any

from ctrag.agents.server.messages import as_text

_SCHEMAS = ("inputSchema", "input_schema", "parameters", "inputschema", "schema")
"""Names under which a tool's arguments are listed; the first is the protocol's."""


def mended_list(result: dict[str, Any]) -> None:
    """Put the usable form of a page of `tools/list` in its place.

    Entries that are no tools stay: they are left out, with the reason, where each is checked.
    """
    given = result.get("tools", result.get("content"))
    if isinstance(given, Mapping):
        given = [
            {"name": name, **one} if isinstance(one, Mapping) else one
            for name, one in given.items()
        ]
    result["tools"] = [_entry(one) for one in given] if isinstance(given, list) else []
    cursor = result.get("nextCursor")
    if cursor is None or not isinstance(cursor, str | int):
        result.pop("nextCursor", None)
    else:
        result["nextCursor"] = str(cursor)


def _entry(value: Any) -> Any:
    """A tool's entry, out of the wrapper of a model API, with its fields under their names."""
    if not isinstance(value, dict):
        return value
    inner = value.get("function")
    entry = {**value, **inner} if isinstance(inner, dict) and "name" in inner else dict(value)
    said = entry.get("description")
    if isinstance(said, Mapping):  # by language
        said = next((said[one] for one in ("en", "en-US", "default", *said) if one in said), "")
    if isinstance(said, list):
        said = "\n".join(map(as_text, said))
    if "description" in entry:
        entry["description"] = said
    if entry.get("inputSchema") is None:
        schema = next((entry[one] for one in _SCHEMAS if isinstance(entry.get(one), dict)), None)
        if schema is not None:
            entry["inputSchema"] = schema
    return entry
