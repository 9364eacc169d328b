"""Selecting the hits of a search that an agent gets."""

from collections.abc import Iterable

from ctrag.agents.search.fields import compact
from ctrag.agents.search.names import named_runs
from ctrag.agents.search.results import ToolHit


def surfaced(hits: Iterable[ToolHit], query: str) -> dict[str, ToolHit]:
    """The hits that fit, by id and best first, and those that the query names.

    A named tool is kept even below the floor, as is the best hit of a named server: a search for a
    tool by name must find it.
    """
    named = named_runs(query)
    kept: dict[str, ToolHit] = {}
    servers: set[str] = set()
    for hit in hits:
        server = compact(hit.tool.server)
        named_server = server in named and server not in servers
        if hit.fits or named_server or compact(hit.tool.name) in named:
            kept[hit.tool.id] = hit
            servers.add(server)
    return kept
