"""The combined ranker: trees over evidence."""

import re
from functools import cached_property
from typing import Any

import numpy as np

from ctrag.agents.next_tool.evidence import (
    EvidenceWeights,
    Ints,
    RequestEvidence,
    candidates,
    features,
)
from ctrag.agents.next_tool.graph import Probabilities
from ctrag.agents.next_tool.memory import Memory
from ctrag.extras import need
from ctrag.models.trees import booster

_UNRANKED = 1e-4
"""Probability mass shared by all tools that are not candidates."""
_UNSHOWN = 4.0
"""Odds of a tool that no demonstration calls: the trees saw few of them be right, since those that
were hidden from them are rare. Chosen on 500 chains that were held out of those to learn from: so
new tools come first more often than by BM25, and other steps lose less than half a point."""


class Combined:
    """LightGBM over the features of each candidate."""

    def __init__(self, trees: str) -> None:
        self._text = trees

    def chances(
        self,
        memory: Memory,
        weights: EvidenceWeights,
        asked: RequestEvidence,
        history: tuple[int, ...],
        among: Ints,
    ) -> Probabilities:
        """Weight of each of `memory.names`; what is no candidate of the trees has next to none.

        Args:
            memory: Demonstrations.
            weights: The linear models.
            asked: The request.
            history: Numbers of the calls so far.
            among: Numbers of the tools that can be called.
        """
        table = features(memory, weights, asked, history, among)
        rows = candidates(table)
        raw = np.asarray(self._trees.predict(table[rows], num_threads=1), dtype=np.float64)
        tools = among[rows]
        raw[memory.counts[tools] == 0] *= _UNSHOWN
        found = memory.frequencies() * _UNRANKED
        found[tools] = np.maximum(raw, _UNRANKED)
        return found

    def nodes(self) -> int:
        """Splits and leaves."""
        leaves = [int(n) for n in re.findall(r"^num_leaves=(\d+)$", self._text, re.M)]
        return sum(2 * n - 1 for n in leaves)

    @cached_property
    def _trees(self) -> Any:
        need("the next tool", "lightgbm", extra="next-tool")
        return booster(self._text, "the trees of the next tool")
