"""What an agent is given of a search: the one rule for MCP, sessions, LangChain and the model APIs.

Near-duplicates count together (`duplicates`). A logistic model says how surely the catalogue has
what is asked for: above one floor the best hits are given, below it with a note of doubt, and below
a second, much lower one nothing is. How many are given follows from how the belief is spread: every
tool with its share of it, so one where all belief is on one, more where it is on several.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ctrag.agents.search.fields import compact
from ctrag.agents.search.names import named_runs, written_out
from ctrag.agents.search.results import ToolHit, ToolSearch
from ctrag.errors import InputError, reading
from ctrag.settings import settings
from ctrag.text.words import words
from stores.files import write_text

ARTEFACT = "surfacing.json"
EVIDENCE = (
    "likeliest",
    "likely_together",
    "best_cosine",
    "first_cosine",
    "first_share",
    "five_share",
    "first_lexical",
    "cosine_ahead",
    "readings",
)
"""Of the first ten groups of near-duplicates: log odds of the best probability and of the sum of
the first five; the best cosine and the first one's; logs of the first one's belief and of the first
five's; the first one's words; how far the best cosine is above the mean. Then the log of how many
readings the request has: with each there is one more chance to look like some tool."""
NEAR = 20
"""Hits in which near-duplicates are looked for."""
LIMIT = 7
"""Tools that a search gives at most, unless it asks for another number; three on average
(docs/tool-discovery.md)."""
IN_DOUBT = 5
"""The same where it is doubtful that anything fits."""
WITH_COPIES = 5
"""Near-duplicates of a tool that is given are given too while there are fewer tools than this."""
DOUBT = (
    "No tool surely fits, perhaps none does: these come closest. Use one only if its description "
    "says that it does what is needed; else search in other words, or go on without a tool."
)
"""The note beside hits that are given in doubt."""
_GROUPS, _FIVE = 10, 5
_SHORT = 8
"""Words at most of a query that may name a tool by plain words."""
_LEAST = 1e-3
_MANY, _FEW = 500, 150
"""`Surfacing.share` holds for catalogues of so many tools; it rises for smaller ones, down to so
few, as belief is spread over fewer tools there."""
_BY_SIZE = 0.2
"""How fast it rises."""


class _Written(BaseModel):
    """The file of a rule; numbers in it are finite."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)
    evidence: list[str]
    hybrid: tuple[float, ...]
    lexical: tuple[float, ...]
    doubt: float
    hopeless: float
    share: float
    card: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Surfacing:
    """The rule's learned weights and its three numbers."""

    hybrid: tuple[float, ...]
    """By `EVIDENCE`; the intercept last."""
    lexical: tuple[float, ...]
    """The same for a search without vectors."""
    doubt: float
    """Certainty below which the hits are given with a note."""
    hopeless: float
    """Certainty below which none is given."""
    share: float
    """Least share of the belief that a tool of a large catalogue is given for."""
    card: dict[str, Any]

    @classmethod
    def load(cls, path: Path) -> "Surfacing":
        """What `save` wrote.

        Raises:
            ValueError: It was made for other evidence.
        """
        with reading(path):
            kept = _Written.model_validate_json(path.read_text(encoding="utf-8"))
        if kept.evidence != list(EVIDENCE):
            raise InputError(f"{path}: evidence: made for {kept.evidence}; fit it again")
        if {len(kept.hybrid), len(kept.lexical)} != {len(EVIDENCE) + 1}:
            raise InputError(f"{path}: has not a weight for each piece of evidence; fit it again")
        return cls(kept.hybrid, kept.lexical, kept.doubt, kept.hopeless, kept.share, kept.card)

    def save(self, path: Path) -> None:
        """Write weights and card atomically."""
        value = {
            "evidence": list(EVIDENCE),
            "hybrid": [round(one, 4) for one in self.hybrid],
            "lexical": [round(one, 4) for one in self.lexical],
            "doubt": self.doubt,
            "hopeless": self.hopeless,
            "share": self.share,
            "card": self.card,
        }
        write_text(path, json.dumps(value, indent=1) + "\n")

    def certainty(self, hits: Sequence[ToolHit], readings: int, *, dense: bool) -> float:
        """Probability that one of the hits does what is asked; 0 without hits.

        Args:
            hits: The first `NEAR`, best first.
            readings: Of the request: itself and its parts.
            dense: Whether they have cosines.
        """
        if not hits:
            return 0.0
        if hits[0].tier != "database":  # somebody's explicit judgement
            return 1.0
        *weights, intercept = self.hybrid if dense else self.lexical
        seen = evidence(hits, readings)
        return _logistic(
            intercept + sum(weight * one for weight, one in zip(weights, seen, strict=True))
        )


@cache
def packaged_surfacing() -> Surfacing:
    """The rule that ctrag ships."""
    return Surfacing.load(Path(str(files("ctrag.agents.search").joinpath("artefact", ARTEFACT))))


def surfacing_rule() -> Surfacing:
    """The rule of `CTRAG_SURFACING`, else the packaged one."""
    path = settings().surfacing
    return packaged_surfacing() if path is None else _loaded(path.expanduser())


