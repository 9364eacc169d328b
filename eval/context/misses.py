"""Relevant items that a ranking leaves below its first K: what is still missing, one by one."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_text import title
from eval.core.examples import RankingExample


def misses(
    examples: Sequence[RankingExample],
    score: Callable[[RankingExample], NDArray[np.floating]],
    *,
    k: int = 5,
) -> list[dict[str, JsonValue]]:
    """One row per relevant item below rank k, sorted by kind and circumstance.

    `circumstance` is what can be read off the ranking: the relevant item just missed the cut, the
    request's other items were found, the item shares neither a word nor much meaning, or another
    item was preferred.
    """
    found: list[dict[str, JsonValue]] = []
    for example in examples:
        scores = score(example)
        rank = np.empty(len(scores), dtype=np.int64)
        rank[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        relevant = np.flatnonzero(example.relevance > 0)
        for row in relevant[rank[relevant] > k]:
            context = example.context
            found.append(
                {
                    "kind": example.labels.kind or "unlabelled",
                    "circumstance": _circumstance(context, int(row), rank, relevant, k),
                    "query_id": example.asked.query_id,
                    "request": context.request.text,
                    "missing": _named(context, int(row)),
                    "rank": int(rank[row]),
                    "first": _named(context, int(np.argmin(rank))),
                }
            )
    return sorted(found, key=lambda row: (str(row["kind"]), str(row["circumstance"])))


def _named(context: FeatureContext, row: int) -> str:
    item = context.view.items[context.rows[row]]
    return f"{item.app}: {title(item)}"


def _circumstance(
    context: FeatureContext, row: int, rank: NDArray[np.int64], relevant: NDArray[np.int64], k: int
) -> str:
    if len(relevant) > 1 and (rank[relevant] <= k).any():
        return "the other item was found"
    if rank[row] <= 2 * k:
        return f"just missed (rank {k + 1} to {2 * k})"
    closer = int((context.cosine > context.cosine[row]).sum())
    if context.bm25[row] == 0 and closer >= 2 * k:
        return "no shared word, far in meaning"
    return "other items preferred"
