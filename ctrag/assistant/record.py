"""Sessions as files: one answered request a line, appended as it happens."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from stores.files import append_private, make_private_folder


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
    """Add a turn at the end of a session file; the file and its folder are made when missing, the
    file for its owner alone."""
    make_private_folder(path.parent)
    append_private(path, turn.model_dump_json() + "\n")
