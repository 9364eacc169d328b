"""Claims about cross-fitted priors."""

from dataclasses import replace

import numpy as np
import pytest

from ctrag.assistant.context.learned_features import KINDS, LearnedFeatures, kinds_of
from eval.core.examples import RankingExample
from training.ranker.learned_features import cross_fitted_features, fit_learned_features

pytestmark = pytest.mark.training

FOLDS, SEED = 3, 1


def same(first: LearnedFeatures, second: LearnedFeatures) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in LearnedFeatures.__slots__
    )


@pytest.mark.parametrize("held_out", range(FOLDS))
def test_a_folds_prior_does_not_depend_on_the_labels_of_its_people(
    examples: list[RankingExample], held_out: int
) -> None:
    learned, fold = cross_fitted_features(examples, FOLDS, SEED)
    drawn = np.random.default_rng(held_out)
    flipped = [
        replace(one, relevance=drawn.permutation(1 - one.relevance)) if place == held_out else one
        for one, place in zip(examples, fold, strict=True)
    ]
    changed, fold_again = cross_fitted_features(flipped, FOLDS, SEED)
    assert np.array_equal(fold, fold_again)
    assert same(changed[held_out], learned[held_out])
    for other in set(range(FOLDS)) - {held_out}:
        assert not same(changed[other], learned[other])


def test_each_prior_is_the_one_fitted_on_everybody_else(examples: list[RankingExample]) -> None:
    learned, fold = cross_fitted_features(examples, FOLDS, SEED)
    owners = [one.asked.person_id for one in examples]
    for held_out in range(FOLDS):
        inside = {owner for owner, place in zip(owners, fold, strict=True) if place == held_out}
        others = [one for one in examples if one.asked.person_id not in inside]
        assert 0 < len(others) < len(examples)
        assert same(learned[held_out], fit_learned_features(others))


def test_a_prior_prefers_what_the_requests_needed(examples: list[RankingExample]) -> None:
    learned = fit_learned_features(examples)
    for scores_of in (learned.app_scores, learned.kind_scores):
        margins = [
            scores_of(one.context)[one.relevance > 0].mean() - scores_of(one.context)[one.relevance == 0].mean()
            for one in examples
            if one.relevance.any()
        ]  # fmt: skip
        assert np.mean(margins) > 0.5


def test_a_class_with_fewer_than_three_examples_has_only_an_intercept(
    examples: list[RankingExample],
) -> None:
    learned = fit_learned_features(examples)
    needed = np.zeros(len(KINDS), dtype=int)
    for one in examples:
        needed[sorted(set(kinds_of(one.context)[one.relevance > 0]))] += 1
    rare = needed < 3
    assert rare[KINDS.index("other")]
    assert not learned.kind_weights[:-1, rare].any()
    assert (learned.kind_weights[-1, rare] == -6).all()
    assert learned.kind_weights[:-1, ~rare].any(axis=0).all()


def test_the_map_is_ridge_regression_towards_changing_nothing(
    examples: list[RankingExample],
) -> None:
    # Its objective, sum |x M - y|² + 30 |M - I|², has no gradient at the fitted map.
    pairs = [
        (one.context.vector, one.context.view.vectors[row])
        for one in examples
        for row in one.context.rows[one.relevance > 0]
    ]
    asked, needed = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    fitted = fit_learned_features(examples).item_map.astype(np.float64)
    gradient = asked.T @ (asked @ fitted - needed) + 30 * (fitted - np.eye(len(fitted)))
    assert abs(gradient).max() < 1e-4
