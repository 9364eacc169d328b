"""Figures of scores over labelled requests."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eval.examples import Example
from eval.ranking import evaluate_run


def ranking_figures(
    examples: Sequence[Example], scores: Sequence[NDArray[np.floating]]
) -> dict[str, float]:
    """Recall and NDCG at 3, 5 and 10, in percent; `scores` has one array per example."""
    run = {}
    qrels = {}
    for example, score in zip(examples, scores, strict=True):
        ids = np.array(example.scene.view.ids)
        run[example.asked.query_id] = [str(one) for one in ids[np.argsort(-score, kind="stable")]]
        qrels[example.asked.query_id] = {str(one) for one in ids[example.relevance > 0]}
    figures = evaluate_run(run, qrels).figures
    return {name: round(value, 2) for name, value in figures.items()}


def mean_recall(examples: Sequence[Example], scores: Sequence[NDArray[np.floating]]) -> float:
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
