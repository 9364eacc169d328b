from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.core.ranking import evaluate_run, recall_at, recall_curve

RANKED = ["mail", "note", "song", "call"]
RELEVANT = {"note", "call", "event"}

ITEMS = st.sampled_from(list("abcdefghij"))
RANKINGS = st.lists(ITEMS, unique=True)
RELEVANTS = st.sets(ITEMS, min_size=1)


def test_recall_is_the_share_of_relevant_items_among_the_first_k() -> None:
    assert recall_at(RANKED, RELEVANT, 1) == 0 / 3
    assert recall_at(RANKED, RELEVANT, 2) == 1 / 3
    assert recall_at(RANKED, RELEVANT, 10) == 2 / 3


@given(RANKINGS, RELEVANTS, st.integers(1, 12))
def test_recall_never_falls_with_k(ranked: list[str], relevant: set[str], k: int) -> None:
    assert recall_at(ranked, relevant, k) <= recall_at(ranked, relevant, k + 1)


def test_figures_are_percentages_worked_out_by_hand() -> None:
    scores = evaluate_run({"q": RANKED}, {"q": RELEVANT}, ks=(3, 10))
    ideal = 1 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert scores.figures == {
        "recall@3": pytest.approx(100 * 1 / 3),
        "recall@10": pytest.approx(100 * 2 / 3),
        "ndcg@3": pytest.approx(100 * (1 / log2(3)) / ideal),
        "ndcg@10": pytest.approx(100 * (1 / log2(3) + 1 / log2(5)) / ideal),
    }
    assert list(scores.figures) == ["recall@3", "recall@10", "ndcg@3", "ndcg@10"]


def test_figures_are_means_over_requests_with_relevant_items() -> None:
    run = {"found": ["a"], "missed": ["b"], "empty": [], "unlabelled": ["a"], "other": ["a"]}
    qrels = {"found": {"a"}, "missed": {"a"}, "empty": {"a"}, "unlabelled": set[str]()}
    scores = evaluate_run(run, qrels, ks=(1,))
    assert scores.per_query["recall@1"] == {"found": 100, "missed": 0, "empty": 0}
    assert scores.figures["recall@1"] == pytest.approx(100 * 1 / 3)


def test_an_empty_ranking_scores_zero_even_if_all_are_empty() -> None:
    assert evaluate_run({"q": []}, {"q": {"a"}}, ks=(3,)).figures == {"recall@3": 0, "ndcg@3": 0}


@pytest.mark.parametrize("ranked", [["a", "z"], ["z", "a"]])
def test_the_rank_decides_and_not_the_id(ranked: list[str]) -> None:
    figures = evaluate_run({"q": ranked}, {"q": {ranked[0]}}, ks=(1,)).figures
    assert figures == {"recall@1": 100, "ndcg@1": 100}


@given(st.dictionaries(st.sampled_from("xyz"), st.tuples(RANKINGS, RELEVANTS), min_size=1))
def test_recall_agrees_with_its_definition(cases: dict[str, tuple[list[str], set[str]]]) -> None:
    run = {query: ranked for query, (ranked, _) in cases.items()}
    qrels = {query: relevant for query, (_, relevant) in cases.items()}
    per_query = evaluate_run(run, qrels, ks=(1, 3)).per_query
    for query, (ranked, relevant) in cases.items():
        for k in (1, 3):
            expected = 100 * recall_at(ranked, relevant, k)
            assert per_query[f"recall@{k}"][query] == pytest.approx(expected)


def test_tools_can_be_scored_by_recall_alone() -> None:
    scores = evaluate_run({"q": RANKED}, {"q": {"song"}}, ks=(1, 3, 5, 10), measures=["recall"])
    assert scores.figures == {"recall@1": 0, "recall@3": 100, "recall@5": 100, "recall@10": 100}


@pytest.mark.parametrize(
    ("run", "qrels", "ks", "rule"),
    [
        ({"q": ["a"]}, {}, [1], "qrels: no query has a relevant id"),
        ({"q": ["a"]}, {"q": set[str]()}, [1], "qrels: no query has a relevant id"),
        ({}, {"q": {"a"}}, [1], "run: query 'q' is missing"),
        ({"q": ["a", "a"]}, {"q": {"a"}}, [1], "run: query 'q' ranks an id twice"),
        ({"q": ["a"]}, {"q": {"a"}}, [3, 0], "ks: must be at least 1, not 0"),
    ],
)
def test_a_run_that_cannot_be_scored_is_refused(
    run: dict[str, list[str]], qrels: dict[str, set[str]], ks: list[int], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        evaluate_run(run, qrels, ks=ks)


def test_recall_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one relevant id"):
        recall_at(["a"], [], 1)
    with pytest.raises(ValueError, match="k: must be at least 1, not 0"):
        recall_at(["a"], ["a"], 0)


def test_the_recall_curve_has_the_mean_recall_at_each_depth() -> None:
    run = {"one": ["a", "b", "c"], "two": ["d", "e", "f"], "three": ["g"]}
    wanted = {"one": {"a", "c"}, "two": {"e", "x", "y"}, "three": set[str]()}
    # (1/2 + 0) / 2, (1/2 + 1/3) / 2, (1 + 1/3) / 2; a query without relevant ids is left out.
    assert recall_curve(run, wanted, depth=3) == [25, 41.67, 66.67]
    assert len(recall_curve(run, wanted)) == 20
    with pytest.raises(ValueError, match="ks: must be at least 1, not 0"):
        recall_curve(run, wanted, depth=0)
