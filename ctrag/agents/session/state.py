"""A session's state as JSON, to be stored outside the process and resumed.

It names tools without their definitions: on resuming, each name is resolved again, under the
access rules then in force.
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
    """A session's state without its last calls and searches, which soon expire."""

    model_config = ConfigDict(extra="forbid")
    id: str
    principal: str
    bound: list[BoundState] = []
    """In order of binding."""
    listed: list[str] = []
    """A cache-stable list, withdrawn tools included, in order."""
    evicted: list[str] = []
    """Tools that the guard evicted."""
    known: list[str] = []
    """Every tool that was ever bound, so that names keep their meaning."""
