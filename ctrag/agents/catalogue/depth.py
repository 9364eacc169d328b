"""Schemas that are nested without end: what is too deep becomes a schema that takes anything."""

from collections.abc import Mapping
from typing import Any

DEEPEST = 100
"""Objects and lists inside each other at most: some 50 levels of arguments."""


def shallow(value: Any, levels: int = DEEPEST) -> Any:
    """The value, where it is not nested deeper than that; else a copy with `{}` and `[]` there."""
    return _cut(value, levels) if _deeper(value, levels) else value


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, Mapping | list | tuple):
        return False
    if levels == 0:
        return bool(value)
    inner = value.values() if isinstance(value, Mapping) else value
    return any(_deeper(one, levels - 1) for one in inner)


def _cut(value: Any, levels: int) -> Any:
    if isinstance(value, Mapping):
        return {key: _cut(one, levels - 1) for key, one in value.items()} if levels else {}
    if isinstance(value, list | tuple):
        return [_cut(one, levels - 1) for one in value] if levels else []
    return value
