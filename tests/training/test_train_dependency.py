"""Claims about fitting the next tool: nothing the trees learn from has seen its own chain."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import training.dependency as fitting
from ctrag.tools.dependency import NextTool, load_demonstrations
from ctrag.tools.dependency.evidence import SIGNALS, candidates


def test_signals_of_a_chain_come_from_models_that_never_saw_it(
    chains: Path, fit_chains: Callable[..., NextTool], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, set[str]]] = []
    asked = fitting.ask

    def watched(memory: Any, weights: Any, texts: Any, text: str, vector: Any) -> Any:
        seen.append((text, {one.text for one in memory.demonstrations}))
        return asked(memory, weights, texts, text, vector)

    monkeypatch.setattr(fitting, "ask", watched)
    rows = load_demonstrations(chains)
    fit_chains(rows, linear=False, trees=2)
    assert {text for text, _ in seen} == {one.text for one in rows}
    assert all(text not in known for text, known in seen)


def test_fold_weights_are_those_of_the_other_folds_alone(
    chains: Path, fit_chains: Callable[..., NextTool], monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[Any] = []
    made = fitting._fit_trees
    monkeypatch.setattr(
        fitting, "_fit_trees", lambda stage, texts: stages.append(stage) or made(stage, texts)
    )
    fit_chains(load_demonstrations(chains), linear=False, trees=2)
    [stage] = stages
    kept = stage.fold != 0
    weights, _ = stage.weights(kept)
    rows = kept[stage.steps.owner]
    inputs, wanted = stage._rows[rows], stage._wanted[rows]
    gram = inputs.T @ inputs + np.eye(inputs.shape[1], dtype=np.float32)
    assert weights.step == pytest.approx(np.linalg.solve(gram, inputs.T @ wanted), abs=2e-2)


def test_fitting_twice_gives_the_same_model(
    chains: Path, fit_chains: Callable[..., NextTool]
) -> None:
    rows = load_demonstrations(chains)
    one, two = (fit_chains(rows, linear=False, trees=5) for _ in range(2))
    assert one.fitted.trees == two.fitted.trees
    assert np.array_equal(one.fitted.step, two.fitted.step)


def test_end_and_the_likely_ones_are_always_candidates() -> None:
    table = np.zeros((100, len(SIGNALS)), dtype=np.float32)
    table[77, SIGNALS.index("cosine")] = 1
    table[88, SIGNALS.index("linear")] = 1
    rows = set(candidates(table))
    assert {0, 77, 88} <= rows
    assert len(rows) < 70


def test_too_few_chains_for_the_folds_are_told(
    chains: Path, fit_chains: Callable[..., NextTool]
) -> None:
    with pytest.raises(ValueError, match="4 folds need as many people, there are 3"):
        fit_chains(load_demonstrations(chains)[:3])
