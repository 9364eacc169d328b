"""What a search of tools answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.fields import ToolTerms
from ctrag.tools.tiers import Tier

_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool that fits a search."""

    tool: CatalogueTool
    score: float
    """The ranker's belief in it among all candidates, 0 to 1; a keyword tier's own score there."""
    cosine: float
    lexical: float
    """BM25F as a share of the best tool's."""
    fits: bool = True
    """False below the floor under which a search says that nothing fits."""
    tier: Tier = "database"
    probability: float = 1.0
    """Calibrated: how likely the tool does what the request, or a part of it, asks."""
    reason: str = ""
    """Why it came up, in a few words."""
    differs: str = ""
    """What tells it from a hit above that is nearly the same; empty where none is."""


@dataclass(frozen=True, slots=True)
class ToolSearch:
    """A search with all that led to its hits."""

    hits: list[ToolHit]
    fits: bool
    """False when no hit is above the floor: the catalogue has no such tool."""
    parts: list[str]
    """What was read: the whole request first, then its parts."""
    trace: dict[str, object] = field(default_factory=dict)
    """Every step: what was visible, candidates, shares of the readings, tiers, moves, times."""


def alike(first: ToolTerms, second: ToolTerms) -> bool:
    """Whether two tools share most of their terms, or all of their names'."""
    if first.name and first.name == second.name:
        return True
    shared = len(first.weights.keys() & second.weights.keys())
    every = len(first.weights.keys() | second.weights.keys())
    return every > 0 and shared / every >= _ALIKE


def difference(tool: CatalogueTool, other: CatalogueTool) -> str:
    """What `tool` has that `other` has not: server, arguments, words of the description."""
    found = []
    if tool.server != other.server:
        found.append(f"server {tool.server or '(none)'} instead of {other.server or '(none)'}")
    mine, theirs = _arguments(tool), _arguments(other)
    if more := [one for one in mine if one not in theirs]:
        found.append(f"takes {', '.join(more[:5])}")
    if fewer := [one for one in theirs if one not in mine]:
        found.append(f"does not take {', '.join(fewer[:5])}")
    known = set(other.description.lower().split())
    words = [one.strip(".,;:()") for one in tool.description.split() if one.lower() not in known]
    if words:
        found.append(f"says {' '.join(words[:8])}")
    if tool.version != other.version:
        found.append(f"version {tool.version or '(none)'}")
    return f"than {other.id}: {'; '.join(found) or 'nothing but the name'}"


def _arguments(tool: CatalogueTool) -> Sequence[str]:
    properties = tool.parameters.get("properties")
    return [str(one) for one in properties] if isinstance(properties, Mapping) else []
