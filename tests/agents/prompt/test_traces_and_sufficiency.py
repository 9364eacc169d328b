"""The trace prior, and the calibrated sufficiency of exposed tools."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ctrag.agents.next_tool.traces import ToolTrace, TracePrior
from ctrag.agents.prompt.sufficiency import (
    OPEN_WORLD,
    RequestFit,
    Sufficiency,
    exposed_odds,
    fit_open_weights,
    fit_sufficiency,
)
from tests.agents.prompt.toys import TopicEncoder

TRACES = [
    ToolTrace("cancel order", ("find", "look", "cancel")),
    ToolTrace("return order", ("find", "look", "look", "return")),
    ToolTrace("flight", ("search", "book")),
]


def test_the_next_call_follows_traces_of_like_requests() -> None:
    trace_prior = TracePrior(TRACES, TopicEncoder())
    assert trace_prior.rank("cancel order", ["find", "look"])[0][0] == "cancel"
    assert trace_prior.rank("return order", ["look", "look"])[0][0] == "return"
    assert trace_prior.rank("flight", [])[0][0] == "search"
    assert trace_prior.rank("cancel order", [])[0][0] == "find"


def test_chances_sum_to_one_and_calls_never_seen_fall_back_to_shorter_contexts() -> None:
    trace_prior = TracePrior(TRACES, TopicEncoder())
    for history in ([], ["find"], ["book", "cancel"], ["nothing like it"]):
        ranked = trace_prior.rank("cancel order", history)
        assert sum(chance for _, chance in ranked) == pytest.approx(1)
        assert [chance for _, chance in ranked] == sorted((c for _, c in ranked), reverse=True)


def test_a_trace_prior_of_no_trace_is_refused() -> None:
    with pytest.raises(ValueError, match="traces: there is none to count"):
        TracePrior([], TopicEncoder())


def test_odds_are_those_of_the_exposed_share() -> None:
    scores = np.log(np.array([0.6, 0.3, 0.1]))
    assert exposed_odds(scores, [0]) == pytest.approx(np.log(0.6 / 0.4))
    assert exposed_odds(scores, [0, 1]) == pytest.approx(np.log(0.9 / 0.1))
    assert Sufficiency(1.0, 0.0).probability(scores, [0, 1]) == pytest.approx(0.9)
    assert Sufficiency(2.0, -1.0).probability(scores, []) < 1e-6


def test_calibration_recovers_overconfident_scores() -> None:
    """Scores that claim odds twice as strong as they are get a slope near one half."""
    draw = np.random.default_rng(0)
    scores, right = [], []
    for _ in range(2000):
        true = draw.normal(0, 2)
        claimed = 2 * true
        first = draw.random() < 1 / (1 + np.exp(-true))
        scores.append(np.array([claimed, 0.0]))
        right.append(np.array([first, not first]))
    slope, intercept = fit_sufficiency(scores, right, k=1)
    assert slope == pytest.approx(0.5, abs=0.08)
    assert abs(intercept) < 0.2


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no decision"):
        fit_sufficiency([], [])


def test_in_an_open_world_a_tool_that_fits_nothing_is_not_enough_and_neither_is_what_was_called() -> (
    None
):
    """One tool alone has all the probability; what tells is how near it is to the request."""
    open_world = Sufficiency(open_world=OPEN_WORLD)
    alone = np.zeros(1)

    def chance(scores: Any, cosine: Any, exposed: Sequence[int]) -> float:
        request = RequestFit(np.asarray(scores, float), np.asarray(cosine, float))
        return open_world.probability(np.zeros(len(cosine)), exposed, None, request)

    assert open_world.probability(alone, [0]) > 0.99, "without the request it is the likely one"
    assert chance([0.0], [0.02], [0]) < 0.1
    assert chance([0.0], [0.5], [0]) > 0.9
    assert chance([0.0, 9.0], [0.3, 0.6], [0]) < 0.1, "the request asks for the hidden one"


def test_open_weights_are_learned_from_both_kinds_of_decisions() -> None:
    evidence = np.array([[5.0, 5.0, 0.5, 0.0], [5.0, -5.0, 0.3, 0.3]] * 10)
    right = np.array([True, False] * 10)
    near, fits = np.array([0.5, 0.05] * 10), np.array([True, False] * 10)
    weights = fit_open_weights(evidence, right, near, fits)
    assert weights is not None
    assert weights.chance(evidence[0]) > 0.9 > 0.1 > weights.chance(evidence[1])
    assert fit_open_weights(evidence, np.ones(20, dtype=bool), near, fits) is None
