"""A tool prior of recorded traces: what came next after these calls, for requests like this."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.encoder import Matrix
from ctrag.prompt.reading import Reader

_TEMPERATURE = 0.1
"""Cosine by which a trace's say falls to 1/e."""
_STRENGTH = (4.0, 1.0, 0.5)
"""How many calls the belief of each shorter context counts for, shortest first."""
START = ""
"""Stands before the first call."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A request and the ids of the tools that served it, in order."""

    text: str
    tools: tuple[str, ...]


class TracePrior:
    """Next-tool counts after the last two, one and no calls, each trace weighted by likeness.

    Longer contexts lean on shorter ones as far as they have seen little (Witten and Bell, 1991, in
    spirit). It fits `ctrag.tools.index.NextToolPrior`.
    """

    def __init__(self, traces: Sequence[Trace], reader: Reader) -> None:
        """Count the traces.

        Raises:
            ValueError: There is no trace.
        """
        if not traces:
            raise ValueError("traces: there is none to count")
        self._reader = reader
        self._vectors: Matrix = np.stack([reader.read(one.text) for one in traces])
        self._names = sorted({tool for one in traces for tool in one.tools})
        rows = {name: row for row, name in enumerate(self._names)}
        seen: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
        for place, one in enumerate(traces):
            before = (START, START, *one.tools)
            for at, tool in enumerate(one.tools):
                for length in range(3):
                    seen[before[at + 2 - length : at + 2]].append((place, rows[tool]))
        self._seen = {context: np.array(pairs, dtype=np.int64).T for context, pairs in seen.items()}

    def rank(self, text: str, history: Sequence[str]) -> list[tuple[str, float]]:
        """(tool id, probability) of all tools that the traces know, best first."""
        cosines = self._vectors @ self._reader.read(text)
        likeness = np.exp((cosines - cosines.max()) / _TEMPERATURE)
        before = (START, START, *history)
        chances: NDArray[np.float64] = np.full(len(self._names), 1 / len(self._names))
        for length, strength in enumerate(_STRENGTH):
            pairs = self._seen.get(before[len(before) - length :])
            if pairs is None:
                break
            weights = likeness[pairs[0]]
            counts = np.bincount(pairs[1], weights, minlength=len(self._names))
            chances = (counts + strength * chances) / (counts.sum() + strength)
        order = np.argsort(-chances, kind="stable")
        return [(self._names[row], float(chances[row])) for row in order if chances[row] > 0]
