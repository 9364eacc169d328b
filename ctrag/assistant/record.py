"""Sessions as files: one answered request or one decision a line, appended as it happens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ctrag.agents.session.events import Event
from ctrag.errors import InputError


class RecordedTurn(BaseModel):
    """One request of a session and what became of it."""

    model_config = ConfigDict(extra="forbid")
    person: str
    text: str
    asked_at: str
    items: list[str]
    tools: list[str]
    plan: str
    confidence: float
    status: str | None
    answer: str | None
    steps: list[dict[str, Any]]


def append_turn(path: Path, turn: RecordedTurn) -> None:
    """Add a turn at the end of a session file; the file and its folder are made when missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(turn.model_dump_json() + "\n")


def read_turns(path: Path) -> Iterator[RecordedTurn]:
    """The turns of a session file, in order; the events between them are passed over.

    Raises:
        ValueError: A line is no turn; the message names it.
    """
    return (one for one in read_session(path) if isinstance(one, RecordedTurn))


def read_session(path: Path) -> Iterator[RecordedTurn | Event]:
    """The turns and events of a session file, in order.

    Raises:
        ValueError: A line is neither; the message names it.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode("utf-8"))
                kind = Event if isinstance(value, dict) and "event" in value else RecordedTurn
                record = kind.model_validate(value)
            except (ValueError, RecursionError) as error:  # pydantic's and JSON's are ValueErrors
                reason = str(error).splitlines()[0]
                raise InputError(f"{path}:{number}: not a turn of a session: {reason}") from None
            yield record
