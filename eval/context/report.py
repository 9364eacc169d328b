"""The page about the context retrieval experiment, Table 2 of the context-tuning paper."""

from __future__ import annotations

from typing import Any

from eval.context.figures import SHIPPED, beside, by_kind, found_by_depth, label, sure
from eval.context.run import PAPER
from eval.core.experiment import Experiment
from eval.report.page import Folded, Part, ReportPage, Section
from eval.report.tables import any_tables, bar_table, ours, provenance, said

_SHOWN = {
    "by_kind",
    "requests",
    "people",
    "paired_tests",
    "curves",
    "ranker_saw_this_data",
    "ablation",
    "permutation_importance",
    "misses",
}
"""Keys of `extra` that have a place of their own."""
_OPEN = 12
"""So many rows of a long list are shown without being asked for."""


def context_report(experiment: Experiment) -> ReportPage:
    """The page about an experiment that `run_context` made."""
    sections = [
        Section("Table 2, ours and the paper's", beside(experiment)),
        Section("Recall@K", found_by_depth(experiment)),
        Section("By kind of request", by_kind(experiment)),
        Section("Intervals and tests", sure(experiment)),
        Section("What the ranker leans on", _leans(experiment)),
        Section("What was missed", _misses(experiment)),
        Section("Other figures", _rest(experiment)),
    ]
    return ReportPage(
        "Context retrieval",
        _lead(experiment),
        [*(one for one in sections if one.parts), provenance(experiment)],
    )


def _figures(experiment: Experiment, method: str) -> Any:
    return experiment.figures[method]


def _lead(experiment: Experiment) -> str:
    if not experiment.figures:
        return "No method could run."
    best = max(experiment.figures, key=lambda one: float(_figures(experiment, one)["recall@3"]))
    name = SHIPPED if SHIPPED in experiment.figures else best
    role = "the method that ships" if name == SHIPPED else "the best that ran"
    bounds: Any = experiment.intervals.get(name) or {}
    low_high = bounds.get("recall@3")
    between = (
        "" if low_high is None else f" (95 % interval {ours(low_high[0])} to {ours(low_high[1])})"
    )
    paper = PAPER.get(name)
    theirs = "" if paper is None else f" The paper reports {ours(paper[0])} % on its own data."
    requests, people = (experiment.extra.get(one) for one in ("requests", "people"))
    over = "" if requests is None else f", over {said(requests)} requests of {said(people)} people"
    return (
        f"{label(name)}, {role}, has {ours(_figures(experiment, name)['recall@3'])} % of the "
        f"relevant items among its first three{between}{over}.{theirs}"
    )


def _leans(experiment: Experiment) -> list[Part]:
    parts: list[Part] = []
    ablation: Any = experiment.extra.get("ablation")
    if ablation:
        caption = "The ranker trained again without a group of features"
        parts += any_tables(caption, ablation, head="without")
    lost: Any = experiment.extra.get("permutation_importance")
    if lost:
        first = dict(sorted(lost.items(), key=lambda one: -one[1])[:_OPEN])
        heads = ("feature", "points lost")
        caption = "Points of Recall@3 lost when a feature is shuffled"
        parts.append(bar_table(f"{caption}, the first {len(first)}", first, heads))
        if len(lost) > _OPEN:
            parts.append(Folded(f"All {len(lost)} features", [bar_table(caption, lost, heads)]))
    return parts


def _misses(experiment: Experiment) -> list[Part]:
    misses: Any = experiment.extra.get("misses")
    if not misses:
        return []
    tables = any_tables("Requests with a relevant item past the first places", misses)
    return [*tables] if len(misses) <= _OPEN else [Folded(f"All {len(misses)} requests", tables)]


def _rest(experiment: Experiment) -> list[Part]:
    """What `extra` holds that has no place of its own."""
    rest = {key: value for key, value in experiment.extra.items() if key not in _SHOWN}
    return [*any_tables("Without a place of their own", rest)]
