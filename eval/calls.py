"""One call of other people's tools, zero-shot: BFCL, ToolTalk and catalogue folders."""

import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, JsonValue

from ctrag.encoder import Encoder, load_encoder
from ctrag.planner.calls import SHOWN, WEIGHT, CallPlanner, ToolChoice, base_planner
from ctrag.planner.embedded import EmbeddedPlanner
from ctrag.settings import settings
from eval.call_cases import CallCase, drawn, load_calls
from eval.experiment import Experiment, versions
from eval.intervals import bootstrap_interval
from eval.rows import KeptRows
from eval.tables import Table, figure

METHODS = ("retrieval", "model", "both")
"""Who chooses the tool; the model fills in the arguments in all of them."""
WEIGHTS = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
CAUSES = ("wrong number of calls", "wrong function", "wrong argument")
_SEED = 0


class Row(BaseModel):
    """What was found for one case; a resumed run reads it instead of asking again."""

    model_config = ConfigDict(extra="forbid")
    run: str
    """Hash of what the row depends on besides the case."""
    case_id: str
    scores: dict[str, tuple[float, float]]
    """Tool → retrieval score and the model's log-probability per token."""
    arguments: dict[str, dict[str, Any]]
    """Tool → arguments, for each tool that a method chose."""
    cut: list[str]
    """Tools whose arguments were longer than an answer may be."""
    choosing: float
    """Seconds."""
    filling: float
    """Seconds for one call, the mean over the tools that were chosen."""


def run_calls(
    data: str,
    *,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
    resume: Path | None = None,
    encoder: Encoder | None = None,
    planner: EmbeddedPlanner | None = None,
) -> Experiment:
    """Plan one call for every case and judge it.

    Args:
        data: `bfcl:multiple`, `bfcl:live_multiple`, or a folder; see `load_calls`.
        methods: Names from `METHODS`; all when None.
        limit: Only so many cases, drawn by seed.
        progress: Told about each case.
        resume: File of rows found so far; it is read first and appended to.
        encoder: For retrieval; the one of the settings when None.
        planner: The model; the base of the settings when None.

    Raises:
        ValueError: A method is unknown, or the data break a rule.
    """
    began = time.perf_counter()
    for name in methods or ():
        if name not in METHODS:
            raise ValueError(f"--methods: {name!r} is unknown; known: {', '.join(METHODS)}")
    wanted = [name for name in METHODS if methods is None or name in methods]
    options = settings()
    found = load_calls(data)
    cases = drawn(found.cases, limit, _SEED)
    encoder = load_encoder(options.encoder) if encoder is None else encoder
    planner = base_planner() if planner is None else planner
    depends_on = (found.sha256, encoder.name, options.planner_model, planner.engine_name, SHOWN,
                  WEIGHT, ",".join(wanted))  # fmt: skip
    run = sha256("|".join(map(str, depends_on)).encode()).hexdigest()[:32]
    rows = KeptRows(resume, Row, run, lambda row: row.case_id)
    for number, case in enumerate(cases, 1):
        if case.case_id not in rows:
            rows.add(_row(case, wanted, encoder, planner, run))
        progress(f"{number}/{len(cases)}")
    kept = [rows[case.case_id] for case in cases]
    figures: dict[str, JsonValue] = {}
    intervals: dict[str, JsonValue] = {}
    errors: dict[str, JsonValue] = {}
    for name in wanted:
        causes = [_cause(case, row, name) for case, row in zip(cases, kept, strict=True)]
        figures[name], intervals[name] = _figures(cases, kept, causes, name)
        errors[name] = {cause: causes.count(cause) for cause in CAUSES}
    single = [(case, row) for case, row in zip(cases, kept, strict=True) if len(case.truth) == 1]
    extra: dict[str, Any] = {
        "errors": errors,
        "cases": len(cases),
        "of": len(found.cases),
        "single_call_cases": len(single),
        "tool_shown": _percent(_gold(case) in row.scores for case, row in single),
        "arguments_with_the_right_tool": {
            name: _percent(
                not _cause(case, row, name)
                for case, row in single
                if _chosen(row, name) == _gold(case)
            )
            for name in wanted
        },
        "cut": sum(len(row.cut) for row in kept),
        "judged_by": found.judged_by,
        "seconds": {
            "choosing_p50": round(float(np.median([row.choosing for row in kept])), 3),
            "filling_p50": round(float(np.median([row.filling for row in kept])), 3),
        },
    }
    if wanted != ["retrieval"]:
        extra["tool_accuracy_by_weight"] = {
            str(weight): _percent(_best(row, weight) == _gold(case) for case, row in single)
            for weight in WEIGHTS
        }
    return Experiment(
        experiment="calls",
        data=data,
        data_sha256=found.sha256,
        seed=_SEED,
        versions=versions(),
        settings={
            "planner_model": options.planner_model,
            "engine": planner.engine_name,
            "encoder": encoder.name,
            "shown": SHOWN,
            "weight": WEIGHT,
            "limit": limit,
        },
        figures=figures,
        intervals=intervals,
        extra=extra,
        seconds=round(time.perf_counter() - began, 2),
    )


