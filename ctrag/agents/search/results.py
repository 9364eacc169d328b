"""Results of a tool search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.duplicates import ALIKE, in_common
from ctrag.agents.search.features import FEATURES
from ctrag.agents.search.fields import ToolTerms
from ctrag.agents.search.ranker import Floats, Readings
from ctrag.agents.search.tiers import Tier

_COSINE, _LEXICAL = FEATURES.index("cosine"), FEATURES.index("bm25_share")


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool that fits a search."""

    tool: CatalogueTool
    score: float
    """The ranker's belief among all candidates, 0 to 1; a keyword tier's own score there."""
    cosine: float
    """Of the whole request; 0 for a tool that only a keyword tier or the next-tool model found."""
    lexical: float
    """BM25F of the whole request as a share of the best tool's; 0 likewise."""
    fits: bool = True
    """False below the floor, where a search reports that nothing fits."""
    tier: Tier = "database"
    probability: float = 1.0
    """Calibrated probability that the tool does what the request, or a part of it, asks."""
    reason: str = ""
    """Why it was found, in a few words."""
    differs: str = ""
    """How it differs from a nearly identical hit above; empty if there is none."""
    copy_of: str = ""
    """Id of the best hit that it is a near-duplicate of (`duplicates`); empty if it is none."""


@dataclass(frozen=True, slots=True)
class ToolSearch:
    """A search's hits, and how they were found."""

    hits: list[ToolHit]
    fits: bool
    """False when `certainty` is below the floor: it is doubtful whether the catalogue has such a
    tool."""
    parts: list[str]
    """The whole request first, then its parts."""
    certainty: float = 1.0
    """Calibrated probability that the catalogue has what is asked for, near-duplicates counted
    together (`surfacing`)."""
    near: list[ToolHit] = field(default_factory=list)
    """The hits, and those that come next, best first."""
    visible: int = 0
    """Tools that the caller may see."""
    trace: dict[str, object] = field(default_factory=dict)
    """Every step: what was visible, candidates, shares of the readings, tiers, moves, times."""


def hits_of(
    chosen: Sequence[tuple[Tier, str, int]],
    tools: Sequence[tuple[CatalogueTool, ToolTerms]],
    readings: Readings,
    beliefs: Floats,
    fits: Floats,
    copies: Mapping[int, int],
    least: float,
) -> list[ToolHit]:
    """Hits for the chosen tools.

    Args:
        chosen: Tier, id and number, best first.
        tools: By number; those after the ranked ones come from a keyword tier or the next-tool
            model.
        readings: The ranker's input.
        beliefs: By number, after the next-tool model and affinity.
        fits: By number, the probability that it does what is asked.
        copies: Number of a near-duplicate → that of the tool it is a copy of.
        least: The floor.
    """
    hits: list[ToolHit] = []
    for tier, _, row in chosen:
        tool, words = tools[row]
        probability = 1.0 if tier != "database" else float(fits[row])
        measured = row < readings.rows.shape[1]
        whole = readings.rows[0, row] if measured else np.zeros(len(FEATURES))
        above = [
            tools[other][0]
            for (_, _, other) in chosen[: len(hits)]
            if alike(words, tools[other][1])
        ]
        hits.append(
            ToolHit(
                tool,
                float(beliefs[row]) if row < len(beliefs) else 0.0,
                float(whole[_COSINE]),
                float(whole[_LEXICAL]),
                probability >= least,
                tier,
                probability,
                _reason(tier, float(whole[_COSINE]), float(whole[_LEXICAL])),
                difference(tool, above[0]) if above else "",
                tools[copies[row]][0].id if row in copies else "",
            )
        )
    return hits


def _reason(tier: Tier, cosine: float, lexical: float) -> str:
    if tier != "database":
        return f"a keyword match among the {tier} tools"
    if lexical >= 0.8:
        return "its words and meaning" if cosine >= 0.4 else "its words"
    return "its meaning" if lexical <= 0 else "its meaning and some words"


def alike(first: ToolTerms, second: ToolTerms) -> bool:
    """Whether two tools share most of their terms, or all of their names'."""
    if first.name and first.name == second.name:
        return True
    fewer, more = sorted((len(first.frequencies), len(second.frequencies)))
    if fewer < ALIKE * more or not more:
        return False  # at most the fewer are shared, and there are at least the more
    return in_common(first, second) >= ALIKE


def difference(tool: CatalogueTool, other: CatalogueTool) -> str:
    """What `tool` has that `other` lacks: server, arguments, words of the description."""
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
