"""What was put into each prompt and why, one JSON line a build, a discovery or a miss."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Sink = Callable[[Mapping[str, Any]], None]
"""Takes one record."""


def to_file(path: Path) -> Sink:
    """A sink that appends to a file, a line a record; its folder is made when missing."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def write(record: Mapping[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    return write


def nowhere(_: Mapping[str, Any]) -> None:
    """A sink that keeps nothing."""
