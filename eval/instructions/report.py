"""The page about the instruction experiment: the tables and figures of the ITR paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.core.experiment import Experiment
from eval.instructions.figures import hazard
from eval.instructions.table import PAPER, variant_heads, variants
from eval.report.page import (
    Cell,
    Column,
    HtmlTable,
    Part,
    Plot,
    ReportPage,
    Section,
    TableRow,
    Text,
)
from eval.report.plots import curves
from eval.report.tables import any_tables, fact_table, ours, provenance, said

_LABELS = {
    "monolithic": "whole prompt (B0)",
    "router_only": "router only (B1)",
    "prompt_rag": "prompt-RAG (B2)",
    "itr": "ITR",
    "itr + traces": "ITR with traces",
    "retriever_top1": "the retriever's first tool",
}
_SHOWN = {
    "with_traces",
    "hazard",
    "growth",
    "ablations",
    "elsewhere",
    "sufficiency",
    "halves",
    "latency_ms",
    "needed_units",
    "transcript",
}
_DRAWN = (2, 8, 40, 120, 400)


def instruction_report(experiment: Experiment) -> ReportPage:
    """The page about an experiment that `run_instructions` made."""
    extra: Any = experiment.extra
    rest = {key: value for key, value in extra.items() if key not in _SHOWN}
    sections = [
        Section("Tables 2 and 5: tokens and tools", _main(experiment)),
        Section("Table 4: misses and discovery", _misses(experiment)),
        Section("Equations 5 and 6: the hazard model", _hazard(experiment)),
        Section("Figure 4: growth over loops", _growth(experiment)),
        Section("Table 6: what each part is worth", _variants(extra, "ablations", "Variants")),
        Section("Other agents", _variants(extra, "elsewhere", "BFCL's multi-turn requests")),
        Section("Needed policy units", any_tables("By size", extra["needed_units"], head="tools")),
        Section(
            "Latency", any_tables("Milliseconds of a prompt, without encoding", _latency(extra))
        ),
        Section("One episode", any_tables("Step by step", extra.get("transcript") or [])),
        Section("Other figures", any_tables("Without a place of their own", rest)),
    ]
    return ReportPage(
        "Instruction and tool retrieval",
        _lead(experiment),
        [*(one for one in sections if one.parts), provenance(experiment)],
    )


def _lead(experiment: Experiment) -> str:
    rows = _methods(experiment)
    size = list(rows)[-1]
    found = rows[size]
    whole, own = found.get("monolithic"), found.get("itr")
    if own is None or whole is None:
        return "ITR or the whole prompt was not asked for."
    saved = 100 * (1 - own["tokens_per_step"] / whole["tokens_per_step"])
    traced = found["itr + traces"]
    return (
        f"At the largest catalogue a step's prompt has {own['tokens_per_step']:.0f} tokens in "
        f"place of {whole['tokens_per_step']:.0f}: {saved:.1f} % fewer (the paper: 95). The step's "
        f"own tool is exposed at {own['gold_exposed']:.1f} % of {said(experiment.extra['steps'])} "
        f"steps, with a prior of other episodes' traces at {traced['gold_exposed']:.1f} %."
    )


def _methods(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Size → method → figures, the row with traces among them."""
    figures: Any = experiment.figures
    traced: Any = experiment.extra["with_traces"]
    found = {}
    for size, methods in figures.items():
        if size != "miss_rate":
            more = {"itr + traces": traced["figures"][size]["itr"]} if "itr" in methods else {}
            found[size] = {**methods, **more}
    return found


def _main(experiment: Experiment) -> list[Part]:
    heads = [
        "tokens a step",
        "saved",
        "tools correct",
        "own tool exposed",
        "paper's tokens",
        "correct",
    ]
    intervals: Any = experiment.intervals
    traced: Any = experiment.extra["with_traces"]
    tables: list[Part] = []
    for size, methods in _methods(experiment).items():
        whole = methods.get("monolithic", {}).get("tokens_per_step")
        rows = []
        for name, one in methods.items():
            own = traced["intervals"][size]["itr"] if "+" in name else intervals[size][name]
            tokens = one["tokens_per_step"]
            saved = 100 * (1 - tokens / whole) if tokens and whole else None
            paper = PAPER.get(name, (None, None))
            cells = [
                Cell(said(None if tokens is None else round(tokens))),
                Cell(ours(saved)),
                _bounded(one["tools_correct"], own.get("tools_correct")),
                _bounded(one["gold_exposed"], own.get("gold_exposed")),
                Cell(said(paper[0])),
                Cell(said(paper[1])),
            ]
            rows.append(TableRow(_LABELS[name], cells, strong=name.startswith("itr")))
        columns = [Column("method", "word"), *(Column(one) for one in heads)]
        tables.append(HtmlTable(f"{size} tools", columns, rows))
    return tables


