"""Tools that usually come next after the calls of a session."""

from collections.abc import Container, Sequence

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.session.tool_session import ToolSession

LEAST = 0.2
"""Least probability of a tool that is offered: that nothing comes next counts among them."""


def offered_next(
    index: ToolIndex,
    session: ToolSession,
    who: Principal | str | None,
    most: int,
    query: str = "",
    among: Container[str] | None = None,
) -> Sequence[CatalogueTool]:
    """Bind the tools that usually come next, and return those that the session did not have.

    Args:
        index: With its next-tool model; without one nothing is offered.
        session: Its calls are the history; there must be room for what is offered.
        who: The caller.
        most: Tools at most.
        query: The request; the session's last search when empty.
        among: Ids of the tools that can be called; None for all of the index.
    """
    text = query or session.query
    if index.next_tool is None or most < 1 or not text.strip():
        return ()
    ranked = index.next_tool.rank(text, session.history)
    likely = [one for one, chance in ranked if chance >= LEAST and (among is None or one in among)]
    return session.offer(index.resolve(likely, who)[:most])
