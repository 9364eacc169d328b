"""Recall@K and NDCG@K of rankings with binary labels, computed by ir_measures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import ir_measures
from ir_measures import R, nDCG

from ctrag.errors import InputError

MeasureName = Literal["recall", "ndcg"]

_MEASURES = {"recall": R, "ndcg": nDCG}


@dataclass(frozen=True)
class RankingScores:
    """Scores in percent: `figures["recall@3"]`, `per_query["recall@3"][query_id]`.

    `figures` are the means over `per_query`, which holds only queries with relevant items.
    """

    figures: dict[str, float]
    per_query: dict[str, dict[str, float]]


def recall_at(ranked_ids: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Share (0-1) of the distinct relevant ids that stand among the first k.

    Raises:
        ValueError: if nothing is relevant, or k < 1.
    """
    wanted = set(relevant)
    if not wanted:
        raise InputError("relevant: recall needs at least one relevant id")
    if k < 1:
        raise InputError(f"k: must be at least 1, not {k}")
    return len(wanted.intersection(ranked_ids[:k])) / len(wanted)


def recall_curve(
    run: Mapping[str, Sequence[str]], qrels: Mapping[str, Collection[str]], *, depth: int = 20
) -> list[float]:
    """Mean recall (0-100) at each K from 1 to `depth`, over the queries with relevant ids.

    Raises:
        ValueError: as `evaluate_run`.
    """
    judged = {query: set(relevant) for query, relevant in qrels.items() if relevant}
    _check(run, judged, (depth,))
    return [
        round(100 * fmean(recall_at(run[query], judged[query], k) for query in judged), 2)
        for k in range(1, depth + 1)
    ]


def evaluate_run(
    run: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Collection[str]],
    *,
    ks: Sequence[int] = (3, 5, 10),
    measures: Sequence[MeasureName] = ("recall", "ndcg"),
) -> RankingScores:
    """Score rankings of items, or of tools, against the relevant ids.

    Args:
        run: per query the ids, best first and each once; a method that found nothing gives [].
        qrels: per query the relevant ids; queries without any are left out of all scores.
        ks: cut-offs.
        measures: which of recall and NDCG (binary gains), in the order of the figures.

    Raises:
        ValueError: if no query has relevant ids, one that has is not in the run, an id is ranked
            twice, or a cut-off is below 1.
    """
    judged = {query: set(relevant) for query, relevant in qrels.items() if relevant}
    _check(run, judged, ks)
    by_name = {f"{name}@{k}": _MEASURES[name] @ k for name in measures for k in ks}
    names = {measure: name for name, measure in by_name.items()}
    # Queries with an empty ranking never reach ir_measures: they score 0.
    per_query = {name: dict.fromkeys(judged, 0.0) for name in by_name}
    scored = {query: _scores(run[query]) for query in judged if run[query]}
    labels = {query: dict.fromkeys(sorted(judged[query]), 1) for query in scored}
    if scored:
        for metric in ir_measures.iter_calc(list(names), labels, scored):
            per_query[names[metric.measure]][metric.query_id] = 100 * float(metric.value)
    figures = {name: fmean(values.values()) for name, values in per_query.items()}
    return RankingScores(figures, per_query)


def _check(
    run: Mapping[str, Sequence[str]], judged: Mapping[str, Collection[str]], ks: Sequence[int]
) -> None:
    if not judged:
        raise InputError("qrels: no query has a relevant id")
    if any(k < 1 for k in ks):
        raise InputError(f"ks: must be at least 1, not {min(ks)}")
    for query in judged:
        if query not in run:
            raise InputError(f"run: query {query!r} is missing; give [] if nothing was found")
        if len(set(run[query])) < len(run[query]):
            raise InputError(f"run: query {query!r} ranks an id twice")


def _scores(ranked_ids: Sequence[str]) -> dict[str, float]:
    """Strictly falling scores, so that engines, which break ties differently, see none."""
    return {item: float(len(ranked_ids) - rank) for rank, item in enumerate(ranked_ids)}