def _bounded(value: Any, bounds: Any) -> Cell:
    below = "" if not bounds else f"{ours(bounds[0])} to {ours(bounds[1])}"
    return Cell(ours(value), below=below)


def _variants(extra: Any, name: str, caption: str) -> list[Part]:
    """A row for each variant, every figure with its interval; what else is said of them below."""
    found = variants(extra, name)
    heads = variant_heads(found)
    rows = [
        TableRow(key, [_bounded(one[x], one["intervals"][x]) for x in heads])
        for key, one in found.items()
    ]
    columns = [Column("variant", "word"), *map(Column, heads.values())]
    rest = {key: one for key, one in (extra.get(name) or {}).items() if key not in found}
    return [
        *([HtmlTable(caption, columns, rows)] if rows else []),
        *(any_tables("Of these", rest) if rest else []),
    ]


def _misses(experiment: Experiment) -> list[Part]:
    figures: Any = experiment.figures
    extra: Any = experiment.extra
    rows = {
        "ITR": figures["miss_rate"],
        "ITR with traces": extra["with_traces"]["figures"]["miss_rate"],
        "the paper": {"no_discovery": 6.1, "discovery": 2.4, "discovery_share": None},
    }
    return [
        *any_tables("Steps whose tool was never exposed, percent", rows, head="method"),
        *any_tables("What sufficiency and discovery do, percent", extra["sufficiency"]),
        *any_tables("Episodes that settings were chosen on, and the others", extra["halves"]),
    ]


def _hazard(experiment: Experiment) -> list[Part]:
    found: Any = experiment.extra["hazard"]
    if not found["fitted_on"]:
        return [Text(f"Not fitted: {found['reason']}.")]
    ratio = found["beta_over_alpha"]
    rows = _methods(experiment)
    recall = rows[list(rows)[-1]].get("itr", {}).get("gold_exposed", 100.0)
    lines = {
        "one of N is right (5)": [100 * float(hazard(ratio, size)) for size in _DRAWN],
        "with ITR's recall (6)": [
            100 * float(hazard(ratio, size, recall / 100)) for size in _DRAWN
        ],
    }
    picture = curves(
        lines,
        name="hazard",
        title="Share of right calls by the number of exposed tools",
        description=f"Equation 5 with beta over alpha {ratio}, and equation 6 with ITR's recall.",
        x_label="exposed tools",
        y_label="right calls, percent",
        places=[str(one) for one in _DRAWN],
    )
    return [
        fact_table("Fitted on whole prompts", {"beta / alpha": ratio, "sizes": found["fitted_on"]}),
        Plot(picture, "Equations 5 and 6 with the fitted ratio"),
        *any_tables(
            "Predicted and measured",
            {key: one for key, one in found.items() if key.startswith("itr")},
        ),
    ]


def _growth(experiment: Experiment) -> list[Part]:
    found: Any = experiment.extra["growth"]
    rows = {key: one for key, one in found.items() if isinstance(one, dict)}
    loops: dict[str, dict[str, Any]] = {}
    for name, one in rows.items():
        each = {f"loop {at}": value for at, value in one["tokens_at_loop"].items()}
        loops[name] = {**each, "loops in 1M": one["loops_in_1M_at_2000_a_loop"]}
    last = list(_sizes(rows))[-1] if rows else ""
    drawn = {
        name.partition("@")[0]: [float(value) for value in one["tokens_at_loop"].values()]
        for name, one in rows.items()
        if name.endswith(f"@{last}")
    }
    parts: list[Part] = []
    if drawn:
        places = [str(at) for at in next(iter(rows.values()))["tokens_at_loop"]]
        picture = curves(
            drawn,
            name="growth",
            title=f"Tokens of a step by loops, catalogue {last}",
            description="; ".join(f"{name}: {values}" for name, values in drawn.items()),
            x_label="loops",
            y_label="tokens of a step",
            places=places,
        )
        parts.append(Plot(picture, "History grows with the loops, what comes before it does not"))
    tables = any_tables("Tokens of a step after so many loops", loops, head="method and size")
    return [*parts, *tables]


def _sizes(rows: Mapping[str, Any]) -> dict[str, None]:
    return dict.fromkeys(name.partition("@")[2] for name in rows)


def _latency(extra: Any) -> dict[str, Any]:
    return dict(extra.get("latency_ms") or {})