def table(experiment: Experiment) -> Table:
    """One line a method: accuracy with its interval, the tool's alone, and what went wrong."""
    extra: Any = experiment.extra
    shown: Any = experiment.figures
    bounds: Any = experiment.intervals
    rows = []
    for name, figures in shown.items():
        interval = bounds[name]["accuracy"]
        between = "-" if interval is None else f"{interval[0]:.1f} to {interval[1]:.1f}"
        causes = [str(extra["errors"][name][cause]) for cause in CAUSES]
        rows.append(
            [name, figure(figures["accuracy"]), between, figure(figures["tool_accuracy"]), *causes]
        )
    notes = [
        f"{extra['cases']} of {extra['of']} cases, judged by {extra['judged_by']}; the right tool "
        f"was among the {SHOWN} that the model saw in {figure(extra['tool_shown'])} % of those "
        "that want one call.",
        f"Seconds at the median: choosing {extra['seconds']['choosing_p50']}, arguments "
        f"{extra['seconds']['filling_p50']}, on {experiment.settings['engine']}.",
    ]
    return Table(["tool chosen by", "accuracy", "95 %", "tool", *CAUSES], rows, notes)


def _row(
    case: CallCase,
    methods: Sequence[str],
    encoder: Encoder,
    planner: EmbeddedPlanner,
    run: str,
) -> Row:
    weight = np.inf if methods == ["retrieval"] else WEIGHT
    calls = CallPlanner(case.tools, encoder=encoder, planner=planner, weight=weight)
    began = time.perf_counter()
    choices = calls.choose(case.text, case.before)
    chose = time.perf_counter()
    row = Row(
        run=run,
        case_id=case.case_id,
        scores={one.tool.id: (one.retrieval, one.log_probability) for one in choices},
        arguments={},
        cut=[],
        choosing=round(chose - began, 4),
        filling=0.0,
    )
    for name in dict.fromkeys(_chosen(row, method) for method in methods):
        filled = calls.fill(_first(choices, name), case.text, case.before)
        if filled.complete:
            row.arguments[name] = filled.arguments
        else:
            row.cut.append(name)
    filling = (time.perf_counter() - chose) / max(len(row.arguments) + len(row.cut), 1)
    return row.model_copy(update={"filling": round(filling, 4)})


def _first(choices: Sequence[ToolChoice], name: str) -> list[ToolChoice]:
    return sorted(choices, key=lambda one: one.tool.id != name)


def _chosen(row: Row, method: str) -> str:
    return _best(row, {"retrieval": None, "model": 0.0, "both": WEIGHT}[method])


def _best(row: Row, weight: float | None) -> str:
    """The tool with the best sum; with None by retrieval alone."""

    def score(name: str) -> float:
        retrieval, said = row.scores[name]
        return retrieval if weight is None else said + weight * retrieval

    return max(row.scores, key=score)


def _gold(case: CallCase) -> str:
    return next(iter(case.truth[0]))


def _cause(case: CallCase, row: Row, method: str) -> str:
    """What is wrong with the planned call first; "" if nothing."""
    if len(case.truth) != 1:
        return CAUSES[0]
    name = _chosen(row, method)
    if name != _gold(case):
        return CAUSES[1]
    right = name in row.arguments and case.right([{name: row.arguments[name]}])
    return "" if right else CAUSES[2]


def _figures(
    cases: Sequence[CallCase], rows: Sequence[Row], causes: Sequence[str], method: str
) -> tuple[JsonValue, JsonValue]:
    groups = [case.group for case in cases]
    measured: Mapping[str, list[float]] = {
        "accuracy": [100.0 * (not cause) for cause in causes],
        "tool_accuracy": [
            100.0 * (_chosen(row, method) in {name for call in case.truth for name in call})
            for case, row in zip(cases, rows, strict=True)
        ],
    }
    figures: dict[str, JsonValue] = {}
    intervals: dict[str, JsonValue] = {}
    for key, values in measured.items():
        figures[key] = round(float(np.mean(values)), 2)
        bounds = bootstrap_interval(values, groups, seed=_SEED)
        intervals[key] = None if bounds is None else [round(bounds.low, 2), round(bounds.high, 2)]
    return figures, intervals


def _percent(right: Any) -> float | None:
    found = [float(one) for one in right]
    return round(100 * float(np.mean(found)), 2) if found else None
