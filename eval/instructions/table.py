"""The instruction experiment as tables, the paper's figures beside ours."""

from collections.abc import Mapping
from typing import Any

from eval.core.experiment import Experiment
from eval.core.tables import Table, figure

PAPER = {
    "monolithic": (30000, 62),
    "router_only": (30000, 70),
    "prompt_rag": (11000, 66),
    "itr": (1500, 82),
}
"""Tokens per step and tools correct of the paper's table 2."""
VARIANT_HEADS = {
    "tokens_per_step": "tokens/step",
    "top1": "first tool",
    "gold_exposed_without_discovery": "exposed",
    "gold_exposed": "with discovery",
    "discovery_share": "on",
    "needed_units": "needed units",
}
"""What is said of a variant, and what it is called."""
_END_STATE = {"end_state": "end state"}
"""Of variants on conversations whose calls can be made again."""

MIX_HEADS = {
    "tokens_per_step": "tokens/step",
    "missed_without_discovery": "missed",
    "missed": "with discovery",
    "discovery_share": "on",
    "missed_outside": "missed of outside",
}
"""What is said of a variant of the mix, and what it is called."""


def table(experiment: Experiment) -> Table:
    """Every method at every size; below it misses, discovery and what each part is worth."""
    figures: Any = experiment.figures
    extra: Any = experiment.extra
    traced: Any = extra["with_traces"]["figures"]
    rows = []
    for size, methods in figures.items():
        if size == "miss_rate":
            continue
        whole = methods.get("monolithic", {}).get("tokens_per_step")
        both = {**methods, "itr + traces": traced[size]["itr"]}
        for name, one in both.items():
            tokens = one["tokens_per_step"]
            saved = 100 * (1 - tokens / whole) if tokens and whole else None
            paper = PAPER.get(name, ("-", "-"))
            rows.append(
                [
                    size,
                    name,
                    "-" if tokens is None else f"{tokens:.0f}",
                    figure(saved),
                    figure(one["tools_correct"]),
                    figure(one["gold_exposed"]),
                    str(paper[0]),
                    str(paper[1]),
                ]
            )
    return Table(
        ["tools", "method", "tokens/step", "saved", "correct", "exposed", "paper tok.", "corr."],
        rows,
        [*_notes(figures, extra, traced), *_mix(extra), *_variants(extra), *_greedy(extra)],
    )


