"""Claims about fitting the tool prior."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctrag.encoder import Encoder
from eval.examples import Example
from training.cross_fitted import CrossFitted, cross_fit, prepare
from training.ranker_settings import FIRST, SECOND, RankerSettings
from training.tools import (
    ToolPriorSettings,
    fit_tool_prior,
    inputs_alone,
    inputs_with_context,
    targets,
    train_tool_prior,
)

SETTINGS = RankerSettings(
    folds=3, first=replace(FIRST, rounds=10), second=replace(SECOND, rounds=5), threads=1
)
APIS = ["read_note", "play_song", "none"]


@pytest.fixture(scope="module")
def fitted(dozen: Path, encoder: Encoder) -> CrossFitted:
    return cross_fit(prepare(dozen, encoder, SETTINGS), SETTINGS)


def test_the_best_tool_is_the_target_and_no_tool_is_none(examples: list[Example]) -> None:
    labels = examples[0].labels
    rows = [
        replace(examples[0], labels=replace(labels, tools=tools))
        for tools in (("play_song", "read_note"), (), None, ("unheard_of",))
    ]
    assert list(targets(rows, APIS)) == [1, 2, -1, -1]


def test_a_separable_choice_is_learned_and_unseen_classes_stay_improbable() -> None:
    alone = np.repeat(np.eye(2, dtype=np.float32), 20, axis=0)
    wanted = np.repeat([0, 2], 20)
    weights = fit_tool_prior(alone, alone, wanted, 3, ToolPriorSettings())
    scores = alone @ weights[:-1] + weights[-1]
    assert list(scores.argmax(axis=1)) == list(wanted)
    assert (scores[:, 1] < scores.max(axis=1) - 20).all()


def test_examples_without_a_label_teach_nothing() -> None:
    inputs = np.repeat(np.eye(2, dtype=np.float32), 20, axis=0)
    wanted = np.repeat([0, 1], 20)
    noise = np.vstack([inputs, np.full((5, 2), 9.0, dtype=np.float32)])
    unsaid = np.concatenate([wanted, [-1] * 5])
    plain = fit_tool_prior(inputs, inputs, wanted, 2, ToolPriorSettings())
    assert fit_tool_prior(noise, noise, unsaid, 2, ToolPriorSettings()) == pytest.approx(plain)


def test_context_follows_the_out_of_fold_scores(fitted: CrossFitted) -> None:
    one = fitted.examples[:1]
    upright = inputs_with_context(one, fitted.scores[:1])
    reverse = inputs_with_context(one, [-fitted.scores[0]])
    assert not np.array_equal(upright, reverse)
    assert np.array_equal(inputs_alone(one)[0][:24], upright[0][:24])


def test_figures_of_the_card_come_from_people_that_the_weights_never_saw(
    fitted: CrossFitted, dozen: Path, encoder: Encoder
) -> None:
    """Labels that nothing predicts give chance figures, though all of them are learned by heart."""
    rng = np.random.default_rng(0)
    apis = ["read_note", "play_song", "call_contact", "read_mail"]
    scrambled = [
        replace(one, labels=replace(one.labels, tools=(apis[int(rng.integers(4))],)))
        for one in fitted.examples
    ]
    prior = train_tool_prior(
        replace(fitted, examples=scrambled), [dozen], encoder, ToolPriorSettings(100.0), 0
    )
    assert prior.card.figures["query_only"]["recall@1"] < 45
    assert set(prior.card.figures) == {"with_context", "query_only"}


def test_training_twice_gives_the_same_weights(
    fitted: CrossFitted, dozen: Path, encoder: Encoder
) -> None:
    first = train_tool_prior(fitted, [dozen], encoder, ToolPriorSettings(), 0)
    second = train_tool_prior(fitted, [dozen], encoder, ToolPriorSettings(), 0)
    assert np.array_equal(first.weights, second.weights)
    assert first.card == second.card
