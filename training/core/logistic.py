"""Logistic regressions whose figures are cross-validated by person."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.core.folds import folds_by_person

FOLDS = 5


@dataclass(frozen=True, slots=True)
class FittedLogistic:
    """A regression on all rows, and what those of the other folds say of each row."""

    weights: NDArray[np.float64]
    bias: float
    stated: NDArray[np.float64]
    """(rows,): probability by the regression that never saw the row's person."""

    @property
    def rounded(self) -> dict[str, Any]:
        """Weights and bias for a card."""
        weights = [round(float(one), 6) for one in self.weights]
        return {"weights": weights, "bias": round(self.bias, 6)}


def fit_logistic(
    table: NDArray[np.floating],
    wanted: NDArray[np.bool_],
    people: Sequence[str],
    *,
    strength: float,
    balanced: bool = False,
    seed: int = 1,
) -> FittedLogistic:
    """Fit on all rows, and on the rows of four in five people for the rest.

    Args:
        table: (rows, features).
        wanted: (rows,).
        people: Of each row; nobody is in two folds.
        strength: Inverse of the ridge penalty.
        balanced: Whether both classes weigh alike, however many rows they have.
        seed: Decides the folds.
    """
    from sklearn.linear_model import LogisticRegression

    weight = "balanced" if balanced else None

    def fitted(rows: NDArray[np.bool_]) -> LogisticRegression:
        model = LogisticRegression(C=strength, class_weight=weight, max_iter=2000)
        return model.fit(table[rows], wanted[rows])

    folds = folds_by_person(people, min(FOLDS, len(set(people))), seed)
    stated = np.zeros(len(wanted))
    for fold in np.unique(folds):
        stated[folds == fold] = fitted(folds != fold).predict_proba(table[folds == fold])[:, 1]
    model = fitted(np.ones(len(wanted), dtype=bool))
    return FittedLogistic(model.coef_[0], float(model.intercept_[0]), stated)
