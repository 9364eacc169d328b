"""The two tiers that are searched by keywords, and the merged list of all three.

Expert tools are somebody's explicit judgement, system tools are built into the platform; both are
few, so each tool is scored individually.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from ctrag.agents.catalogue.tool import CatalogueTool, spelled_out
from ctrag.agents.search.fields import compact
from ctrag.agents.search.names import named_runs
from ctrag.text.words import fold, terms

Tier = Literal["expert", "system", "database"]
T = TypeVar("T")

_EVERYDAY = frozenset(terms("get set put list show make give tell find want need use help please"))
"""Terms common in requests, which weigh less than domain terms."""


_EXACT_NAME = 10.0
"""Score of a request that names the tool."""
_NAME_TERM = 2.0
"""Score of a term of the request in the tool's name, split at humps and underscores."""
_DESCRIPTION_TERM = 1.0
"""Score of a term of the request in the description."""
_EVERYDAY_FACTOR = 0.25
"""Factor for everyday words such as `get`."""
_LEAST = 3.0
"""Tools that score less are not returned."""


def expert_score(text: str, tool: CatalogueTool) -> float:
    """How well a request fits an expert's tool (section 4.1); 0 below the least score."""
    asked = dict.fromkeys(terms(text))
    name = dict.fromkeys(terms(spelled_out(tool.name)))
    described = fold(tool.description)
    score = _EXACT_NAME * (compact(tool.name) in named_runs(text))
    for term in asked:
        factor = _EVERYDAY_FACTOR if term in _EVERYDAY else 1.0
        score += factor * _NAME_TERM * (term in name)
        score += factor * _DESCRIPTION_TERM * (term in described)
    return score if score >= _LEAST else 0.0


@dataclass(frozen=True, slots=True)
class SystemKeywords:
    """A system tool's keywords, computed when it is added."""

    keywords: frozenset[str]
    name: frozenset[str]

    @classmethod
    def of(cls, tool: CatalogueTool, shortest: int = 3) -> "SystemKeywords":
        """Terms of name and description, without everyday and very short ones."""
        name = frozenset(terms(spelled_out(tool.name)))
        every = name | frozenset(terms(tool.description))
        return cls(
            frozenset(one for one in every if len(one) >= shortest and one not in _EVERYDAY), name
        )

    def score(self, text: str) -> float:
        """Mean of two shares (section 4.2), 0 to 1: request terms among the keywords, and name
        terms among the request's; 0 below one half."""
        asked = {one for one in terms(text) if one not in _EVERYDAY}
        name = self.name - _EVERYDAY
        if not asked or not name:
            return 0.0
        forth = len(asked & self.keywords) / len(asked)
        back = len(name & asked) / len(name)
        score = (forth + back) / 2
        return score if score >= 0.5 else 0.0


def merged(
    tiers: Sequence[tuple[Tier, Sequence[tuple[str, T]]]], k: int
) -> list[tuple[Tier, str, T]]:
    """The tiers' lists one after the other, each id once, cut at `k` (section 4.4)."""
    found: dict[str, tuple[Tier, str, T]] = {}
    for tier, hits in tiers:
        for tool_id, value in hits:
            found.setdefault(tool_id, (tier, tool_id, value))
    return list(found.values())[:k]


def best_first(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """Ids with a score above 0, best first; ties keep their order."""
    kept = [(one, score) for one, score in scores.items() if score > 0]
    return sorted(kept, key=lambda pair: -pair[1])
