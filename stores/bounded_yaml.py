"""YAML of others, read only where it is no bomb: nested so deep, or by its aliases so large, that
reading it or writing it out would take all memory."""

from typing import Any

import yaml

from stores.errors import InputError

DEEPEST = 100
"""Collections inside each other at most."""
MOST_VALUES = 1_000_000
"""Values at most, those that an alias repeats counted again."""


def load_yaml(text: str | bytes, loader: Any = None) -> Any:
    """The value of a document.

    Args:
        text: YAML.
        loader: A safe loader class; PyYAML's own, in C where there is one, when None.

    Raises:
        InputError: It is nested too deep or stands for too many values.
        yaml.YAMLError: It is no YAML.
    """
    check_bounds(text)
    return yaml.load(text, Loader=loader or _C_LOADER)


_C_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def check_bounds(text: str | bytes) -> None:
    """Raise as `load_yaml` does, by the document's events alone, of which nothing is kept."""
    sizes: list[int] = [0]
    names: list[str | None] = []
    known: dict[str, int] = {}
    for event in yaml.parse(text, Loader=_C_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            sizes.append(1)
            names.append(event.anchor)
            if len(names) > DEEPEST:
                raise InputError(f"nested deeper than {DEEPEST} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            size, name = sizes.pop(), names.pop()
            sizes[-1] += size
            if name is not None:
                known[name] = size
        elif isinstance(event, yaml.AliasEvent):
            anchor = str(event.anchor)
            if anchor in names:
                raise InputError(f"the alias {anchor[:40]!r} holds itself")
            sizes[-1] += known.get(anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            sizes[-1] += 1
            if event.anchor is not None:
                # A long text that is repeated counts by its length, too.
                known[event.anchor] = 1 + len(event.value) // 64
        if sizes[-1] > MOST_VALUES:
            raise InputError(f"stands for more than {MOST_VALUES:,} values, aliases counted")
