"""Searching a catalogue, in the order of a search's steps.

- `index`: the search (`ToolIndex`); `collection`: the tools it holds and their changes;
  `stored_rules`: who sees which.
- `parts`, `names`: the needs of a request, and the tools and servers that it names.
- `fields`: a tool's terms by field.
- `pool`, `features`, `ranker`: candidates from a store, their features, their order;
  `artefact/discovery.json` has the weights with their card.
- `tiers`: experts' and system tools by keywords, and the merged list.
- `affinity`: what helped a caller before.
- `results`: hits, the trace; `duplicates`: near-duplicates, which count together.
- `surfacing`: what an agent is given of a search; `artefact/surfacing.json` has its weights.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctrag.agents.search.index import ToolIndex

__all__ = ["ToolIndex"]


def __getattr__(name: str) -> Any:
    """Import `ToolIndex` lazily: it imports the encoder."""
    if name == "ToolIndex":
        from ctrag.agents.search.index import ToolIndex

        return ToolIndex
    raise AttributeError(f"module 'ctrag.agents.search' has no attribute {name!r}")
