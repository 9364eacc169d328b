"""Calibrated probability that the exposed tools are enough (paper, 3.7)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.errors import InputError

Floats = NDArray[np.float64]
SELF_RATING = 0.5
"""Weight of a model's own odds beside the calibrated ones. Chosen, not measured: models
rate themselves too high, so their rating counts half."""
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Probability that a right tool is exposed.

    The odds of the exposed tools' share of the total probability, corrected by a slope and an
    intercept fitted on held-out decisions, plus the model's own odds where it rates itself.
    """

    slope: float = 1.0
    intercept: float = 0.0
    self_rating: float = SELF_RATING
    """Weight of the model's own odds; 0 leaves them out."""

    def probability(
        self, scores: Floats, exposed: Sequence[int], rated: float | None = None
    ) -> float:
        """0 to 1.

        Args:
            scores: Log odds of all tools, up to a constant.
            exposed: Rows of the exposed ones.
            rated: The model's own probability that they are enough; None if not asked.
        """
        odds = self.slope * exposed_odds(scores, exposed) + self.intercept
        if rated is not None and self.self_rating:
            odds += self.self_rating * _odds(rated)
        return 1 / (1 + math.exp(-odds))


def exposed_odds(scores: Floats, exposed: Sequence[int]) -> float:
    """Log odds that the right tool is among the exposed ones, taking the scores as exact."""
    if not exposed:
        return _odds(0.0)
    shares = np.exp(scores - scores.max())
    return _odds(float(shares[list(exposed)].sum() / shares.sum()))


def fit_sufficiency(
    scores: Sequence[Floats], right: Sequence[NDArray[np.bool_]], k: int = 2
) -> tuple[float, float]:
    """Slope and intercept from decisions: was a right tool among the best `k`?

    Args:
        scores: Scores of the candidates, per decision.
        right: Which candidates are right, per decision.
        k: Tools exposed.

    Raises:
        ValueError: There is no decision.
    """
    if not scores:
        raise InputError("scores: there is no decision to learn from")
    odds, found = [], []
    for one, gold in zip(scores, right, strict=True):
        best = [int(row) for row in np.argsort(-one, kind="stable")[:k]]
        odds.append(exposed_odds(one, best))
        found.append(bool(gold[best].any()))
    return calibrated(np.array(odds), np.array(found))


def calibrated(odds: Floats, right: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and intercept that calibrate log odds; (1, 0) if all decisions had the same outcome."""
    from sklearn.linear_model import LogisticRegression

    if right.all() or not right.any():
        return 1.0, 0.0
    model = LogisticRegression(C=10.0).fit(odds[:, None], right)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _odds(share: float) -> float:
    inside = min(max(share, _LEAST), 1 - _LEAST)
    return math.log(inside / (1 - inside))
