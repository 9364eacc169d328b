"""Claims about reciprocal rank fusion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.fusion import fuse, rankings, ranks

SCORES = st.lists(st.integers(-5, 5), min_size=1, max_size=8).map(lambda x: np.array(x, float))


def test_the_score_is_the_sum_of_weight_over_k_plus_rank() -> None:
    scores = {"words": np.array([9.0, 5.0, 1.0]), "meaning": np.array([0.1, 0.9, 0.5])}
    fused, parts = fuse(scores, {"words": 1.0, "meaning": 0.5}, k=60)
    assert fused == pytest.approx(
        [
            1 / (60 + 1) + 0.5 / (60 + 3),
            1 / (60 + 2) + 0.5 / (60 + 1),
            1 / (60 + 3) + 0.5 / (60 + 2),
        ]
    )
    assert parts["meaning"] == pytest.approx([0.5 / (60 + 3), 0.5 / (60 + 1), 0.5 / (60 + 2)])


def test_bm25_says_nothing_of_items_that_share_no_word_with_the_request(
    context: FeatureContext,
) -> None:
    lambdamart = np.linspace(1, 0, len(context))
    found = rankings(context, lambdamart)
    assert list(found) == ["lambdamart", "dense", "bm25"]
    fused, parts = fuse(found, {"bm25": 0.5, "lambdamart": 1.0}, k=60)
    ids = [context.view.ids[row] for row in context.rows]
    sharing = {"c1", "g1", "r2"}  # "move the dentist thing at 6 pm, tell my sister"
    assert {one for one, part in zip(ids, parts["bm25"], strict=True) if part > 0} == sharing
    assert sorted(parts["bm25"])[-3:] == pytest.approx([0.5 / 63, 0.5 / 62, 0.5 / 61])
    first = ids.index("m1")
    assert fused[first] == pytest.approx(1 / (60 + 1 + first))


def test_ties_keep_the_order_of_the_rows() -> None:
    assert list(ranks(np.array([1.0, 2.0, 1.0, 2.0]))) == [3, 1, 4, 2]


@given(SCORES)
def test_ranks_equal_counting_who_is_better(scores: np.ndarray) -> None:
    counted = [
        1 + sum(other > mine or (other == mine and at < row) for at, other in enumerate(scores))
        for row, mine in enumerate(scores)
    ]
    assert list(ranks(scores)) == counted


@given(SCORES, st.floats(0, 100))
def test_a_single_ranking_keeps_its_order(scores: np.ndarray, k: float) -> None:
    fused, _ = fuse({"only": scores}, {"only": 2.0}, k)
    assert list(np.argsort(-fused, kind="stable")) == list(np.argsort(-scores, kind="stable"))


@pytest.mark.parametrize("weights", [{"words": 1.0, "meaning": 0.0}, {"words": 1.0}])
def test_a_ranking_without_weight_is_left_out(weights: dict[str, float]) -> None:
    scores = {"words": np.array([2.0, 1.0]), "meaning": np.array([1.0, 2.0])}
    fused, parts = fuse(scores, weights, k=1)
    assert fused == pytest.approx([1 / (1 + 1), 1 / (1 + 2)])
    assert list(parts) == ["words"]


@pytest.mark.parametrize("weights", [{}, {"words": 0.0}, {"other": 1.0}])
def test_fusing_nothing_is_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least one ranking needs a weight above 0"):
        fuse({"words": np.array([1.0])}, weights, k=60)
