"""Claims about training the API classifier: seed, resume, figures, its ONNX and NumPy twin."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ctrag.assistant.api_choice.classifier import LONGEST, ApiClassifier, log_softmax, tokens_of
from ctrag.assistant.api_choice.item_weights import item_weights
from ctrag.models import packages
from eval.core.examples import RankingExample
from training.api_classifier import train as module
from training.api_classifier.examples import MODES, ClassifierExample, seen_requests
from training.api_classifier.network import ApiClassifierSettings, ClassifierEncoderTuning
from training.core import steps
from training.core.figures import recall

SMALL = ClassifierEncoderTuning(packages.ENCODER, epochs=2, learning_rate=1e-3, layers=1, lines=1)
QUICK = ApiClassifierSettings(towers=(SMALL,), rank=2, batch=4, hidden=16, threads=1)
CARD = {
    "command": "ctrag train tools",
    "encoder": "bins",
    "data": "toy",
    "data_sha256": "hash",
    "seed": 1,
    "versions": {},
}


@pytest.fixture(scope="module")
def seen(examples: list[RankingExample]) -> list[ClassifierExample]:
    return seen_requests(examples, [one.relevance for one in examples])[:12]


def train(
    seen: list[ClassifierExample], folder: Path, settings: ApiClassifierSettings = QUICK
) -> ApiClassifier:
    return module.train_classifier(seen[:8], seen[8:], settings, CARD, folder)


def test_every_request_has_all_modes(examples: list[RankingExample]) -> None:
    hidden = [-one.relevance for one in examples]
    for one, seen in zip(examples, seen_requests(examples, hidden), strict=True):
        wanted = int(one.relevance.sum())
        assert seen.features["none"].lines == ()
        assert len(seen.features["labelled"].lines) == min(wanted, 5)
        assert not set(seen.features["labelled"].lines) & set(seen.features["retrieved"].lines)
        assert seen.wanted.sum() == pytest.approx(1.0)


def test_the_best_of_three_labelled_apis_has_the_largest_weight(
    examples: list[RankingExample],
) -> None:
    example = next(one for one in examples if one.labels.tools)
    [seen] = seen_requests([example], [example.relevance])
    assert example.labels.tools is not None
    shares = dict(zip(ApiClassifier.packaged().card.apis, seen.wanted.tolist(), strict=True))
    assert [shares[api] for api in example.labels.tools] == pytest.approx([0.7, 0.2, 0.1])


def test_a_killed_run_resumes_to_the_same_weights(
    seen: list[ClassifierExample], tmp_path: Path
) -> None:
    class Killed(Exception):
        pass

    whole = train(seen, tmp_path / "whole")
    saved = steps.save

    def kill(*arguments: Any) -> None:
        saved(*arguments)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "save", kill)
        with pytest.raises(Killed):
            train(seen, tmp_path / "cut")
    cut = train(seen, tmp_path / "cut")
    assert whole.arrays.keys() == cut.arrays.keys()
    for name, array in whole.arrays.items():
        assert np.array_equal(array, cut.arrays[name]), name
    assert whole.card.figures == cut.card.figures
    assert set(MODES) <= set(whole.card.figures)


def test_the_served_classifier_agrees_with_the_trained_one(
    seen: list[ClassifierExample], examples: list[RankingExample], tmp_path: Path, configure: Any
) -> None:
    configure(weights=tmp_path / "weights")
    trained = train(seen, tmp_path / "checkpoints", replace(QUICK, scale=4.0))
    trained.save(tmp_path)
    served = ApiClassifier.load(tmp_path)
    network = module._fit(
        SMALL, seen[:8], replace(QUICK, scale=4.0), tmp_path / "checkpoints" / "none.pt", print
    )
    some = [one for one in examples if one.labels.tools is not None][:4]
    torch_logs = log_softmax(module._scores(network, seen[:4], "retrieved", QUICK))
    for example, logs in zip(some, torch_logs, strict=True):
        best = np.argsort(-example.relevance, kind="stable")[:5]
        shares = item_weights(example.relevance[best])
        found = served.log_probabilities(example.context, best, shares)
        assert list(found) == served.card.apis
        expected = log_softmax(logs / served.card.temperature)
        assert np.array(list(found.values())) == pytest.approx(expected, abs=0.1)


def test_needed_items_are_marked_among_the_retrieved_ones(
    examples: list[RankingExample],
) -> None:
    hidden = [-one.relevance for one in examples]  # the needed ones come last
    for one, first, last in zip(
        examples,
        seen_requests(examples, [one.relevance for one in examples]),
        seen_requests(examples, hidden),
        strict=True,
    ):
        assert first.needed.sum() == min(one.relevance.sum(), 5)
        assert not first.needed[int(one.relevance.sum()) :].any()
        assert last.needed.sum() == 0 or len(one.relevance) < one.relevance.sum() + 5


def test_missing_the_needed_item_costs_by_its_share_of_attention() -> None:
    attention = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8], [0.2, 0.3, 0.5]])
    needed = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    expected = -(np.log(0.5) + np.log(0.9)) / 2  # the third has no needed item in sight
    assert float(module._missed(attention, needed)) == pytest.approx(expected, abs=1e-4)


def test_the_words_of_an_item_are_read_beside_the_request(tmp_path: Path, configure: Any) -> None:
    configure(weights=tmp_path)
    encode = tokens_of(packages.ENCODER)
    tokens = encode("push it\nmail: the invoice\nnotes: groceries")
    words = [tokens.ids[begin:end] for begin, end in tokens.lines]
    assert words == [encode(line).ids[1:] for line in ("mail: the invoice", "notes: groceries")]
    long = encode("\n".join(["word " * 60] * 9))
    assert len(long.ids) == LONGEST
    assert all(0 < begin < end <= LONGEST for begin, end in long.lines)


def test_recall_counts_the_best_api_and_none_apart() -> None:
    scores = np.log(np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7], [0.7, 0.2, 0.1]]))
    found = recall(scores, np.array([0, 1, 2, 2]))
    assert found["recall@1"] == 50.0
    assert found["recall@3"] == 100.0
    assert found["none_found"] == 50.0
    assert found["none_wrongly"] == 0.0


def test_the_temperature_undoes_a_flattening() -> None:
    draw = np.random.default_rng(0)
    logs = log_softmax(draw.normal(size=(4000, 5)) * 3)
    gold = np.array([draw.choice(5, p=np.exp(row)) for row in logs])
    assert module.fit_temperature(logs, gold) == pytest.approx(1.0, abs=0.1)
    assert module.fit_temperature(logs * 0.5, gold) == pytest.approx(0.5, abs=0.06)


def test_further_training_starts_from_the_given_classifier(
    seen: list[ClassifierExample], tmp_path: Path
) -> None:
    first = train(seen, tmp_path / "first")
    still = replace(QUICK, towers=(replace(SMALL, learning_rate=0.0),), head_rate=0.0)
    card = {**CARD, "command": "ctrag train tools --start READER"}
    same = module.train_classifier(seen[:8], seen[8:], still, card, tmp_path / "on", start=first)
    assert same.arrays.keys() == first.arrays.keys()
    for name, array in first.arrays.items():
        assert np.array_equal(array, same.arrays[name]), name
    assert QUICK.seen(None, first).start == first.digest
    changed = module.train_classifier(seen[:8], [], QUICK, CARD, tmp_path / "on", start=first)
    assert changed.digest != first.digest


def test_further_training_averages_the_weights_before_and_after(
    seen: list[ClassifierExample], tmp_path: Path
) -> None:
    first = train(seen, tmp_path / "first")
    ends = {
        average: module.train_classifier(
            seen[:8], [], replace(QUICK, average=average), CARD, tmp_path / "on", start=first
        )
        for average in (False, True)
    }
    for name, before in first.arrays.items():
        mean = (before + ends[False].arrays[name]) / 2
        assert ends[True].arrays[name] == pytest.approx(mean, abs=1e-6), name


def test_a_classifier_of_an_older_version_can_be_trained_further_but_not_served(
    seen: list[ClassifierExample], examples: list[RankingExample], tmp_path: Path
) -> None:
    new = train(seen, tmp_path / "new")
    name = f"{SMALL.name}/head.read.weight"
    old = replace(new, arrays={one: array for one, array in new.arrays.items() if one != name})
    context = examples[0].context
    with pytest.raises(ValueError, match="did not read items' words apart; train it on"):
        old.log_probabilities(context, np.empty(0, np.int64), np.empty(0))
    on = module.train_classifier(seen[:8], [], QUICK, CARD, tmp_path / "on", start=old)
    assert on.arrays[name].any()


def test_a_classifier_with_other_layers_is_refused_as_a_start(
    seen: list[ClassifierExample], tmp_path: Path
) -> None:
    first = train(seen, tmp_path / "first")
    deeper = replace(QUICK, towers=(replace(SMALL, layers=2),))
    with pytest.raises(ValueError, match="start from a classifier of the same encoders and layers"):
        module.train_classifier(seen[:8], [], deeper, CARD, tmp_path / "on", start=first)


def test_nothing_to_learn_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        module.train_classifier([], [], QUICK, CARD, tmp_path)
