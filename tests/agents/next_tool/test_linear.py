"""Claims about the linear models, against the plainest computation."""

import numpy as np
import pytest

from ctrag.agents.next_tool.linear import (
    fit_softmax,
    history_text,
    log_softmax,
    moved,
    softmax_probabilities,
    solve_ridge,
)

RANDOM = np.random.default_rng(0)


def test_history_stands_behind_the_request_as_words() -> None:
    assert history_text("go", ()) == "go"
    assert history_text("go", ("set_alarm", "call")) == "go | set alarm, call"


def test_a_separable_choice_is_learned() -> None:
    inputs = np.eye(3, dtype=np.float32)
    weights = fit_softmax(inputs, np.eye(3, dtype=np.float32), penalty=1e-4)
    for place, row in enumerate(inputs):
        chances = softmax_probabilities(weights, row)
        assert chances.argmax() == place
        assert chances.sum() == pytest.approx(1, abs=1e-5)


def test_chances_are_shares_of_the_targets_where_inputs_are_the_same() -> None:
    inputs = np.ones((1, 2), dtype=np.float32) / np.sqrt(2, dtype=np.float32)
    weights = fit_softmax(inputs, np.array([[3, 1, 0]], np.float32), penalty=1e-6, iterations=200)
    assert softmax_probabilities(weights, inputs[0]) == pytest.approx([0.75, 0.25, 0], abs=0.01)


def test_log_softmax_is_the_logarithm_of_the_shares() -> None:
    scores = np.array([[1.0, 2.0, 1000.0]], np.float32)
    assert np.exp(log_softmax(scores)).sum() == pytest.approx(1)
    small = np.array([[0.0, np.log(3.0)]], np.float32)
    assert np.exp(log_softmax(small))[0] == pytest.approx([0.25, 0.75])


def test_a_refit_is_what_fitting_everything_at_once_gives_where_inputs_are_apart() -> None:
    """With inputs that share no column, the old weights' certainty is all there is to know."""
    old = np.repeat(np.eye(4, dtype=np.float32), 3, axis=0)
    new = np.eye(4, dtype=np.float32)[[0, 2, 2]]
    targets = RANDOM.normal(size=(15, 2)).astype(np.float32)
    both = np.vstack([old, new])
    at_once = solve_ridge(both.T @ both, both.T @ targets, 0.5)
    before = solve_ridge(old.T @ old, old.T @ targets[:12], 0.5)
    precision = np.diag(old.T @ old) + np.float32(0.5)
    assert moved(before, new, targets[12:], precision) == pytest.approx(at_once, abs=1e-5)
