"""The trace prior, and the calibrated sufficiency of exposed tools."""

import numpy as np
import pytest

from ctrag.agents.next_tool.traces import ToolTrace, TracePrior
from ctrag.agents.prompt.sufficiency import Sufficiency, exposed_odds, fit_sufficiency
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
