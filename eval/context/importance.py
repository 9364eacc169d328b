"""Permutation importance: what a trained ranker loses when the values of a feature are shuffled."""

from collections.abc import Sequence

import numpy as np

from ctrag.assistant.context.features import FEATURES, compute
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.errors import InputError
from eval.core.examples import RankingExample


def permutation_importance(
    examples: Sequence[RankingExample], ranker: Ranker, *, k: int = 3, seed: int = 0
) -> dict[str, float]:
    """Feature → points of mean Recall@k lost, largest first.

    The values of a feature are shuffled among the candidates of each request, so that it keeps the
    values of this person and request, but for the wrong items.

    Raises:
        ValueError: No request has a relevant item.
    """
    judged = [one for one in examples if one.relevance.any()]
    if not judged:
        raise InputError("examples: no request has a relevant item")
    tables = [compute(one.context, ranker.learned) for one in judged]
    whole = _recall(judged, tables, ranker, k)
    random = np.random.default_rng(seed)
    orders = [random.permutation(len(table)) for table in tables]
    lost = {}
    for column, feature in enumerate(FEATURES):
        shuffled = []
        for table, order in zip(tables, orders, strict=True):
            changed = table.copy()
            changed[:, column] = table[order, column]
            shuffled.append(changed)
        lost[feature.name] = round(whole - _recall(judged, shuffled, ranker, k), 2)
    return dict(sorted(lost.items(), key=lambda pair: -pair[1]))


def _recall(
    examples: Sequence[RankingExample], tables: Sequence[np.ndarray], ranker: Ranker, k: int
) -> float:
    shares = []
    for example, table in zip(examples, tables, strict=True):
        best = np.argsort(-ranker.scores_of(example.context, table), kind="stable")[:k]
        shares.append(float(example.relevance[best].sum() / example.relevance.sum()))
    return 100 * float(np.mean(shares))
