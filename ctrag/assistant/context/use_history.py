"""What a person's recorded requests were about, as features of the items of a next request."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.feature_context import Doubles
from ctrag.assistant.context.item_arrays import Floats, Ints
from ctrag.assistant.context.learned_features import KINDS
from ctrag.models.encoder import Matrix
from stores.people.usage import Use

FEATURES = ("memory", "item", "kind")
ALIKE = 0.4
"""Cosine of two requests from which they count as alike."""
ITEM_SMOOTHING, KIND_SMOOTHING = 1.0, 3.0
"""Uses that are added to what was meant and to what was expected."""


def _none() -> Doubles:
    return np.zeros(len(KINDS))


@dataclass(slots=True)
class UseHistory:
    """Recorded requests, oldest first."""

    vectors: list[Matrix] = field(default_factory=list)
    """Unit vectors of the requests."""
    items: list[tuple[str, ...]] = field(default_factory=list)
    """What each was about."""
    meant: dict[str, float] = field(default_factory=dict)
    """Item → how many requests were about it; one about two items is half about each."""
    expected: dict[str, float] = field(default_factory=dict)
    """Item → the packaged ranker's probabilities of it, added up."""
    kinds_meant: Doubles = field(default_factory=_none)
    kinds_expected: Doubles = field(default_factory=_none)

    def add(self, use: Use, vector: Matrix) -> None:
        """Add a request.

        Args:
            use: As it was recorded.
            vector: Its unit vector.
        """
        self.vectors.append(vector)
        self.items.append(use.items)
        for item in use.items:
            self.meant[item] = self.meant.get(item, 0.0) + 1 / len(use.items)
        for one, chance in zip(use.ranked, probabilities(scores_of(use)), strict=True):
            self.expected[one.id] = self.expected.get(one.id, 0.0) + float(chance)
            self.kinds_expected[one.kind] += chance
        right = meant_of(use)
        for one, is_right in zip(use.ranked, right, strict=True):
            self.kinds_meant[one.kind] += is_right / max(right.sum(), 1)

    def features(self, vector: Matrix, ids: Sequence[str], kinds: Ints) -> Doubles:
        """(len(FEATURES), items): what the history says of each item.

        Args:
            vector: Unit vector of the request.
            ids: Of the items.
            kinds: Their positions in `KINDS`.
        """
        memory = self._memory(vector)
        meant = np.array([self.meant.get(one, 0.0) for one in ids]) + ITEM_SMOOTHING
        expected = np.array([self.expected.get(one, 0.0) for one in ids]) + ITEM_SMOOTHING
        of_kinds = np.log(
            (self.kinds_meant + KIND_SMOOTHING) / (self.kinds_expected + KIND_SMOOTHING)
        )
        found = np.stack(
            [
                np.array([memory.get(one, 0.0) for one in ids]),
                np.log(meant / expected),
                of_kinds[kinds],
            ]
        )
        return np.asarray(found, dtype=np.float64)

    def _memory(self, vector: Matrix) -> dict[str, float]:
        """Item → how alike the most alike request about it is, above `ALIKE`."""
        best: dict[str, float] = {}
        if not self.vectors:
            return best
        likeness = np.stack(self.vectors) @ vector - ALIKE
        for row in np.flatnonzero(likeness > 0):
            for item in self.items[row]:
                best[item] = max(best.get(item, 0.0), float(likeness[row]))
        return best


def scores_of(use: Use) -> Floats:
    """Scores of the packaged ranker."""
    return np.array([one.score for one in use.ranked], dtype=np.float32)


def meant_of(use: Use) -> NDArray[np.bool_]:
    """Which of the ranked items the request was about."""
    return np.array([one.id in use.items for one in use.ranked], dtype=bool)


def probabilities(scores: NDArray[np.floating]) -> Doubles:
    """Softmax: LambdaMART's scores are log odds to within a factor that was measured as 1."""
    chances = np.exp(scores.astype(np.float64) - scores.max(initial=-np.inf))
    return np.asarray(chances / chances.sum(), dtype=np.float64)