def variants(extra: Mapping[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Variant → figures with `intervals`, of `ablations` or `elsewhere`; empty for none."""
    found: Any = extra.get(name) or {}
    return {key: one for key, one in found.items() if isinstance(one, dict)}


def variant_heads(found: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Measures that are said of these variants, and what they are called."""
    ends = any(measure in one for one in found.values() for measure in _END_STATE)
    return {**VARIANT_HEADS, **_END_STATE} if ends else VARIANT_HEADS


def _notes(figures: Any, extra: Any, traced: Any) -> list[str]:
    notes = [
        f"{extra['steps']} steps of {extra['episodes']} episodes; correct: "
        f"the model's choice at {extra['scored_steps']} of them",
        "baselines at 8 and 40 have one policy; ITR retrieves from all policies everywhere",
    ]
    for name, one in (("itr", figures["miss_rate"]), ("itr + traces", traced["miss_rate"])):
        notes.append(
            f"misses, {name}: {one['no_discovery']:.1f} % without discovery, "
            f"{one['discovery']:.1f} % with it on {one['discovery_share']:.1f} % of steps "
            "(the paper: 6.1 and 2.4)"
        )
    for name, one in (extra.get("traces_first_tool") or {}).items():
        said = f" ({one['groups']} groups of episodes)" if "groups" in one else ""
        notes.append(
            f"traces {name}{said}: first tool {_bounded(one, 'top1')}, exposed "
            f"{_bounded(one, 'gold_exposed')}"
        )
    for name, one in extra["halves"].items():
        notes.append(
            f"exposed without discovery, {name}: {figure(one['chosen_on']['gold_exposed'])} on "
            f"the half that settings were chosen on, {figure(one['others']['gold_exposed'])} on "
            "the other"
        )
    for name, one in extra["sufficiency"].items():
        notes.append(
            f"sufficiency, {name}: AUC {figure(one['auc'])}, calibration error "
            f"{figure(one['calibration_error'])} ({figure(one['calibration_error_cross_fitted'])} "
            f"cross-fitted), {figure(one['missed_among_discovery_steps'])} % of discovery steps "
            "had missed"
        )
    for size, one in extra["latency_ms"].items():
        notes.append(
            f"a prompt without encoding, {size} tools: p50 {one['p50']} ms, p95 {one['p95']}; all "
            f"of an episode: p50 {one['episode_p50']}, p95 {one['episode_p95']}"
        )
    for size, one in extra["needed_units"].items():
        if one["recall"] is not None:
            notes.append(
                f"needed policy units, {size} tools: recall {one['recall']:.1f} "
                f"at {one['labelled_steps']} labelled steps"
            )
    return notes


def _mix(extra: Any) -> list[str]:
    """Episodes with a need outside: misses, discovery and what it costs."""
    mix = extra.get("mix") or {}
    if "skipped" in mix:
        return [f"mix: {mix['skipped']}"]
    rows = [
        [name, judge, *(_bounded(one[judge], measure) for measure in MIX_HEADS)]
        for name, one in mix.items()
        if isinstance(one, dict)
        for judge in ("closed world", "open world")
    ]
    if not rows:
        return []
    about = (
        f"{mix['steps']} steps, {mix['outside']} of them with a need outside the first server; "
        "sufficiency and thresholds cross-fitted by episode"
    )
    heads = ["mix", "sufficiency", *MIX_HEADS.values()]
    weights = [
        f"weights of open-world sufficiency, {name}: {one['weights']}"
        for name, one in mix.items()
        if isinstance(one, dict)
    ]
    return ["", *Table(heads, rows).lines(), about, *weights]


def _variants(extra: Any) -> list[str]:
    """Tables of variants, each figure with its interval."""
    lines: list[str] = []
    for name, title in (("ablations", "variant"), ("elsewhere", "BFCL multi-turn")):
        found = variants(extra, name)
        if found:
            heads = variant_heads(found)
            rows = [
                [key, *(_bounded(one, measure) for measure in heads)] for key, one in found.items()
            ]
            lines += ["", *Table([title, *heads.values()], rows).lines()]
    elsewhere = extra.get("elsewhere") or {}
    if "left_as_it_was" in elsewhere:
        lines.append(
            "end state: conversations whose calls of exposed tools leave the right state; "
            f"{elsewhere['left_as_it_was']} of {elsewhere['episodes']} leave it as it was"
        )
    if any("without re-ranking" in variants(extra, name) for name in ("ablations", "elsewhere")):
        lines.append("re-ranked is what is not said to be without; dense only: cosine alone")
    return lines


def _greedy(extra: Any) -> list[str]:
    found = extra.get("greedy_against_exact") or {}
    heads = ["budget for units", "greedy gain of the best", "worst", "at the optimum"]
    rows = [
        [
            budget,
            _with(figure(one["mean"]), one["interval"], 1),
            figure(one["worst"]),
            figure(one["optimal"]),
        ]
        for budget, one in found.items()
    ]
    return ["", *Table(heads, rows).lines()] if rows else []


def _bounded(one: Mapping[str, Any], measure: str) -> str:
    """A figure and its interval; tokens have no decimals."""
    value, places = one[measure], 0 if measure == "tokens_per_step" else 1
    shown = "-" if value is None else f"{value:.{places}f}"
    return _with(shown, one["intervals"][measure], places)


def _with(shown: str, interval: Any, places: int) -> str:
    if not interval:
        return shown
    low, high = interval
    return f"{shown} ({low:.{places}f}–{high:.{places}f})"
