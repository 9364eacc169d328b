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
class RequestFit:
    """What the request alone says of the tools, whatever was called before."""

    scores: Floats
    """(tools,): log odds, up to a constant."""
    cosine: Floats
    """(tools,): to the request."""


@dataclass(frozen=True, slots=True)
class OpenWeights:
    """Weights of what tells that something else is needed: another server's tool, or none here."""

    shown: float
    """Of the exposed tools' share of what is known of a step."""
    asked: float
    """Of their share by the request alone."""
    ahead: float
    """Of how far a hidden tool's cosine to the request is ahead of the exposed ones'."""
    intercept: float
    nearest: float
    """Of the best cosine of an exposed tool: whether any tool fits at all."""
    nearest_intercept: float

    def chance(self, evidence: Sequence[float]) -> float:
        """That a right tool is exposed: that the exposed ones are the likely ones, times that one
        of them fits at all; of an `open_evidence`."""
        shown, asked, nearest, ahead = evidence
        likely = self.shown * shown + self.asked * asked + self.ahead * ahead + self.intercept
        fits = self.nearest * nearest + self.nearest_intercept
        return _logistic(likely) * _logistic(fits)


OPEN_WORLD = OpenWeights(-2.465, 6.648, -0.604, 19.623, 34.799, -7.16)
"""Of episodes with a need outside the first server, for the default settings; printed by
`ctrag eval instructions`, for which they are cross-fitted."""


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Probability that a right tool is exposed.

    The odds of the exposed tools' share of the total probability, corrected by a slope and an
    intercept fitted on held-out decisions, plus the model's own odds where it rates itself. Where
    it is known what the request alone says, `open_world` joins in: the right tool may be none of
    the likely ones.
    """

    slope: float = 1.0
    intercept: float = 0.0
    self_rating: float = SELF_RATING
    """Weight of the model's own odds; 0 leaves them out."""
    open_world: OpenWeights | None = None

    def probability(
        self,
        scores: Floats,
        exposed: Sequence[int],
        rated: float | None = None,
        request: RequestFit | None = None,
    ) -> float:
        """0 to 1.

        Args:
            scores: Log odds of all tools, up to a constant.
            exposed: Rows of the exposed ones.
            rated: The model's own probability that they are enough; None if not asked.
            request: What the request alone says.
        """
        if self.open_world is not None and request is not None:
            odds = _odds(self.open_world.chance(open_evidence(scores, exposed, request)))
        else:
            odds = self.slope * exposed_odds(scores, exposed) + self.intercept
        if rated is not None and self.self_rating:
            odds += self.self_rating * _odds(rated)
        return _logistic(odds)


def exposed_odds(scores: Floats, exposed: Sequence[int]) -> float:
    """Log odds that the right tool is among the exposed ones, taking the scores as exact."""
    if not exposed:
        return _odds(0.0)
    shares = np.exp(scores - scores.max())
    return _odds(float(shares[list(exposed)].sum() / shares.sum()))


def open_evidence(
    scores: Floats, exposed: Sequence[int], request: RequestFit
) -> tuple[float, float, float, float]:
    """What `OpenWeights` weighs, in its order; odds are cut at 5, where they say no more."""
    rows = list(exposed)
    nearest = float(request.cosine[rows].max()) if rows else 0.0
    hidden = np.delete(request.cosine, rows)
    ahead = max(0.0, float(hidden.max()) - nearest) if len(hidden) else 0.0
    shares = (exposed_odds(scores, rows), exposed_odds(request.scores, rows))
    shown, asked = (min(max(one, -5.0), 5.0) for one in shares)
    return shown, asked, nearest, ahead


def fit_open_weights(
    evidence: Floats,
    right: NDArray[np.bool_],
    nearest: Floats,
    fits: NDArray[np.bool_],
) -> OpenWeights | None:
    """Weights by two logistic regressions; None where all decisions had the same outcome.

    Args:
        evidence: (decisions, 4), as `open_evidence` says.
        right: Whether a right tool was exposed.
        nearest: (catalogues,): the best cosine of all tools.
        fits: Whether a catalogue had a right tool.
    """
    from sklearn.linear_model import LogisticRegression

    if right.all() or not right.any() or fits.all() or not fits.any():
        return None
    likely = LogisticRegression(C=10.0, max_iter=1000).fit(evidence[:, [0, 1, 3]], right)
    shown, asked, ahead = (round(float(one), 3) for one in likely.coef_[0])
    near = LogisticRegression(C=100.0).fit(nearest[:, None], fits)
    return OpenWeights(
        shown,
        asked,
        ahead,
        round(float(likely.intercept_[0]), 3),
        round(float(near.coef_[0, 0]), 3),
        round(float(near.intercept_[0]), 3),
    )


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


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-max(min(odds, 500.0), -500.0)))


def _odds(share: float) -> float:
    inside = min(max(share, _LEAST), 1 - _LEAST)
    return math.log(inside / (1 - inside))
