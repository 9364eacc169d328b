"""The next tool by counting traces: nothing is fitted, and each trace counts at once."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ctrag.agents.next_tool.demonstrations import END
from ctrag.agents.next_tool.graph import Followers, Probabilities, interpolated
from ctrag.agents.session.lessons import Lesson
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix

_TEMPERATURE = 0.1
"""Difference in cosine over which a trace's weight falls to 1/e."""
_STRENGTH = (4.0, 1.0, 0.5)
"""Calls that the estimate of each shorter context counts for, shortest first."""


class TextEncoder(Protocol):
    """Turns a text into a unit vector."""

    def encode(self, text: str) -> Matrix:
        """(dimension,)."""
        ...


@dataclass(frozen=True, slots=True)
class ToolTrace:
    """A request and the ids of the tools that served it, in order."""

    text: str
    tools: tuple[str, ...]
    before: tuple[str, ...] = ()
    """What its task had called before it."""
    session: str = ""
    """The recorded session that it is from; empty for others."""


class TracePrior:
    """Frequencies after the last two, one and no calls, interpolated; weighted by similarity.

    Implements `ctrag.agents.search.index.NextToolModel`. Safe to use from many threads.
    """

    def __init__(
        self,
        traces: Sequence[ToolTrace],
        encoder: TextEncoder,
        *,
        ends: bool = False,
        growing: bool = False,
    ) -> None:
        """Count the traces.

        Args:
            traces: At least one, unless it grows.
            encoder: Of requests.
            ends: Whether `END` is one of the answers; without it, something is always called next.
            growing: Whether it may begin with no trace, and rank nothing until it has learned.

        Raises:
            ValueError: There is no trace.
        """
        if not traces and not growing:
            raise InputError("traces: there is none to count")
        self._encoder, self._ends = encoder, ends
        self._lock = threading.Lock()
        self._vectors: list[Matrix] = []
        self._stacked = np.empty((0, 0), dtype=np.float32)
        self._rows: dict[str, int] = {}
        self._lessons: set[tuple[str, str, tuple[str, ...]]] = set()
        self._after = Followers(range(len(_STRENGTH)))
        for one in traces:
            self.add(one)

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, one: ToolTrace) -> None:
        """Count one more trace."""
        vector = self._encoder.encode(one.text)
        called = (*one.before, *one.tools)
        following = [*one.tools, END] if self._ends else one.tools
        with self._lock:
            for at, tool in enumerate(following, len(one.before)):
                row = self._rows.setdefault(tool, len(self._rows))
                self._after.add(len(self._vectors), called[:at], row)
            self._vectors.append(vector)
            if one.session:
                self._lessons.add((one.session, one.text, one.before))

    def knows(self, one: Lesson) -> bool:
        """Whether it has counted this search of this recorded session."""
        with self._lock:
            return (one.session, one.text, one.before) in self._lessons

    def learn(self, one: Lesson) -> None:
        """`add` a lesson of a recorded session."""
        self.add(ToolTrace(one.text, one.calls, one.before, one.session))

    def rank(self, text: str, history: Sequence[str] = ()) -> list[tuple[str, float]]:
        """(tool id, probability) of all tools that the traces know, best first; see `ends`."""
        asked = self._encoder.encode(text)
        with self._lock:
            if not self._vectors:
                return []
            if len(self._stacked) < len(self._vectors):
                self._stacked = np.stack(self._vectors)
            cosines = self._stacked @ asked
            likeness = np.exp((cosines - cosines.max()) / _TEMPERATURE).astype(np.float64)
            names = list(self._rows)
            chances: Probabilities = np.full(len(names), 1 / len(names))
            for length, strength in enumerate(_STRENGTH):
                owners, following = self._after.after(history, length)
                if not owners:
                    break
                chances = interpolated(chances, following, likeness[owners], strength)
        order = sorted(range(len(names)), key=lambda row: (-chances[row], names[row]))
        return [(names[row], float(chances[row])) for row in order if chances[row] > 0]
