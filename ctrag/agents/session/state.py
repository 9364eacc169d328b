"""A session's state as JSON, to be stored outside the process and resumed.

It names tools without their definitions: on resuming, each name is resolved again, under the
access rules then in force.
"""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict, FiniteFloat

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.bound import BoundTool


class BoundState(BaseModel):
    """One bound tool."""

    model_config = ConfigDict(extra="forbid")
    tool: str
    first_seen: FiniteFloat
    last_used: FiniteFloat
    order: int
    uses: int = 0
    pinned: bool = False

    @classmethod
    def of(cls, bound: BoundTool) -> "BoundState":
        """The state of a bound tool."""
        return cls(
            tool=bound.tool.id,
            first_seen=bound.first_seen,
            last_used=bound.last_used,
            order=bound.order,
            uses=bound.uses,
            pinned=bound.pinned,
        )


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

    def entries(self, known: Mapping[str, CatalogueTool]) -> Iterable[BoundTool]:
        """The bound tools among those that are still known, by id."""
        for one in self.bound:
            if one.tool in known:
                yield BoundTool(
                    known[one.tool],
                    one.first_seen,
                    one.last_used,
                    one.order,
                    one.uses,
                    one.pinned,
                )
