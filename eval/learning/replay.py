"""An agent from a script, searching and calling through a real session.

It searches with the request. When it lacks a tool that its task calls next, it searches for what
that tool does, in the words of the tool's own description: it knows its need, and search is at its
best, so that every search that learning saves is one that even a good search would have cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import Demonstration
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.session.events import EventSink, ignore
from ctrag.agents.session.next_tools import offered_next
from ctrag.agents.session.tool_session import ToolSession


@dataclass(frozen=True, slots=True)
class Played:
    """What one task came to."""

    searches: int
    first: bool
    """Whether the first search's best tool is the one that the task calls first."""
    ready: float
    """Share of its calls whose tool the session had by then, without another search."""
    bound: int
    """Tools that the session was given in all."""
    offered: int
    """Of these, without a search."""
    offered_used: int
    """Of these, called."""
    reached: float
    """Share of its calls that were made."""


class Replay:
    """Plays tasks against one index."""

    def __init__(self, index: ToolIndex, most_next: int, limit: int) -> None:
        """Make it.

        Args:
            index: With its next-tool model, or without one.
            most_next: Tools at most that are offered after a call.
            limit: Tools at most that a search gives.
        """
        self._index, self._next, self._limit = index, most_next, limit
        self._tools = {tool.id: tool for tool in index.tools}

    def play(
        self, task: Demonstration, record: EventSink = ignore, clock: Callable[[], float] = float
    ) -> Played:
        """One task in a session of its own."""
        session = ToolSession(task.id, record=record, clock=clock)
        searches, ready, made = 1, 0, 0
        best = self._search(session, task.text)
        offered: set[str] = set()
        for tool_id in task.tools:
            if session.manager.active(tool_id) is None:
                searches += 1
                self._search(session, _need(self._tools[tool_id]))
            else:
                ready += 1
            if session.manager.active(tool_id) is None:
                continue
            session.finished(tool_id, {"call": made})
            made += 1
            more = offered_next(self._index, session, None, self._next)
            offered |= {one.id for one in more}
        session.closed("done")
        count = len(task.tools)
        return Played(
            searches,
            best == task.tools[0],
            ready / count,
            len(session.known),
            len(offered),
            len(offered & set(task.tools)),
            made / count,
        )

    def _search(self, session: ToolSession, text: str) -> str:
        """Search and bind; the id of the best hit, empty where there is none."""
        given = self._index.give(text, self._limit, history=session.history)
        hits = [hit.tool for hit in given.hits.values()]
        session.found(text, hits)
        return hits[0].id if hits else ""


def summary(played: Sequence[Played]) -> dict[str, float]:
    """Means over tasks; shares in percent."""
    return {
        "searches": round(fmean(one.searches for one in played), 3),
        "first": round(100 * fmean(one.first for one in played), 2),
        "ready": round(100 * fmean(one.ready for one in played), 2),
        "bound": round(fmean(one.bound for one in played), 2),
        "offered": round(fmean(one.offered for one in played), 2),
        "offered_used": round(
            100
            * sum(one.offered_used for one in played)
            / max(sum(one.offered for one in played), 1),
            2,
        ),
        "reached": round(100 * fmean(one.reached for one in played), 2),
    }


def _need(tool: CatalogueTool) -> str:
    """What an agent would say that lacks this tool."""
    return tool.description or tool.name.replace("_", " ")
