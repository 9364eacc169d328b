"""One turn of a conversation on a page, and what is asked in it before an act."""

import threading
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctrag.assistant.answer import Answer

PATIENCE = 900.0
"""Seconds after which a question before an act counts as declined."""


@dataclass(slots=True)
class Confirmation:
    """What is asked before an act: its exact text, and whom it reaches."""

    text: str
    doubt: str = ""
    """Why it may not be what was meant; empty where it surely is."""
    strangers: tuple[str, ...] = ()
    """Recipients that are no contacts."""
    agreed: bool | None = None
    _decided: threading.Event = field(default_factory=threading.Event)

    def decide(self, agreed: bool) -> None:
        """Answer it, once."""
        if self.agreed is None:
            self.agreed = agreed
        self._decided.set()

    def wait(self, patience: float = PATIENCE) -> bool:
        """The answer; no when none comes."""
        self._decided.wait(patience)
        self.decide(False)
        return bool(self.agreed)


@dataclass(slots=True)
class Turn:
    """What was said, and what became of it."""

    number: int
    """From 1."""
    text: str
    place: str | None = None
    at: datetime | None = None
    answer: "Answer | None" = None
    error: str = ""
    confirmations: list[Confirmation] = field(default_factory=list)
    seconds: float = 0.0
    """How long it took, without waiting for the person."""
    working: bool = True
    steps: list[str] = field(default_factory=list)
    """Names of the steps that have begun, while it is worked on."""
    note: str = ""
    """What an undo said of it."""

    @property
    def asking(self) -> Confirmation | None:
        """The confirmation that is waited for."""
        last = self.confirmations[-1] if self.confirmations else None
        return last if last is not None and last.agreed is None else None

    @property
    def changes(self) -> tuple[int, ...]:
        """Ids of what it changed."""
        parts = () if self.answer is None else self.answer.parts
        results = [one.result for one in parts]
        return tuple(
            one.change.change_id for one in results if one is not None and one.change is not None
        )
