"""Claims about the page of the context experiment: it holds all figures, with the paper's."""

from typing import Any

import pytest

from eval.context.run import METHODS, PAPER
from eval.core.ranking import evaluate_run, recall_curve
from tests.eval.context_page import KINDS, MEASURES, RAN, made, paged


def one(value: float) -> str:
    return f"{value:.1f}"


def name(method: str) -> str:
    return "cot (oracle)" if method == "cot" else method


def test_the_table_holds_every_figure_with_the_papers_beside_it() -> None:
    experiment = made()
    rows = paged(experiment).table("Percent, ours and the paper's")
    for method, found in experiment.figures.items():
        figures: Any = found
        paper = [one(value) for value in PAPER[method]]
        ours = [one(figures[measure]) for measure in MEASURES]
        assert rows[name(method)] == [*ours[:3], *paper, *ours[3:]]


def test_a_skipped_method_keeps_its_place_and_the_papers_figures_with_the_reason() -> None:
    page = paged(made())
    rows = page.table("Percent, ours and the paper's")
    assert list(rows)[-len(METHODS) :] == [name(method) for method in METHODS]
    assert rows["finetuned"][:4] == ["not run: no encoder", "73.5", "88.5", "95.1"]
    assert rows["lambdamart"] == ["not run: shy", *"–––", *"–––"]
    assert rows["semantic"][0] == "not asked for"
    for caption in ("Recall@3 by kind", "Recall@10 by kind", "Percent, with 95 % intervals"):
        rows = page.table(caption)
        assert list(rows)[-len(METHODS) :] == [name(method) for method in METHODS]
        assert rows["finetuned"] == ["not run"]


def test_the_page_holds_every_interval_test_and_kind() -> None:
    experiment = made()
    page = paged(experiment)
    extra: Any = experiment.extra
    intervals: Any = experiment.intervals
    figures: Any = experiment.figures
    for method in RAN:
        between = [
            f"{one(figures[method][x])} {one(intervals[method][x][0])}–{one(intervals[method][x][1])}"
            for x in MEASURES
        ]
        assert page.table("Percent, with 95 % intervals")[name(method)] == between
        for measure, caption in (("recall@3", "Recall@3 by"), ("recall@10", "Recall@10 by")):
            by_kind = [one(extra["by_kind"][method][kind][measure]) for kind in KINDS]
            assert page.table(caption)[name(method)] == by_kind
    tests = page.table("lambdamart_rrf minus each other method")
    assert tests["bm25t"] == ["50.43", "0.0002"]
    assert tests["cot (oracle)"] == ["−4.56", "0.0446"]


def test_the_page_holds_every_point_of_the_curves() -> None:
    experiment = made()
    rows = paged(experiment).table("Recall@K")
    extra: Any = experiment.extra
    for k in range(20):
        assert rows[str(k + 1)] == [one(extra["curves"][method][k]) for method in RAN]


def test_the_page_holds_what_else_was_measured() -> None:
    page = paged(made())
    assert page.table("The ranker trained again")["times"] == ["81.23", "82.34", "83.45"]
    assert page.tables["Points of Recall@3 lost when a feature is shuffled"]["feature29"] == [
        "−1.12"
    ]
    misses = page.table("Requests with a relevant item")
    assert misses["q0"] == ["multi", "request 0", "p1-m1", "p1-c1, p1-c2", "–"]
    assert misses["q13"] == ["multi", "request 13", "p1-m1", "–", "17, 22"]
    assert page.tables["Without a place of their own: later: deep"]["deeper"] == ["77.77"]
    assert page.tables["Without a place of their own: later"]["flag"] == ["yes"]


def test_the_page_says_where_the_figures_come_from() -> None:
    text = paged(made()).text
    for said_so in ("some/folder", "ab" * 32, "41", "toy encoder", "3.11.7", "2.4.6", "12.50"):
        assert said_so in text
    assert "351 requests of 40 people" in text


def test_an_experiment_without_the_optional_parts_has_a_page() -> None:
    page = paged(made(extra={}, intervals={}))
    assert [one for one in page.tables if "by kind" in one or "interval" in one] == []
    assert len(page.named("svg")) == 1
    nothing = paged(made(figures={}, intervals={}, extra={}))
    assert "No method could run." in nothing.text


def test_a_ranker_that_saw_the_data_is_told() -> None:
    warning = "The ranker was trained on these people"
    assert warning not in paged(made()).text
    assert warning in paged(made(extra={"ranker_saw_this_data": True})).text


def test_the_curve_passes_through_the_recall_of_the_table() -> None:
    run = {"q1": ["a", "b", "c", "d"], "q2": ["c", "a"], "q3": [], "q4": ["a"]}
    qrels = {"q1": {"a", "d"}, "q2": {"b", "a"}, "q3": {"a"}, "q4": set[str]()}
    curve = recall_curve(run, qrels, depth=6)
    recalls = (0.5 + 0 + 0, 0.5 + 0.5 + 0, 1, 1.5, 1.5, 1.5)
    assert curve == [round(100 * found / 3, 2) for found in recalls]
    figures = evaluate_run(run, qrels, ks=range(1, 7)).figures
    assert curve == [pytest.approx(figures[f"recall@{k}"], abs=0.01) for k in range(1, 7)]
    assert curve == sorted(curve)
