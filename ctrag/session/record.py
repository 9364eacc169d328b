"""Sessions as files: one answered request a line, appended as it happens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict


class Turn(BaseModel):
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


def append_turn(path: Path, turn: Turn) -> None:
    """Add a turn at the end of a session file; the file and its folder are made when missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(turn.model_dump_json() + "\n")


def read_turns(path: Path) -> Iterator[Turn]:
    """The turns of a session file, in order.

    Raises:
        ValueError: A line is no turn; the message names it.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                turn = Turn.model_validate(json.loads(line.decode("utf-8")))
            except (ValueError, RecursionError) as error:  # pydantic's and JSON's are ValueErrors
                reason = str(error).splitlines()[0]
                raise ValueError(f"{path}:{number}: not a turn of a session: {reason}") from None
            yield turn