@cache
def _loaded(path: Path) -> Surfacing:
    return Surfacing.load(path)


@dataclass(frozen=True, slots=True)
class Given:
    """What an agent is given of one search."""

    hits: dict[str, ToolHit]
    """By id, best first; empty where nothing fits."""
    doubt: bool
    """Whether it is doubtful that one of `hits` does what was asked."""
    closest: list[ToolHit]
    """The best hits beside those that are given."""
    copies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Id of a given tool → ids of its near-duplicates that there was no place for."""

    @property
    def note(self) -> str:
        """What the agent is told beside the hits; empty where there is no doubt."""
        return DOUBT if self.doubt and self.hits else ""


def surface(
    search: ToolSearch, query: str, limit: int = LIMIT, rule: Surfacing | None = None
) -> Given:
    """Choose what an agent is given.

    What the query names is given in any case: a tool by its name, the best tool of a named server.

    Args:
        search: The index's result.
        query: What was asked.
        limit: Tools at most.
        rule: `surfacing_rule` when None.
    """
    rule = surfacing_rule() if rule is None else rule
    share = rule.share * (_MANY / min(max(search.visible, _FEW), _MANY)) ** _BY_SIZE
    written, named = _named(search.hits, query)
    sure = search.certainty >= rule.doubt
    if written and not sure:
        kept = written
    elif search.certainty < rule.hopeless:
        kept = named
    else:
        kept = written | named | _worth_giving(search.near, share)
    doubt = bool(kept) and not sure and not written
    places = _places(search.near, kept, min(limit, IN_DOUBT) if doubt else limit)
    given = {hit.tool.id: hit for hit in search.near if hit.tool.id in places}
    groups: dict[str, list[str]] = {}
    for hit in search.near:
        groups.setdefault(hit.copy_of or hit.tool.id, []).append(hit.tool.id)
    copies = {
        first: left
        for group in groups.values()
        if (first := next((one for one in group if one in given), None)) is not None
        and (left := tuple(one for one in group if one not in given))
    }
    closest = [hit for hit in search.near if hit.tool.id not in given]
    return Given(given, doubt, closest, copies)


def evidence(hits: Sequence[ToolHit], readings: int) -> list[float]:
    """The values of `EVIDENCE` for the hits of one search, best first; at least one."""
    groups: dict[str, list[ToolHit]] = {}
    for hit in hits:
        groups.setdefault(hit.copy_of or hit.tool.id, []).append(hit)
    first = list(groups.values())[:_GROUPS]
    likely = [max(hit.probability for hit in one) for one in first]
    shares = [sum(hit.score for hit in one) for one in first]
    cosines = [max(hit.cosine for hit in one) for one in first]
    return [
        _log_odds(max(likely)),
        _log_odds(sum(likely[:_FIVE])),
        max(cosines),
        cosines[0],
        math.log(max(shares[0], _LEAST)),
        math.log(max(sum(shares[:_FIVE]), _LEAST)),
        max(hit.lexical for hit in first[0]),
        max(cosines) - sum(cosines) / len(cosines),
        math.log(max(readings, 1)),
    ]


def _worth_giving(hits: Sequence[ToolHit], share: float) -> set[str]:
    """Ids of the first hit, of those that surely fit, if only a part of the request, and of those
    with their share of the belief; a copy has as much as it would have alone."""
    sizes: dict[str, int] = {}
    for hit in hits:
        group = hit.copy_of or hit.tool.id
        sizes[group] = sizes.get(group, 0) + 1
    return {
        hit.tool.id
        for place, hit in enumerate(hits)
        if not place or hit.fits or hit.score * sizes[hit.copy_of or hit.tool.id] >= share
    }


def _places(hits: Sequence[ToolHit], kept: Collection[str], limit: int) -> set[str]:
    """The first `limit` of the kept hits: one of each group, then further copies."""
    wanted = [hit for hit in hits if hit.tool.id in kept]
    seen: set[str] = set()
    firsts: list[str] = []
    further: list[str] = []
    for hit in wanted:
        group = hit.copy_of or hit.tool.id
        (further if group in seen else firsts).append(hit.tool.id)
        seen.add(group)
    firsts = firsts[:limit]
    return {*firsts, *further[: max(0, min(limit, WITH_COPIES) - len(firsts))]}


def _named(hits: Sequence[ToolHit], query: str) -> tuple[set[str], set[str]]:
    """Ids of the tools that a query names, first those whose names stand there as names or are all
    that it says, then the best of each named server and those whose names are plain words of a
    short query: in a longer sentence such words mean what they say."""
    runs, whole = named_runs(query), compact(query)
    short = len(words(query)) <= _SHORT
    written: set[str] = set()
    named: set[str] = set()
    servers: set[str] = set()
    for hit in hits:
        tool, name, server = hit.tool, compact(hit.tool.name), compact(hit.tool.server)
        if written_out(tool, query) or whole in (name, compact(tool.id)):
            written.add(tool.id)
        by_name = short and name in runs
        by_server = server in runs and server not in servers
        if by_name or by_server:
            named.add(tool.id)
            servers.add(server)
    return written, named


def _log_odds(probability: float) -> float:
    kept = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(kept / (1 - kept))


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
