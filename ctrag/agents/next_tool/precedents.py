"""Kernel regression over similar demonstrations: what they called from here on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool.memory import Memory

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAREST = 256
"""Demonstrations that are weighted; those further away would have negligible weight."""
WIDTH = 4.0
"""Rate at which the kernel decays with dissimilarity."""
NOISE = 0.1
"""Noise variance: what the same request calls varies."""


@dataclass(frozen=True, slots=True)
class Precedents:
    """The demonstrations nearest to a request, with their weights."""

    weights: Floats
    """(n,): weight of each; below 0 where a nearer one contradicts it."""
    calls: Ints
    """(n, longest + 1): numbers of the tools, padded with `END` (0)."""
    lengths: Ints
    """Calls of each, (n,)."""
    tools: int

    @classmethod
    def near(cls, memory: Memory, likeness: Floats, most: int = NEAREST) -> "Precedents":
        """Weights of a Gaussian process, (K + noise)^-1 k, of demonstrations near the request.

        Similar requests share their weight, so that ten copies do not outvote one that is closer.

        Args:
            memory: The demonstrations.
            likeness: Of the request to each of them, from `Memory.likeness`.
            most: Demonstrations at most.
        """
        from scipy.linalg import cho_factor, cho_solve

        # In memory order, so that reads are local.
        rows = np.sort(np.argsort(-likeness, kind="stable")[:most])
        kernel = np.exp(WIDTH * (memory.alike(rows) - 1)) + NOISE * np.eye(len(rows))
        towards = np.exp(WIDTH * (likeness[rows] - 1))
        weights = towards
        if len(rows):
            factor = cho_factor(kernel, overwrite_a=True, check_finite=False)
            weights = cho_solve(factor, towards, check_finite=False)
        chains = [memory.called[row] for row in rows]
        lengths = np.array([len(chain) for chain in chains], dtype=np.int64)
        calls = np.zeros((len(rows), int(lengths.max(initial=0)) + 1), dtype=np.int64)
        for place, chain in enumerate(chains):
            calls[place, : len(chain)] = chain
        return cls(weights, calls, lengths, len(memory.names))

    def anywhere(self) -> Floats:
        """Per tool: weight of those that call it."""
        rows, places = np.nonzero(self.calls)
        once = np.unique(rows * self.tools + self.calls[rows, places])
        return self._sums(once // self.tools, once % self.tools)

    def same_beginning(self, history: Sequence[int]) -> Floats:
        """Per tool: weight of those that called exactly the history, then it."""
        place = len(history)
        if place >= self.calls.shape[1]:
            return np.zeros(self.tools)
        same = (self.lengths >= place) & (self.calls[:, :place] == history).all(axis=1)
        return self._sums(np.flatnonzero(same), self.calls[same, place])

    def after_last(self, history: Sequence[int]) -> Floats:
        """Per tool: weight of those that call it right after the last call."""
        if not history:
            return self._sums(np.arange(len(self.calls)), self.calls[:, 0])
        rows, places = self._last(history)
        return self._sums(rows, self.calls[rows, places + 1])

    def left(self, history: Sequence[int]) -> Floats:
        """Per tool: weight of those where it is the first call that the history does not have."""
        places = (~np.isin(self.calls, history)).argmax(axis=1)
        rows = np.arange(len(self.calls))
        return self._sums(rows, self.calls[rows, places])

    def left_after_last(self, history: Sequence[int]) -> Floats:
        """The same, looking only after the last call in those that have it."""
        if not history:
            return self.left(history)
        rows, places = self._last(history)
        behind = np.arange(self.calls.shape[1]) > places[:, None]
        following = (behind & ~np.isin(self.calls[rows], history)).argmax(axis=1)
        return self._sums(rows, self.calls[rows, following])

    def _last(self, history: Sequence[int]) -> tuple[Ints, Ints]:
        """Rows that have the last call, and its first position."""
        found = (self.calls == history[-1]) & (history[-1] > 0)
        rows = np.flatnonzero(found.any(axis=1))
        return rows, found[rows].argmax(axis=1)

    def _sums(self, rows: Ints, tools: Ints) -> Floats:
        found = np.bincount(tools, self.weights[rows], minlength=self.tools)
        return np.asarray(found, dtype=np.float64)
