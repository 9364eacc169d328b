"""Fitting a `LearnedFeatures`: two logistic classifiers and a ridge map, from labelled requests."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.learned_features import KINDS, LearnedFeatures, kinds_of
from ctrag.models.encoder import Matrix
from eval.core.examples import RankingExample
from training.core.folds import folds_by_person

_INVERSE_PENALTY = 3.0
_MAP_PENALTY = 30.0
_FEWEST = 3
_RARE = -6.0
"""Log odds of a class with fewer than `_FEWEST` examples."""


def fit_learned_features(examples: Sequence[RankingExample]) -> LearnedFeatures:
    """Features that predict needs from a request's meaning, fitted on `examples`."""
    vectors = np.stack([example.context.vector for example in examples])
    applications = len(examples[0].context.view.app_names)
    apps = np.zeros((len(examples), applications), dtype=bool)
    kinds = np.zeros((len(examples), len(KINDS)), dtype=bool)
    asked: list[Matrix] = []
    needed: list[Matrix] = []
    for row, example in enumerate(examples):
        context, relevant = example.context, example.relevance > 0
        apps[row, context.similar_apps[relevant]] = True
        kinds[row, kinds_of(context)[relevant]] = True
        for vector in context.view.vectors[context.rows[relevant]]:
            asked.append(context.vector)
            needed.append(vector)
    return LearnedFeatures(
        app_weights=_one_against_rest(vectors, apps),
        kind_weights=_one_against_rest(vectors, kinds),
        item_map=_ridge_map(np.stack(asked), np.stack(needed)),
    )


def cross_fitted_features(
    examples: Sequence[RankingExample], folds: int, seed: int
) -> tuple[list[LearnedFeatures], NDArray[np.int64]]:
    """One prior per fold, fitted without that fold's people, and each example's fold."""
    fold = folds_by_person([example.asked.person_id for example in examples], folds, seed)
    learned = [
        fit_learned_features(
            [one for one, place in zip(examples, fold, strict=True) if place != held_out]
        )
        for held_out in range(folds)
    ]
    return learned, fold


def _one_against_rest(vectors: Matrix, classes: NDArray[np.bool_]) -> Matrix:
    from sklearn.linear_model import LogisticRegression

    weights = np.zeros((vectors.shape[1] + 1, classes.shape[1]), dtype=np.float32)
    for column, members in enumerate(classes.T):
        if not _FEWEST <= members.sum() <= len(members) - _FEWEST:
            weights[-1, column] = _RARE if members.sum() < _FEWEST else -_RARE
            continue
        fitted = LogisticRegression(C=_INVERSE_PENALTY, max_iter=300).fit(vectors, members)
        weights[:-1, column] = fitted.coef_[0]
        weights[-1, column] = fitted.intercept_[0]
    return weights


def _ridge_map(asked: Matrix, needed: Matrix) -> Matrix:
    """Least squares from request to item, pulled towards "change nothing"."""
    identity = np.eye(asked.shape[1])
    left = asked.T @ asked + _MAP_PENALTY * identity
    right = asked.T @ needed + _MAP_PENALTY * identity
    return np.asarray(np.linalg.solve(left, right), dtype=np.float32)
