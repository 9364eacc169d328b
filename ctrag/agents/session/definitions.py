"""What a search found, for a session: full definitions hit by hit, and the steps for its event."""

from collections.abc import Callable, Collection, Iterable, Sequence

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.results import ToolHit, ToolSearch


def defined(
    hits: Iterable[ToolHit], resolve: Callable[[Sequence[str]], Sequence[CatalogueTool]]
) -> list[tuple[ToolHit, CatalogueTool]]:
    """Each hit with its present definition, best first.

    A hit whose id has gone since the search may come back under another one, by its name; then
    the definition has that id. Hits without a definition are left out, and a tool comes once.

    Args:
        hits: Best first.
        resolve: Gives the definitions of ids, in order, without those that the caller may not
            see; `ToolIndex.resolve` with the caller fits.
    """
    hits = list(hits)
    found = {tool.id: tool for tool in resolve([hit.tool.id for hit in hits])}
    pairs: dict[str, tuple[ToolHit, CatalogueTool]] = {}
    for hit in hits:
        tool = found.get(hit.tool.id)
        if tool is None:  # asked alone, so that the answer can only be for this hit
            tool = next(iter(resolve([hit.tool.id])), None)
        if tool is not None:
            pairs.setdefault(tool.id, (hit, tool))
    return list(pairs.values())


def steps_of(search: ToolSearch, kept: Collection[str]) -> dict[str, object]:
    """A search's trace, and the hits that were not kept with their probabilities.

    Args:
        search: What the index answered.
        kept: Ids of the hits that go on to the session.
    """
    rejected = [
        {"id": hit.tool.id, "score": round(hit.probability, 6)}
        for hit in search.hits
        if hit.tool.id not in kept
    ]
    return {**search.trace, "rejected": rejected}
