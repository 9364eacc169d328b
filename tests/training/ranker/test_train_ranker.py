"""Claims about training the ranker, on a dozen people and few rounds."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.context.features import FEATURES, compute
from ctrag.assistant.context.fusion import fuse, rankings
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.assistant.context.second_stage import SECOND_STAGE_FEATURES
from ctrag.models.encoder import Encoder
from eval.core.examples import RankingExample
from eval.core.experiment import data_sha256
from stores.people.dataset import fingerprints
from tests.training.conftest import halves
from training.core.cross_fitted import cross_fit, prepare
from training.core.figures import ranking_figures
from training.core.origin import command_line
from training.ranker import train as training
from training.ranker.lambdamart import fit_first
from training.ranker.learned_features import fit_learned_features
from training.ranker.settings import FIRST, SECOND, RankerSettings
from training.ranker.train import choose_fusion, train_ranker

QUICK = RankerSettings(
    folds=3, first=replace(FIRST, rounds=20), second=replace(SECOND, rounds=10), threads=1
)


@pytest.fixture(scope="module", autouse=True)
def small_grid() -> None:
    """Two fusions instead of 140."""
    patch = pytest.MonkeyPatch()
    patch.setattr(training, "FUSION_K", (3.0,))
    patch.setattr(training, "FUSION_WEIGHTS", (0.0, 0.1))
    yield  # type: ignore[misc]
    patch.undo()


@pytest.fixture(scope="module")
def steps() -> list[str]:
    return []


@pytest.fixture(scope="module")
def ranker(small_grid: None, dozen: Path, encoder: Encoder, steps: list[str]) -> Ranker:
    return train_ranker(dozen, encoder, QUICK, progress=steps.append)


def test_the_card_says_where_the_ranker_comes_from(
    ranker: Ranker, dozen: Path, encoder: Encoder
) -> None:
    card = ranker.card
    assert (card.data, card.data_sha256) == ("dozen", data_sha256(dozen))
    assert card.command == command_line()
    assert card.people == sorted(fingerprints(dozen).values())
    assert (card.encoder, card.seed) == (encoder.name, QUICK.seed)
    assert card.signals == [feature.name for feature in FEATURES]
    assert card.company == [feature.name for feature in SECOND_STAGE_FEATURES]
    assert (card.settings["folds"], card.settings["first"]["rounds"]) == (3, 20)


def test_progress_is_reported_in_order(ranker: Ranker, steps: list[str]) -> None:
    firsts = [step.split()[0] for step in steps]
    twice = ["cross-validating", "cross-validating"]
    assert firsts == ["encoding", "cross-fitting", *twice, "choosing", "training"]


def test_the_model_has_the_requested_number_of_rounds(ranker: Ranker) -> None:
    assert ranker.model.count("\nTree=") == 20
    assert ranker.second.count("\nTree=") == 10


def test_the_seed_makes_it_reproducible(ranker: Ranker, dozen: Path, encoder: Encoder) -> None:
    again = train_ranker(dozen, encoder, QUICK)
    assert (again.model, again.second) == (ranker.model, ranker.second)
    assert again.card == ranker.card


def test_another_seed_gives_another_ranker(examples: list[RankingExample]) -> None:
    learned = fit_learned_features(examples[:40])
    tables = [compute(one.context, learned) for one in examples[:40]]
    labels = [one.relevance for one in examples[:40]]
    first, again, other = (
        fit_first(tables, labels, replace(QUICK, first=replace(FIRST, rounds=3), seed=seed))
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.split("parameters:")[0] != other.split("parameters:")[0]


def test_a_trained_ranker_can_be_saved_loaded_and_used(
    ranker: Ranker, tmp_path: Path, examples: list[RankingExample]
) -> None:
    ranker.save(tmp_path)
    context = examples[0].context
    # The prior is stored with half the digits.
    assert Ranker.load(tmp_path).scores(context) == pytest.approx(ranker.scores(context), abs=0.2)


def test_the_fusion_with_the_best_mean_recall_is_chosen(examples: list[RankingExample]) -> None:
    drawn = np.random.default_rng(0)
    scores = [
        one.context.cosine + drawn.normal(0, 0.2, len(one.context)).astype(np.float32)
        for one in examples
    ]
    k, weights, figures = choose_fusion(examples, scores)

    def quality(dense: float, bm25: float) -> float:
        recalls = []
        for one, score in zip(examples, scores, strict=True):
            if one.relevance.any():
                fused, _ = fuse(
                    rankings(one.context, score),
                    {"lambdamart": 1.0, "dense": dense, "bm25": bm25},
                    3.0,
                )
                hits = one.relevance[np.argsort(-fused, kind="stable")]
                recalls.append(np.mean([hits[:cut].sum() / hits.sum() for cut in (3, 5, 10)]))
        return float(np.mean(recalls))

    grid = {(dense, bm25): quality(dense, bm25) for dense, bm25 in ((0, 0.1), (0.1, 0), (0.1, 0.1))}
    assert k == 3.0
    assert weights["lambdamart"] == 1.0
    assert grid[weights["dense"], weights["bm25"]] == pytest.approx(max(grid.values()))
    chosen = figures["lambdamart_rrf"]
    mean = (chosen["recall@3"] + chosen["recall@5"] + chosen["recall@10"]) / 3
    assert mean == pytest.approx(100 * max(grid.values()), abs=0.01)


def test_more_requests_of_the_same_people_are_trained_on_and_not_evaluated(
    dozen: Path, encoder: Encoder, tmp_path: Path
) -> None:
    own, further = halves(dozen, tmp_path)
    both = prepare(own, encoder, QUICK, more=[further])
    alone = prepare(own, encoder, QUICK)
    assert both.sizes == (alone.sizes[0], len(both.examples) - alone.sizes[0])
    fold = {}
    for one, place in zip(both.examples, both.fold, strict=True):
        assert fold.setdefault(one.asked.person_id, place) == place
    card = train_ranker(own, encoder, QUICK, more=[further]).card
    assert (card.data, card.people) == ("even+odd", sorted(fingerprints(dozen).values()))
    fitted = cross_fit(both, QUICK)
    measured = fitted.examples[both.measured]
    assert card.figures == {
        "first_pass": ranking_figures(measured, fitted.first_scores[both.measured]),
        **choose_fusion(measured, fitted.scores[both.measured])[2],
    }
    assert card.figures["lambdamart"] == ranking_figures(measured, fitted.scores[both.measured])


def test_more_folds_than_people_are_refused(dozen: Path, encoder: Encoder) -> None:
    with pytest.raises(ValueError, match="13 folds need as many people, there are 12"):
        train_ranker(dozen, encoder, replace(QUICK, folds=13))


def rewritten(source: Path, folder: Path, **changes: object) -> Path:
    folder.mkdir()
    (folder / "personas.jsonl").write_bytes((source / "personas.jsonl").read_bytes())
    lines = (source / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [{**json.loads(line), **changes} for line in lines]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "queries.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_a_data_set_without_labels_is_refused(
    dozen: Path, tmp_path: Path, encoder: Encoder
) -> None:
    bare = rewritten(dozen, tmp_path / "bare", relevant=None)
    with pytest.raises(ValueError, match="bare: no request says which items are relevant"):
        train_ranker(bare, encoder, QUICK)


def test_a_data_set_whose_requests_need_no_item_is_refused(
    dozen: Path, tmp_path: Path, encoder: Encoder
) -> None:
    empty = rewritten(dozen, tmp_path / "empty", relevant=[])
    with pytest.raises(ValueError, match="empty: no request needs an item"):
        train_ranker(empty, encoder, QUICK)
