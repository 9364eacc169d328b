"""Figures of scores over labelled requests."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eval.core.examples import RankingExample
from eval.core.ranking import evaluate_run


def ranking_figures(
    examples: Sequence[RankingExample], scores: Sequence[NDArray[np.floating]]
) -> dict[str, float]:
    """Recall and NDCG at 3, 5 and 10, in percent; `scores` has one array per example."""
    run = {}
    qrels = {}
    for example, score in zip(examples, scores, strict=True):
        ids = np.array(example.context.view.ids)
        run[example.asked.query_id] = [str(one) for one in ids[np.argsort(-score, kind="stable")]]
        qrels[example.asked.query_id] = {str(one) for one in ids[example.relevance > 0]}
    figures = evaluate_run(run, qrels).figures
    return {name: round(value, 2) for name, value in figures.items()}


def mean_recall(
    examples: Sequence[RankingExample], scores: Sequence[NDArray[np.floating]]
) -> float:
    """Mean of Recall@3, 5 and 10, 0 to 1, over the requests that need an item."""
    total = 0.0
    count = 0
    for example, score in zip(examples, scores, strict=True):
        relevant = example.relevance.sum()
        if relevant:
            hits = np.cumsum(example.relevance[np.argsort(-score, kind="stable")[:10]])
            total += float(sum(hits[min(k, len(hits)) - 1] for k in (3, 5, 10))) / float(relevant)
            count += 1
    return total / max(3 * count, 1)


def recall(scores: NDArray[np.floating], gold: NDArray[np.int64]) -> dict[str, float]:
    """Recall@K of the best API over requests that have one, and how often `none` is right."""
    order = np.argsort(-scores, axis=1, kind="stable")
    last = scores.shape[1] - 1
    some, none = gold < last, gold == last
    found = {
        f"recall@{k}": float(100 * (order[some, :k] == gold[some, None]).any(axis=1).mean())
        for k in (1, 3, 5, 10)
        if some.any()
    }
    if none.any():
        found["none_found"] = float(100 * (order[none, 0] == last).mean())
    if some.any():
        found["none_wrongly"] = float(100 * (order[some, 0] == last).mean())
    return {name: round(value, 2) for name, value in found.items()}
