"""What a tool session answers."""

from dataclasses import dataclass
from typing import Literal

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.history import Message
from ctrag.errors import ToolRefused as ToolRefused

Reason = Literal["not_surfaced", "evicted", "not_allowed"]


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What a search left in the session."""

    tools: tuple[CatalogueTool, ...]
    """Those of the results that may be called now, best first."""
    added: tuple[str, ...]
    evicted: tuple[str, ...]
    left_out: tuple[str, ...]
    """Results that there was no room for."""
    note: str | None
    """To stand at the end of the answer: these tools were found before."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a call led to."""

    note: str | None = None
    """To stand at the end of the tool's result."""
    loop_detected: bool = False
    """The model should think before it calls another tool."""
    evicted: str | None = None


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """What goes to the model, in tokens by the session's counter."""

    tools: int
    messages: int
    output: int
    """Kept free for the answer."""
    window: int
    by_characters: int
    """Tools and messages at four characters a token, whatever the counter."""

    @property
    def left(self) -> int:
        """What is free beside all that; negative if too much is asked."""
        return self.window - self.tools - self.messages - self.output


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """What to give to the model."""

    messages: list[Message]
    tools: tuple[CatalogueTool, ...]
    estimate: TokenEstimate
    dropped: int
    """Messages left out."""
    shortened: int
    """Messages whose tool results were cut."""

    @property
    def fits(self) -> bool:
        """Whether tools, messages and answer are within the window."""
        return self.estimate.left >= 0
