"""Results of a tool session."""

from dataclasses import dataclass
from typing import Literal

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.history import Message
from ctrag.errors import ToolRefused as ToolRefused

Reason = Literal["not_surfaced", "evicted", "not_allowed"]


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Effect of a search on the session."""

    tools: tuple[CatalogueTool, ...]
    """The results that may be called now, best first."""
    added: tuple[str, ...]
    evicted: tuple[str, ...]
    left_out: tuple[str, ...]
    """Results that there was no room for."""
    note: str | None
    """To be appended to the answer: these tools were found before."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Effect of a call on the session."""

    note: str | None = None
    """To be appended to the tool's result."""
    loop_detected: bool = False
    """The model should think before it calls another tool."""
    evicted: str | None = None


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Size of the model's input, in tokens by the session's counter."""

    tools: int
    messages: int
    output: int
    """Reserved for the answer."""
    window: int
    by_characters: int
    """Tools and messages at four characters per token, regardless of the counter."""

    @property
    def left(self) -> int:
        """What remains of the window; negative if it is exceeded."""
        return self.window - self.tools - self.messages - self.output


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """Input for the model."""

    messages: list[Message]
    tools: tuple[CatalogueTool, ...]
    estimate: TokenEstimate
    dropped: int
    """Messages left out."""
    shortened: int
    """Messages whose tool results were cut."""

    @property
    def fits(self) -> bool:
        """Whether tools, messages and answer fit the window."""
        return self.estimate.left >= 0
