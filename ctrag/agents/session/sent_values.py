"""Values as models send them: objects as texts, in fences, in other notations."""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from ctrag.errors import InputError

WRAPPERS = (
    "arguments args parameters params input tool_input toolInput tool_arguments tool_args kwargs"
).split()
"""Names under which a whole set of arguments is sent."""
_FENCE = re.compile(r"^```\w*\s*|(?<!\s)\s*```$")
_EMPTY = frozenset({"", "null", "none", "undefined"})


def pair(value: Any) -> tuple[str, Any] | None:
    """Name and value of an argument that is written as an object with both."""
    if not isinstance(value, Mapping) or len(value) != 2 or "value" not in value:
        return None
    name = value.get("name", value.get("key"))
    return (name, value["value"]) if isinstance(name, str) else None


def text_of(value: Any) -> str:
    """A value as one line of text; empty where it is none."""
    if isinstance(value, str):
        return "" if value.strip().lower() in _EMPTY else value.strip()
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(text_of, value)))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def object_of(value: Any) -> dict[str, Any]:
    """Arguments as an object.

    Raises:
        ValueError: They are none.
    """
    read = parsed(value)
    if isinstance(read, str):
        text = _FENCE.sub("", read.strip()).strip()
        read = None if text.lower() in _EMPTY else _loosely(text) if text[0] == "{" else read
    if isinstance(read, list) and len(read) < 2:
        read = read[0] if read else None
    if isinstance(read, list) and all(pairs := [pair(one) for one in read]):
        read = dict(one for one in pairs if one is not None)
    if read is None:
        return {}
    if isinstance(read, Mapping):
        return {str(name): one for name, one in read.items()}
    raise InputError(
        "arguments: must be an object as the tool's input_schema says, such as "
        f'{{"name": "value"}}, not {str(value)[:60]!r}'
    )


def _loosely(text: str) -> Any:
    """An object with bare keys, as JavaScript writes it; the text itself if it is none."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def parsed(value: Any) -> Any:
    """What a JSON text says, also in quotes, fences or Python's notation; others unchanged."""
    for _ in range(3):
        if not isinstance(value, str):
            return value
        text = _FENCE.sub("", value.strip())
        if not text or text[0] not in "{[\"'":
            return value
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            try:
                value = ast.literal_eval(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                return value
    return value
