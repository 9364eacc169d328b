"""A session's state as JSON, to be kept outside the process and taken up again.

It names tools and never defines them: whoever resumes resolves each name anew, under the access
rules of that moment.
"""

from pydantic import BaseModel, ConfigDict, FiniteFloat


class BoundState(BaseModel):
    """One bound tool."""

    model_config = ConfigDict(extra="forbid")
    tool: str
    first_seen: FiniteFloat
    last_used: FiniteFloat
    order: int
    uses: int = 0
    pinned: bool = False


class SessionState(BaseModel):
    """What a session remembers, short of its last calls and searches, which are soon old."""

    model_config = ConfigDict(extra="forbid")
    id: str
    principal: str
    bound: list[BoundState] = []
    """As they were bound."""
    listed: list[str] = []
    """A cache-stable list, withdrawn tools included, in order."""
    evicted: list[str] = []
    """Tools that the guard took away."""
