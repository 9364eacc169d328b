"""Searching a catalogue, in the order in which a search goes.

- `index`: the search (`ToolIndex`) and the tools it holds; `shelf`: tools and how they change,
  `governed`: who sees which.
- `parts`, `names`: the needs of a request, and the tools and servers that it names.
- `fields`: a tool's terms by field.
- `pool`, `features`, `ranker`: candidates out of a store, what is known of each, their order;
  `artefact/discovery.json` has the weights with their card.
- `tiers`: experts' and system tools by keywords, and the merged list.
- `affinity`: what helped a caller before.
- `results`: hits, near-duplicates, the trace.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctrag.agents.search.index import ToolIndex

__all__ = ["ToolIndex"]


def __getattr__(name: str) -> Any:
    """`ToolIndex` is imported when asked for: it brings the encoder along."""
    if name == "ToolIndex":
        from ctrag.agents.search.index import ToolIndex

        return ToolIndex
    raise AttributeError(f"module 'ctrag.agents.search' has no attribute {name!r}")
