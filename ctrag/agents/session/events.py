"""Decisions as structured events, named as OpenTelemetry names them.

Attributes come from the `gen_ai` semantic conventions where these have a name; all others begin
with `ctrag.`. A sink is any callable that takes an `Event`.
"""

import math
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat, JsonValue

from stores.files import append_private

OPERATION = "gen_ai.operation.name"
CONVERSATION = "gen_ai.conversation.id"
TOOL = "gen_ai.tool.name"
ARGUMENTS = "gen_ai.tool.call.arguments"
QUERY = "gen_ai.retrieval.query.text"
DOCUMENTS = "gen_ai.retrieval.documents"
ERROR = "error.type"
REASON = "ctrag.reason"
LISTED_TOKENS = "ctrag.tokens.listed"
"""Of all tools that the caller might find, had they been listed."""
CATALOGUE = "ctrag.catalogue"
"""Tokens of every tool's definition by its id, where a session first has these tools: as it opens,
or in an event `ctrag.catalogue` before its search."""
DEFINITIONS = "ctrag.definitions"
"""Their definitions, a list as in a catalogue file; only for files: what learns from a record needs
no other catalogue then."""
STEP = "ctrag.search."
"""Prefix of the names of a search's steps."""
READINGS = STEP + "readings"
CONTENT = frozenset({ARGUMENTS, QUERY, READINGS})
"""Attributes with user content, which the conventions make opt-in."""

EventName = Literal[
    "ctrag.session.open",
    "ctrag.session.resume",
    "ctrag.session.close",
    "ctrag.catalogue",
    "ctrag.search",
    "ctrag.search.redundant",
    "ctrag.tool.bind",
    "ctrag.tool.evict",
    "ctrag.tool.left_out",
    "ctrag.tool.pin",
    "ctrag.tool.unpin",
    "ctrag.tool.call",
    "ctrag.tool.refuse",
    "ctrag.guard.loop",
    "ctrag.guard.clear",
    "ctrag.context.estimate",
    "ctrag.context.truncate",
    "ctrag.context.rebuild",
]


class Event(BaseModel):
    """One decision or operation of a session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    event: EventName
    at: FiniteFloat
    """Seconds since 1970, by the session's clock."""
    session: str = ""
    """The session's id; never its handle, which is a secret."""
    attributes: dict[str, JsonValue] = {}
    seconds: FiniteFloat | None = None
    """Duration of an operation; None for a decision."""


def number_in(value: object) -> float | None:
    """A finite number that an attribute of a file's event holds, or None: JSON of others has texts,
    `Infinity` and whole numbers of a thousand digits in such places."""
    try:
        found = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


EventSink = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Discard the event."""


def together(*sinks: EventSink) -> EventSink:
    """A sink that passes each event to several, in order."""

    def record(event: Event) -> None:
        for sink in sinks:
            sink(event)

    return record


def without_definitions(attributes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The attributes without the tools' definitions."""
    return {name: value for name, value in attributes.items() if name != DEFINITIONS}


def without_content(attributes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The attributes without user content."""
    return {name: value for name, value in attributes.items() if name not in CONTENT}


class JsonLines:
    """A sink that appends each event to a file, one a line; `ctrag session show` reads it.

    Args:
        path: The file; it and its folder are created when missing, the file for its owner alone.
        content: Whether queries and arguments are written too.
    """

    def __init__(self, path: Path | str, *, content: bool = True) -> None:
        self._path = Path(path)
        self._content = content
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Append one line; safe for several threads.

        Raises:
            OSError: The file cannot be written.
        """
        if not self._content:
            kept = without_content(event.attributes)
            event = event.model_copy(update={"attributes": kept})
        line = event.model_dump_json(exclude_none=True) + "\n"
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            append_private(self._path, line)
