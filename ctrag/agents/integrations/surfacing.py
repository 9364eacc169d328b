"""Which hits of a search an agent is given."""

from collections.abc import Iterable

from ctrag.agents.search.fields import compact
from ctrag.agents.search.names import named_runs
from ctrag.agents.search.results import ToolHit


def surfaced(hits: Iterable[ToolHit], query: str) -> dict[str, ToolHit]:
    """The hits that fit, by id and best first, and those that the query names.

    A named tool stays below the floor too, and so does the best hit of a named server: who asks
    for a tool by its name must not miss it.
    """
    named = named_runs(query)
    kept: dict[str, ToolHit] = {}
    servers: set[str] = set()
    for hit in hits:
        server = compact(hit.tool.server)
        owed = server in named and server not in servers
        if hit.fits or owed or compact(hit.tool.name) in named:
            kept[hit.tool.id] = hit
            servers.add(server)
    return kept
