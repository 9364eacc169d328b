"""The combined ranker: trees over evidence, mixed with a softmax over what they read."""

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
from ctrag.agents.next_tool.linear import softmax_probabilities, step_scaled
from ctrag.agents.next_tool.memory import Memory
from ctrag.extras import need
from ctrag.models.encoder import Matrix

_UNRANKED = 1e-4
"""Probability mass shared by all tools that are not candidates."""
_UNSHOWN = 4.0
"""Odds of a tool that no demonstration calls: the trees saw few of them be right, since those that
were hidden from them are rare. Chosen on 500 chains that were held out of those to learn from: up
to here new tools gain, and steps that need others lose next to nothing."""
_SOFTMAX = 0.4
"""Share of the softmax: from 0.3 to 0.5 all figures of those 500 chains are better than without."""


class Combined:
    """LightGBM over the features of each candidate, and a softmax over the step's inputs."""

    def __init__(self, trees: str, softmax: Matrix) -> None:
        self._text, self._softmax = trees, softmax

    def chances(
        self,
        memory: Memory,
        weights: EvidenceWeights,
        asked: RequestEvidence,
        history: tuple[int, ...],
        among: Ints,
    ) -> Probabilities:
        """Probability of each of `memory.names`; what is no candidate of the trees has little.

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
        found /= found[among].sum()
        self._mix(found, memory, asked, history, among)
        return found

    def _mix(
        self,
        found: Probabilities,
        memory: Memory,
        asked: RequestEvidence,
        history: tuple[int, ...],
        among: Ints,
    ) -> None:
        """Divide anew what tools have together that both the trees and the softmax know."""
        known = among[among < self._softmax.shape[1]]
        known = known[memory.counts[known] > 0]
        if not len(known):
            return
        inputs = step_scaled(memory.inputs.of_step(asked.block, history))
        chances = softmax_probabilities(self._softmax, inputs)[known]
        chances *= found[known].sum() / max(float(chances.sum()), 1e-12)
        found[known] += _SOFTMAX * (chances - found[known])

    def nodes(self) -> int:
        """Splits and leaves."""
        leaves = [int(n) for n in re.findall(r"^num_leaves=(\d+)$", self._text, re.M)]
        return sum(2 * n - 1 for n in leaves)

    @cached_property
    def _trees(self) -> Any:
        need("the next tool", "lightgbm", extra="next-tool")
        import lightgbm

        return lightgbm.Booster(model_str=self._text)
