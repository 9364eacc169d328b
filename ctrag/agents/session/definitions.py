"""A search's hits with full definitions for a session, and its steps for the event."""

from collections.abc import Callable, Collection, Iterable, Sequence

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.results import ToolHit, ToolSearch


def defined(
    hits: Iterable[ToolHit], resolve: Callable[[Sequence[str]], Sequence[CatalogueTool]]
) -> list[tuple[ToolHit, CatalogueTool]]:
    """Each hit with its current definition, best first.

    A hit whose id has gone since the search may resolve to another id, by its name; then the
    definition has that id. Hits without a definition are dropped, and tools are deduplicated.

    Args:
        hits: Best first.
        resolve: Ids → definitions, in order, without those that the caller may not see, such as
            `ToolIndex.resolve` for the caller.
    """
    hits = list(hits)
    found = {tool.id: tool for tool in resolve([hit.tool.id for hit in hits])}
    pairs: dict[str, tuple[ToolHit, CatalogueTool]] = {}
    for hit in hits:
        tool = found.get(hit.tool.id)
        if tool is None:  # resolved alone, so that the result must be for this hit
            tool = next(iter(resolve([hit.tool.id])), None)
        if tool is not None:
            pairs.setdefault(tool.id, (hit, tool))
    return list(pairs.values())


def steps_of(search: ToolSearch, kept: Collection[str]) -> dict[str, object]:
    """A search's trace, with the rejected hits and their probabilities.

    Args:
        search: The index's result.
        kept: Ids of the hits that are passed to the session.
    """
    rejected = [
        {"id": hit.tool.id, "score": round(hit.probability, 6)}
        for hit in search.hits
        if hit.tool.id not in kept
    ]
    return {**search.trace, "rejected": rejected}
