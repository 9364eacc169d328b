"""Tables and plots of the page about context retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.context.run import METHODS, PAPER
from eval.core.experiment import Experiment
from eval.report.page import Cell, Column, Folded, HtmlTable, Part, Plot, TableRow, Text
from eval.report.plots import curves, ranges
from eval.report.tables import interval_table, left_out, ours, said

SHIPPED = "lambdamart_rrf"
_KS = (3, 5, 10)
_RECALLS = tuple(f"recall@{k}" for k in _KS)
_NDCGS = tuple(f"ndcg@{k}" for k in _KS)


def label(method: str) -> str:
    """What a method is called: one that reads what its writer knew is marked."""
    return "cot (oracle)" if method == "cot" else method


def _labels(experiment: Experiment) -> dict[str, str]:
    """All methods, those that did not run too."""
    return {name: label(name) for name in dict.fromkeys([*METHODS, *experiment.figures])}


def beside(experiment: Experiment) -> list[Part]:
    """Table 2 with the paper's column beside ours, and a plot of the two."""
    rows = []
    for method, name in _labels(experiment).items():
        paper = [Cell(ours(value)) for value in PAPER.get(method, (None,) * len(_KS))]
        figures: Any = experiment.figures.get(method)
        if figures is None:
            nothing = [Cell(ours(None)) for _ in _NDCGS]
            rows.append(
                TableRow(name, [left_out(experiment, method, 3, why=True), *paper, *nothing])
            )
            continue
        recalls = [Cell(ours(figures.get(one))) for one in _RECALLS]
        ndcgs = [Cell(ours(figures.get(one))) for one in _NDCGS]
        rows.append(TableRow(name, [*recalls, *paper, *ndcgs], strong=method == SHIPPED))
    table = HtmlTable(
        "Percent, ours and the paper's (Recall of its table 2)",
        [Column("method"), *(Column(f"@{k}") for k in _KS * 3)],
        rows,
        groups=[("Recall, ours", 3), ("Recall, paper", 3), ("NDCG, ours", 3)],
        notes=[
            "Recall@K: relevant items among the first K, of all relevant ones. NDCG@K: each counts "
            "less the later it comes. Oracle: reads a thought whose writer saw the answer. The "
            "paper measured on data of its own.",
        ],
    )
    warned = bool(experiment.extra.get("ranker_saw_this_data"))
    warning = "The ranker was trained on these people: its figures here say nothing."
    return [*([Text(warning, warning=True)] if warned else []), table, _ranges(experiment)]


def _ranges(experiment: Experiment) -> Plot:
    rows: dict[str, tuple[float, float, float] | None] = {}
    for method, name in _labels(experiment).items():
        figures: Any = experiment.figures.get(method)
        bounds: Any = (experiment.intervals.get(method) or {}) if figures else {}
        if figures is None:
            rows[name] = None
        else:
            value = float(figures["recall@3"])
            low, high = bounds.get("recall@3") or (value, value)
            rows[name] = (value, float(low), float(high))
    paper = {label(method): values[0] for method, values in PAPER.items()}
    words = [
        f"{name}: ours {ours(None if row is None else row[0])}, paper {ours(paper.get(name))}"
        for name, row in rows.items()
    ]
    svg = ranges(
        rows,
        paper,
        name="ranges",
        title="Recall@3 of every method, ours and the paper's",
        description="; ".join(words),
        x_label="Recall@3, %",
    )
    return Plot(svg, "Dot and bar: ours with its 95 % interval. Diamond: the paper.")


def found_by_depth(experiment: Experiment) -> list[Part]:
    """Recall at every K: a plot, and its figures as a table."""
    found: Any = experiment.extra.get("curves")
    if not found:
        return []
    lines = {label(method): values for method, values in found.items()}
    depth = max(map(len, lines.values()))
    words = [
        f"{one} from {ours(y[0])} at 1 to {ours(y[-1])} at {len(y)}" for one, y in lines.items()
    ]
    svg = curves(
        lines,
        name="curves",
        title=f"Recall@K of every method that ran, K from 1 to {depth}",
        description="; ".join(words),
        x_label="K, items shown",
        y_label="Recall@K, %",
    )
    table = HtmlTable(
        "Recall@K, percent",
        [Column("K"), *map(Column, lines)],
        [
            TableRow(str(k + 1), [Cell(ours(y[k] if k < len(y) else None)) for y in lines.values()])
            for k in range(depth)
        ],
    )
    return [Plot(svg, "Recall@K, mean over requests."), Folded("The figures of this plot", [table])]


def by_kind(experiment: Experiment) -> list[Part]:
    """Methods against kinds of requests."""
    found: Any = experiment.extra.get("by_kind")
    if not found:
        return []
    kinds = list(dict.fromkeys(kind for row in found.values() for kind in row))
    return [_kind_table(experiment, found, kinds, measure) for measure in ("recall@3", "recall@10")]


def _kind_table(
    experiment: Experiment, found: Any, kinds: Sequence[str], measure: str
) -> HtmlTable:
    rows = []
    for method, name in _labels(experiment).items():
        if method not in found:
            rows.append(TableRow(name, [left_out(experiment, method, len(kinds))]))
            continue
        values = [found[method].get(kind, {}).get(measure) for kind in kinds]
        cells = [Cell(ours(one), shade=None if one is None else one / 100) for one in values]
        rows.append(TableRow(name, cells, strong=method == SHIPPED))
    caption = f"{measure.capitalize()} by kind of request, percent"
    return HtmlTable(caption, [Column("method"), *map(Column, kinds)], rows)


def sure(experiment: Experiment) -> list[Part]:
    """Intervals of all figures, and tests of the shipped method against the others."""
    labels = _labels(experiment)
    parts: list[Part] = []
    if any(experiment.intervals.values()):
        measures = {
            one: one.replace("recall", "Recall").replace("ndcg", "NDCG")
            for one in (*_RECALLS, *_NDCGS)
        }
        caption = "Percent, with 95 % intervals from a bootstrap over people"
        parts.append(interval_table(experiment, labels, measures, caption))
    tests: Any = experiment.extra.get("paired_tests")
    if tests:
        rows = [
            TableRow(
                label(one), [Cell(said(test["recall@3_difference"])), Cell(f"{test['p']:.4f}")]
            )
            for one, test in tests.items()
        ]
        columns = [Column("against"), Column("points of Recall@3"), Column("p")]
        caption = f"{SHIPPED} minus each other method: paired permutation test over people"
        parts.append(HtmlTable(caption, columns, rows))
    return parts
