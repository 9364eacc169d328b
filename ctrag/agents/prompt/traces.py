"""A trace prior: the next tool after the calls so far, from traces of similar requests."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctrag.agents.next_tool.graph import Followers, Probabilities, interpolated
from ctrag.agents.prompt.encoders import PassageEncoder
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix

_TEMPERATURE = 0.1
"""Difference in cosine over which a trace's weight falls to 1/e."""
_STRENGTH = (4.0, 1.0, 0.5)
"""Calls that the estimate of each shorter context counts for, shortest first."""


@dataclass(frozen=True, slots=True)
class ToolTrace:
    """A request and the ids of the tools that served it, in order."""

    text: str
    tools: tuple[str, ...]


class TracePrior:
    """Frequencies after the last two, one and no calls, interpolated; weighted by similarity.

    Implements `ctrag.agents.search.index.NextToolModel`.
    """

    def __init__(self, traces: Sequence[ToolTrace], encoder: PassageEncoder) -> None:
        """Count the traces.

        Raises:
            ValueError: There is no trace.
        """
        if not traces:
            raise InputError("traces: there is none to count")
        self._encoder = encoder
        self._vectors: Matrix = np.stack([encoder.encode(one.text) for one in traces])
        self._names = sorted({tool for one in traces for tool in one.tools})
        rows = {name: row for row, name in enumerate(self._names)}
        self._after = Followers(range(len(_STRENGTH)))
        for place, one in enumerate(traces):
            for at, tool in enumerate(one.tools):
                self._after.add(place, one.tools[:at], rows[tool])

    def rank(self, text: str, history: Sequence[str]) -> list[tuple[str, float]]:
        """(tool id, probability) of all tools that the traces know, best first."""
        cosines = self._vectors @ self._encoder.encode(text)
        likeness = np.exp((cosines - cosines.max()) / _TEMPERATURE).astype(np.float64)
        chances: Probabilities = np.full(len(self._names), 1 / len(self._names))
        for length, strength in enumerate(_STRENGTH):
            owners, following = self._after.after(history, length)
            if not owners:
                break
            chances = interpolated(chances, following, likeness[owners], strength)
        order = np.argsort(-chances, kind="stable")
        return [(self._names[row], float(chances[row])) for row in order if chances[row] > 0]
