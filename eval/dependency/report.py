"""The page about the tool-dependency experiment: tables 2 and 4, figures 3 and 5 of its paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctrag.agents.next_tool import METHODS
from eval.core.experiment import Experiment
from eval.dependency.endpoint import ENDPOINT_METHODS
from eval.dependency.figures import MEASURES, SHIPPED
from eval.report.page import Cell, Column, HtmlTable, Part, Plot, ReportPage, Section, TableRow
from eval.report.plots import curves, ranges
from eval.report.tables import any_tables, interval_table, left_out, ours, provenance, said

LABELS = {
    "random": "random",
    "bm25": "BM25",
    "qts": "query-tool similarity",
    "dependency": "dependency retriever",
    "learned": "learned retriever",
    "bigram": "bigram",
    "trigram": "trigram",
    "dtdr_c": "DTDR-C",
    "dtdr_l": "DTDR-L",
    "combined": "combined",
    "less_is_more": "Less-is-More, level 1",
    "tool_graph": "tool graph",
}
_HEADS = {
    "mrr": "MRR",
    "f1": "F1",
    "top1": "top-1",
    "top5": "top-5",
    "top1_later": "top-1 later",
    "top5_later": "top-5 later",
}
_ABLATIONS = {
    "history_length": ("History", "calls that are seen"),
    "clusters": ("Clusters", "clusters of DTDR-C"),
    "demonstration_count": ("Demonstrations", "demonstrations"),
}
_SHOWN = {"roll_out", "speed", "parameters", "prompt", "unseen_tools", "paired_tests", *_ABLATIONS}


def dependency_report(experiment: Experiment) -> ReportPage:
    """The page about an experiment that `run_dependency` made."""
    extra: Any = experiment.extra
    prompt = any_tables("By strategy, percent and tokens", extra.get("prompt") or {})
    unseen = any_tables("Steps that need such a tool", extra.get("unseen_tools") or {})
    tests = any_tables("Combined minus each other, top-1", extra.get("paired_tests") or {})
    rest = {key: value for key, value in extra.items() if key not in _SHOWN}
    sections = [
        Section("Methods", [_main(experiment), _ranges(experiment)]),
        Section("Intervals and tests", [_intervals(experiment), *tests]),
        Section("Roll-out, speed and size", [_work(experiment)]),
        *(_ablation(name, extra[name]) for name in _ABLATIONS if extra.get(name)),
        Section("Tools that nobody demonstrated", [*unseen]),
        Section("In the prompt", [*prompt] if extra.get("prompt") else []),
        Section("Other figures", [*any_tables("Without a place of their own", rest)]),
    ]
    return ReportPage(
        "Tool dependencies",
        _lead(experiment),
        [*(one for one in sections if one.parts), provenance(experiment)],
    )


def _lead(experiment: Experiment) -> str:
    found: Any = experiment.figures.get(SHIPPED)
    if found is None:
        return "The combined ranker was not asked for."
    other: Any = experiment.figures.get("dtdr_l")
    beside = "" if other is None else f", DTDR-L {ours(other['top1_later'])} %"
    return (
        f"Of the steps after the first, the combined ranker has {ours(found['top1_later'])} % in "
        f"first place{beside}."
    )


def _main(experiment: Experiment) -> HtmlTable:
    rows = []
    for name in [*METHODS, *ENDPOINT_METHODS]:
        found: Any = experiment.figures.get(name)
        if found is None:
            cells = [left_out(experiment, name, len(MEASURES), why=True)]
        else:
            cells = [Cell(ours(found[one])) for one in MEASURES]
        rows.append(TableRow(LABELS.get(name, name), cells, strong=name == SHIPPED))
    return HtmlTable(
        "Percent; the true history is given",
        [Column("method"), *(Column(_HEADS[one]) for one in MEASURES)],
        rows,
        notes=[
            "Later: steps after the first, those that end left out, and end taken out of the "
            "rankings. The others count every step, the one to end included. F1 takes as many "
            "first tools as are acceptable: with one a step it is top-1.",
        ],
    )


def _ranges(experiment: Experiment) -> Plot:
    rows: dict[str, tuple[float, float, float] | None] = {}
    for name in experiment.figures:
        found: Any = experiment.figures[name]
        bounds: Any = experiment.intervals[name]
        value = float(found["top1_later"])
        low, high = bounds["top1_later"] or (value, value)
        rows[LABELS[name]] = (value, float(low), float(high))
    words = "; ".join(f"{name}: {ours(row[0])}" for name, row in rows.items() if row)
    svg = ranges(
        rows,
        {},
        name="later",
        title="Top-1 of steps after the first, every method",
        description=words,
        x_label="top-1, steps after the first, %",
    )
    return Plot(svg, "Dot and bar: the figure with its 95 % interval over chains.")


def _intervals(experiment: Experiment) -> HtmlTable:
    labels = {name: LABELS[name] for name in experiment.figures}
    caption = "Percent, with 95 % intervals from a bootstrap over chains"
    return interval_table(experiment, labels, _HEADS, caption)


def _work(experiment: Experiment) -> HtmlTable:
    extra: Any = experiment.extra
    rows = []
    for name in experiment.figures:
        rolled, speed = extra["roll_out"][name], extra["speed"][name]
        values = [rolled["exact"], rolled["same_tools"], rolled["ended"]]
        cells = [
            *(Cell(ours(one)) for one in values),
            Cell(said(speed["p50_ms"])),
            Cell(said(speed["p95_ms"])),
            Cell(said(speed["p50_new_request_ms"])),
            Cell(said(speed["p50_whole_request_ms"])),
            Cell(said(speed["p50_processor_ms"])),
            Cell(f"{extra['parameters'][name]:,}"),
        ]
        rows.append(TableRow(LABELS[name], cells, strong=name == SHIPPED))
    heads = (
        "exact",
        "same tools",
        "ended",
        "ms p50",
        "ms p95",
        "ms new",
        "ms whole",
        "CPU ms",
        "parameters",
    )
    return HtmlTable(
        "Every prediction becomes history, up to end; milliseconds of ranking one step",
        [Column("method"), *map(Column, heads)],
        rows,
        notes=[
            "The vectors are there before the clock starts. New: the first step of a request; "
            "later ones find it read. The encoder is not counted."
        ],
    )


def _ablation(name: str, found: Mapping[str, Any]) -> Section:
    title, x_label = _ABLATIONS[name]
    methods = list(dict.fromkeys(one for row in found.values() for one in row))
    lines = {
        LABELS[method]: [float(row[method]["top1"]) for row in found.values()] for method in methods
    }
    words = "; ".join(f"{one}: {', '.join(map(ours, values))}" for one, values in lines.items())
    svg = curves(
        lines,
        name=name.replace("_", "-"),
        title=f"Top-1 of all steps by {x_label}",
        description=f"At {', '.join(found)}: {words}",
        x_label=x_label,
        y_label="top-1, all steps, %",
        places=list(found),
    )
    table = HtmlTable(
        f"Top-1 (MRR) of all steps by {x_label}, percent",
        [Column(x_label), *(Column(LABELS[one]) for one in methods)],
        [
            TableRow(
                place,
                [Cell(f"{ours(row[one]['top1'])} ({ours(row[one]['mrr'])})") for one in methods],
            )
            for place, row in found.items()
        ],
    )
    parts: list[Part] = [Plot(svg, f"Figure 5 of the paper: {title.lower()}."), table]
    return Section(title, parts)
