"""The step `values.rank`: the values of every argument of the exposed tools, best first."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ctrag.assistant.planning.candidate_values import CandidateValue, ValueSources
from ctrag.assistant.planning.value_ranker import ABSENT, ValueRanker
from ctrag.toolbox import Tool


@dataclass(frozen=True, slots=True)
class ToolValues:
    """Candidate values of one tool's arguments; arguments of free text have none."""

    candidates: dict[str, tuple[CandidateValue, ...]]
    """Argument → values, best first."""
    absent: frozenset[str] = frozenset()
    """Optional arguments that are better left out."""
    beliefs: dict[str, float] = field(default_factory=dict)
    """Argument → probability, 0 to 1, that its best value (or leaving it out) is right; empty
    without a ranker."""
    others: dict[str, tuple[str | None, float]] = field(default_factory=dict)
    """Argument → the next best value (None leaves it out) and its probability; only with a
    ranker."""
    ranked: bool = False
    """Whether a ranker ordered them; otherwise they are in the order in which they were found."""

    @property
    def belief(self) -> float:
        """Probability that the best values of all arguments are right; 1 without a ranker."""
        return math.prod(self.beliefs.values())


def rank_values(
    tools: Sequence[Tool], sources: ValueSources, ranker: ValueRanker | None = None
) -> dict[str, ToolValues]:
    """The values that each tool's arguments may take.

    Args:
        tools: The exposed tools.
        sources: Where values may come from.
        ranker: Orders the values and decides which optional arguments to leave out; without one
            they stay in the order in which they were found.

    Returns:
        API → values.
    """
    return {tool.api: _values_of(tool, sources, ranker) for tool in tools}


def _values_of(tool: Tool, sources: ValueSources, ranker: ValueRanker | None) -> ToolValues:
    found: dict[str, tuple[CandidateValue, ...]] = {}
    absent: set[str] = set()
    beliefs: dict[str, float] = {}
    others: dict[str, tuple[str | None, float]] = {}
    for argument in tool.arguments:
        if argument.match != "value":
            continue
        candidates = sources.candidates(tool, argument)
        if ranker is not None:
            ordered = ranker.order(sources, tool, argument, candidates)
            if ordered and ordered[0][0] is ABSENT:
                absent.add(argument.name)
            if ordered:
                beliefs[argument.name] = ordered[0][1]
            if len(ordered) > 1:
                other, share = ordered[1]
                others[argument.name] = (None if other is ABSENT else other.value, share)
            candidates = [one for one, _ in ordered if one is not ABSENT]
        found[argument.name] = tuple(candidates)
    return ToolValues(found, frozenset(absent), beliefs, others, ranker is not None)
