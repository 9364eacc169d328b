"""Claims about the ranker's artefact: what is saved, what is refused, what it adds up."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.features import FEATURES, compute
from ctrag.assistant.context.item_ranker import CARD, LEARNED, MODEL, SECOND, Ranker
from ctrag.errors import InputError
from ctrag.models.arrays import load_arrays, save_arrays
from tests.assistant.context.conftest import ASKED, AxisEncoder, view_of

WIDE = AxisEncoder(dimension=1152)
"""As wide as the encoder that the packaged ranker was trained with."""


@pytest.fixture(scope="module")
def ranker() -> Ranker:
    return Ranker.packaged()


def wide_context(rows: int | None = None) -> FeatureContext:
    view = view_of(encoder=WIDE)
    vector = WIDE.encode([ASKED.text])[0]
    return FeatureContext(view, ASKED, vector, np.arange(len(view) if rows is None else rows))


def test_what_was_saved_scores_the_same_when_loaded(ranker: Ranker, tmp_path: Path) -> None:
    ranker.save(tmp_path / "new" / "folder")
    loaded = Ranker.load(tmp_path / "new" / "folder")
    assert loaded.card == ranker.card
    assert np.array_equal(loaded.scores(wide_context()), ranker.scores(wide_context()))


def test_a_map_in_eight_bits_turns_requests_the_same_way(ranker: Ranker, tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    mapped = np.diag(draw.uniform(0.6, 0.8, 128)) + draw.normal(0, 0.01, (128, 128))
    learned = replace(ranker.learned, item_map=mapped.astype(np.float32))
    replace(ranker, learned=learned).save(tmp_path)
    again = Ranker.load(tmp_path).learned.item_map
    for request in draw.normal(size=(20, 128)):
        one, two = request @ mapped, request @ again
        assert one @ two / np.linalg.norm(one) / np.linalg.norm(two) > 0.9999


def test_saving_leaves_four_files_and_nothing_half_written(ranker: Ranker, tmp_path: Path) -> None:
    ranker.save(tmp_path)
    ranker.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {MODEL, SECOND, LEARNED, CARD}


@pytest.mark.parametrize(
    ("signals", "named"),
    [
        ([feature.name for feature in FEATURES][1:], "cosine"),
        ([*(feature.name for feature in FEATURES), "moon_phase"], "moon_phase"),
        ([feature.name for feature in FEATURES][::-1], "their order"),
    ],
)
def test_a_ranker_for_other_signals_is_refused_with_the_command_that_makes_it_again(
    ranker: Ranker, tmp_path: Path, signals: list[str], named: str
) -> None:
    ranker.save(tmp_path)
    card = json.loads((tmp_path / CARD).read_text(encoding="utf-8"))
    (tmp_path / CARD).write_text(json.dumps({**card, "signals": signals}), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"other features \({named}\); .*{card['command']}"):
        Ranker.load(tmp_path)


@pytest.mark.parametrize("name", [MODEL, SECOND, LEARNED, CARD])
def test_a_missing_file_is_named(ranker: Ranker, tmp_path: Path, name: str) -> None:
    ranker.save(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(FileNotFoundError, match=name):
        Ranker.load(tmp_path)


def test_contributions_sum_to_the_score_of_the_first_pass(ranker: Ranker) -> None:
    context = wide_context()
    table = compute(context, ranker.learned)
    added = ranker.contributions(table)
    assert added.shape == (len(context), len(FEATURES) + 1)
    assert added.sum(axis=1) == pytest.approx(ranker.first_scores(table), abs=1e-4)


def test_no_candidates_have_no_scores(ranker: Ranker) -> None:
    assert ranker.scores(wide_context(rows=0)).shape == (0,)


def test_the_prior_is_part_of_the_score(ranker: Ranker) -> None:
    app_weights = ranker.learned.app_weights.copy()
    app_weights[-1] += np.linspace(-9, 9, app_weights.shape[1])
    other = replace(ranker, learned=replace(ranker.learned, app_weights=app_weights))
    assert not np.array_equal(other.scores(wide_context()), ranker.scores(wide_context()))


def test_of_many_rows_the_best_have_the_scores_that_all_trees_give(ranker: Ranker) -> None:
    context = wide_context()
    drawn = np.random.default_rng(0)
    table = compute(context, ranker.learned)[drawn.integers(0, len(context), 1000)]
    table[:, 0] = drawn.normal(0.3, 0.2, len(table))  # a feature that tells them apart
    one_by_one = np.concatenate(
        [ranker.first_scores(table[i : i + 100]) for i in range(0, 1000, 100)]
    )
    together = ranker.first_scores(table)
    best = np.argsort(-one_by_one, kind="stable")[:50]
    assert together[best] == pytest.approx(one_by_one[best])
    assert set(np.argsort(-together, kind="stable")[:20]) <= set(np.argsort(-one_by_one)[:60])


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],  # the library would end the process
        lambda text: text[:2000],
        lambda text: text.replace("end of trees", ""),
        lambda text: text.replace("Tree=7\n", "Tree=8\n"),
        lambda text: text.replace("num_leaves=7\n", "num_leaves=9\n", 1),
        lambda text: text.replace("left_child=1 ", "left_child=9 ", 1),
        lambda text: text.replace("leaf_value=0.0", "leaf_value=nan", 1),
        lambda text: text.replace("num_cat=", "num_c_t=", 1),
        lambda text: text.replace("decision_type=2 ", "decision_type=1 ", 1),
        lambda text: text.replace("tree_sizes=", f"tree_sizes={'9' * 30} "),
        lambda text: text.replace("max_feature_idx=46", "max_feature_idx=3"),
        lambda text: text.replace("num_class=1", "num_class=999999999"),
        lambda text: text.replace("feature_infos=", "feature_infos=none "),
        lambda text: text.replace("objective=lambdarank", "objective="),
        lambda text: text.replace("objective=lambdarank", "objective"),
        lambda text: text.removeprefix("tree\n"),
        lambda text: f"\u2028{text}",
    ],
)
def test_damaged_trees_are_told_and_end_no_process(
    ranker: Ranker, damage: Callable[[str], str]
) -> None:
    damaged = replace(ranker, model=damage(ranker.model))
    with pytest.raises(InputError, match=rf"{MODEL}: damaged model of trees: "):
        damaged.scores(wide_context())


def test_arrays_that_lack_one_are_told_by_their_file(ranker: Ranker, tmp_path: Path) -> None:
    ranker.save(tmp_path)
    arrays = load_arrays(tmp_path / LEARNED)
    save_arrays(tmp_path / LEARNED, {one: arrays[one] for one in arrays if one != "app_weights"})
    with pytest.raises(InputError, match=rf"{LEARNED}: lacks app_weights"):
        Ranker.load(tmp_path)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999"])
def test_a_card_with_numbers_that_are_none_is_refused(
    ranker: Ranker, tmp_path: Path, value: str
) -> None:
    ranker.save(tmp_path)
    text = (tmp_path / CARD).read_text()
    (tmp_path / CARD).write_text(text.replace('"fusion_k": ', f'"fusion_k": {value}, "x": '))
    with pytest.raises(InputError, match="finite number"):
        Ranker.load(tmp_path)
