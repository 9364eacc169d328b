"""Arithmetic of the instruction experiment that a reader can redo."""

import numpy as np
import pytest

from eval.instructions.figures import (
    ANSWER_TOKENS,
    FOLDS,
    PRICES,
    cross_fitted_chances,
    cross_validated_gate,
    episode_costs,
    fit_hazard,
    fold_of,
    hazard,
    most_loops,
)
from eval.instructions.methods import ShownPrompt
from eval.instructions.summary import hazard_model, latency


def test_an_episode_takes_what_its_prompts_take_together() -> None:
    found = latency([1, 2, 3, 10.0], ["a", "a", "b", "a"])
    assert found == {"p50": 2.5, "p95": 8.95, "episode_p50": 8.0, "episode_p95": 12.5}  # 13, 3


def test_equation_5_and_6_are_what_the_paper_writes() -> None:
    alpha, beta, size, recall = 4.0, 0.2, 21, 0.9
    assert float(hazard(beta / alpha, size)) == pytest.approx(alpha / (alpha + beta * (size - 1)))
    assert float(hazard(beta / alpha, 2, recall)) == pytest.approx(recall * alpha / (alpha + beta))


def test_the_hazard_fit_finds_the_ratio_that_made_the_figures() -> None:
    sizes = [8, 40, 120]
    right = [1 / (1 + 0.05 * (size - 1)) for size in sizes]
    assert fit_hazard(sizes, right) == pytest.approx(0.05, rel=0.01)
    with pytest.raises(ValueError, match="sizes: one must be above 1"):
        fit_hazard([1], [1.0])


def test_equation_6_counts_the_tools_that_itr_exposes() -> None:
    """Half of the whole prompts of three tools are right, so beta/alpha is 1/2; ITR shows two."""
    two = ShownPrompt(50, {"a": "s/a", "b": "s/b"}, True, "")
    one = ShownPrompt(40, {"a": "s/a"}, False, "")
    figures = {
        "3": {
            "monolithic": {"tools_correct": 50.0},
            "itr": {"tools_correct": 30.0, "gold_exposed": 60.0},
        }
    }
    found = hazard_model({"3": {"itr": [two, two, one, one]}}, figures)
    assert found["beta_over_alpha"] == pytest.approx(0.5, rel=0.01)
    at_3 = found["itr@3"]
    assert at_3["exposed_tools"] == 1.5
    assert at_3["predicted"] == pytest.approx(100 * 0.6 / (1 + 0.5 * 0.5), abs=0.2)


def test_thresholds_come_from_the_other_folds_and_keep_to_the_share() -> None:
    draw = np.random.default_rng(3)
    episodes = [f"e{number // 4}" for number in range(2000)]
    sufficiency = draw.random(2000)
    missed = draw.random(2000) > sufficiency
    gate = cross_validated_gate(sufficiency, missed, episodes, share=0.15)
    assert len(gate.taus) == FOLDS
    assert 0.10 < gate.discovered.mean() <= 0.15
    folds = np.array([fold_of(one) for one in episodes])
    for fold, tau in enumerate(gate.taus):
        changed = sufficiency.copy()
        changed[folds == fold] = 0.0  # the fold's own figures do not move its threshold
        assert cross_validated_gate(changed, missed, episodes, share=0.15).taus[fold] == tau


def test_discovery_runs_no_further_than_the_other_folds_misses_lie() -> None:
    episodes = [f"e{number}" for number in range(400)]
    sufficiency = np.linspace(0.0, 1.0, 400)
    nothing = np.zeros(400, dtype=bool)
    assert not cross_validated_gate(sufficiency, nothing, episodes).discovered.any()
    few = nothing.copy()
    few[[3, 9]] = True
    gate = cross_validated_gate(sufficiency, few, episodes)
    assert np.flatnonzero(gate.discovered).max() <= 9
    assert max(gate.taus) == np.nextafter(sufficiency[9], 2.0)


def test_cross_fitted_chances_never_saw_their_own_fold() -> None:
    draw = np.random.default_rng(5)
    episodes = [f"e{number}" for number in range(1000)]
    odds = draw.normal(0, 2, 1000)
    right = draw.random(1000) < 1 / (1 + np.exp(-odds / 2))
    chances = cross_fitted_chances(odds, right, episodes)
    assert abs(chances.mean() - right.mean()) < 0.03
    own = np.array([fold_of(one) == 0 for one in episodes])
    changed = right.copy()
    changed[own] = ~changed[own]
    assert np.array_equal(cross_fitted_chances(odds, changed, episodes)[own], chances[own])


def test_all_steps_of_an_episode_are_in_one_fold() -> None:
    assert {fold_of(f"retail-{number}") for number in range(200)} == set(range(5))
    assert fold_of("retail-7") == fold_of("retail-7")


def test_costs_are_tokens_at_the_stated_prices() -> None:
    one = (1000 + 200) * PRICES["input"] / 1e6 + ANSWER_TOKENS * PRICES["output"] / 1e6
    two = (500 + 100) * PRICES["input"] / 1e6 + ANSWER_TOKENS * PRICES["output"] / 1e6
    found = episode_costs([1000, 1000, 500], [200, 200, 100], ["a", "a", "b"])
    assert found == pytest.approx([2 * one, two])


def test_loops_in_a_window_are_those_of_the_papers_first_table() -> None:
    assert most_loops(40_000, 2000) == 480
    assert most_loops(1500, 2000) == 499
    assert most_loops(2_000_000, 2000) == 0
