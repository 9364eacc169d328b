"""Reading what gateways and sessions recorded: events by session, and the tools there were.

A line that is damaged or of another kind costs itself alone and is counted.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from ctrag.agents.catalogue.tool import CatalogueTool, tools_from
from ctrag.agents.session import events
from ctrag.agents.session.events import Event
from ctrag.errors import InputError, NotFound

DAMAGED, FOREIGN, COPIED = "damaged lines", "lines that are no events", "copies of lines"
BAD_TOOL = "tools without a usable definition"
_OPENED = "ctrag.session.open"
_AN_EVENT = re.compile(rb'(?<!\\)"event"\s*:\s*"ctrag\.')
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Recording:
    """What was read."""

    sessions: dict[str, list[Event]] = field(default_factory=dict)
    """Each session's events in order of time; a session that is opened again is another one."""
    tools: dict[str, CatalogueTool] = field(default_factory=dict)
    """By id, as they were last recorded; empty where the record does not define them."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Lines and definitions that could not be used, by reason."""
    first: str = ""
    """Place and reason of the first line that could not be used."""

    def leave_out(self, reason: str, place: str, why: str) -> None:
        """Count one line, or one definition, that cannot be used."""
        self.left_out[reason] += 1
        self.first = self.first or f"{place}: {why}"


def is_recording(path: Path) -> bool:
    """Whether a file, or a file of a folder, holds events of sessions."""
    return any(_AN_EVENT.search(one.read_bytes()) for one in recorded_files(path))


def recorded_files(path: Path) -> list[Path]:
    """The file, or all `.jsonl` files of a folder, by name."""
    if path.is_dir():
        return sorted(one for one in path.glob("*.jsonl") if one.is_file())
    return [path] if path.is_file() else []


def read_recordings(paths: Sequence[Path]) -> Recording:
    """The sessions of `--record` files and of folders of them.

    Raises:
        FileNotFoundError: There is no such file or folder.
        ValueError: Nothing in them is an event.
    """
    found = Recording()
    lines: set[bytes] = set()
    parts: dict[str, list[tuple[float, Event]]] = {}
    for path in paths:
        if not path.exists():
            raise NotFound(2, "no such recording", str(path))
        for file in recorded_files(path):
            for event in _events(file, lines, found):
                name = event.session or file.name
                parts.setdefault(name, []).append((event.at, event))
    if not parts:
        named = ", ".join(map(str, paths))
        why = f"; first: {found.first}" if found.first else ""
        raise InputError(f"{named}: holds no event of a session{why}")
    for name, rows in parts.items():
        rows.sort(key=lambda row: row[0])  # stable: of one moment, in the order of the file
        for number, one in enumerate(_opened([event for _, event in rows])):
            found.sessions[f"{name}.{number}" if number else name] = one
            for event in one:
                _define(event, found)
    return found


def _events(file: Path, seen: set[bytes], found: Recording) -> Iterator[Event]:
    for number, line in enumerate(file.read_bytes().removeprefix(_BOM).split(b"\n"), 1):
        line = line.strip()
        if not line:
            continue
        place = f"{file.name}:{number}"
        if line in seen:
            found.leave_out(COPIED, place, "stands there already")
            continue
        seen.add(line)
        try:
            value = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            found.leave_out(DAMAGED, place, str(error).splitlines()[0])
            continue
        if not isinstance(value, dict) or "event" not in value:
            found.leave_out(FOREIGN, place, "is no event of a session")
            continue
        try:
            yield Event.model_validate(value)
        except (ValidationError, RecursionError) as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "too deep"
            found.leave_out(FOREIGN, place, why)


def _opened(rows: Sequence[Event]) -> list[list[Event]]:
    """The events of one name, a session each: sessions without a name share one."""
    parts: list[list[Event]] = [[]]
    for event in rows:
        if event.event == _OPENED and parts[-1]:
            parts.append([])
        parts[-1].append(event)
    return parts


def _define(event: Event, found: Recording) -> None:
    rows = event.attributes.get(events.DEFINITIONS)
    if rows is None:
        return
    for row in rows if isinstance(rows, list) else [rows]:
        try:
            tool = tools_from([row], f"session {event.session}")[0]
        except (ValueError, RecursionError) as error:
            found.leave_out(BAD_TOOL, event.session, str(error).splitlines()[0])
        else:
            found.tools[tool.id] = tool
