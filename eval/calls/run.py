"""Single calls of external tools, zero-shot: BFCL, ToolTalk and catalogue folders."""

import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, JsonValue

from ctrag.agents.calls.plan_call import SHOWN, CallPlanner, base_model
from ctrag.models.encoder import Encoder, load_encoder
from ctrag.models.language_model import LanguageModel
from ctrag.settings import settings
from eval.calls.cases import CallCase, drawn, load_calls
from eval.core.experiment import Experiment, versions
from eval.core.intervals import bootstrap_interval
from eval.core.rows import KeptRows
from eval.core.tables import Table, figure

METHOD = "retrieval"
"""Who chooses the tool; the model fills in the arguments."""
CAUSES = ("wrong number of calls", "wrong function", "wrong argument")
_SEED = 0


class CallRow(BaseModel):
    """What was found for one case; a resumed run reads it instead of recomputing."""

    model_config = ConfigDict(extra="forbid")
    run: str
    """Hash of what the row depends on besides the case."""
    case_id: str
    shown: list[str]
    """Tools that were considered, best first; the first is called."""
    arguments: dict[str, Any] | None
    """None where they were longer than an answer may be."""
    seconds: float


def run_calls(
    data: str,
    *,
    limit: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
    resume: Path | None = None,
    encoder: Encoder | None = None,
    model: LanguageModel | None = None,
) -> Experiment:
    """Plan one call for every case and judge it.

    Args:
        data: `bfcl:multiple`, `bfcl:live_multiple`, or a folder; see `load_calls`.
        limit: Only so many cases, drawn by seed.
        progress: Called with progress messages.
        resume: File of rows found so far; it is read first and appended to.
        encoder: For retrieval; the one of the settings when None.
        model: The language model; the base of the settings when None.

    Raises:
        ValueError: The data break a rule.
    """
    began = time.perf_counter()
    options = settings()
    found = load_calls(data)
    cases = drawn(found.cases, limit, _SEED)
    encoder = load_encoder(options.encoder) if encoder is None else encoder
    model = base_model() if model is None else model
    depends_on = (
        found.sha256,
        encoder.name,
        options.planner_model,
        model.engine_name,
        SHOWN,
    )
    run = sha256("|".join(map(str, depends_on)).encode()).hexdigest()[:32]
    rows = KeptRows(resume, CallRow, run, lambda row: row.case_id)
    for number, case in enumerate(cases, 1):
        if case.case_id not in rows:
            rows.add(_row(case, encoder, model, run))
        progress(f"{number}/{len(cases)}")
    kept = [rows[case.case_id] for case in cases]
    causes = [_cause(case, row) for case, row in zip(cases, kept, strict=True)]
    figures, intervals = _figures(cases, kept, causes)
    single = [(case, row) for case, row in zip(cases, kept, strict=True) if len(case.truth) == 1]
    extra: dict[str, Any] = {
        "errors": {METHOD: {cause: causes.count(cause) for cause in CAUSES}},
        "cases": len(cases),
        "of": len(found.cases),
        "single_call_cases": len(single),
        "tool_shown": _percent(_gold(case) in row.shown for case, row in single),
        "arguments_with_the_right_tool": {
            METHOD: _percent(
                not _cause(case, row) for case, row in single if row.shown[0] == _gold(case)
            )
        },
        "cut": sum(row.arguments is None for row in kept),
        "judged_by": found.judged_by,
        "seconds_p50": round(float(np.median([row.seconds for row in kept])), 3),
    }
    return Experiment(
        experiment="calls",
        data=data,
        data_sha256=found.sha256,
        seed=_SEED,
        versions=versions(),
        settings={
            "planner_model": options.planner_model,
            "engine": model.engine_name,
            "encoder": encoder.name,
            "shown": SHOWN,
            "limit": limit,
        },
        figures={METHOD: figures},
        intervals={METHOD: intervals},
        extra=extra,
        seconds=round(time.perf_counter() - began, 2),
    )


def table(experiment: Experiment) -> Table:
    """Accuracy with its interval, the tool's alone, and what went wrong."""
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
        f"was among the {SHOWN} that were considered in {figure(extra['tool_shown'])} % of those "
        "that want one call.",
        f"Seconds at the median: {extra['seconds_p50']}, on {experiment.settings['engine']}.",
    ]
    return Table(["tool chosen by", "accuracy", "95 %", "tool", *CAUSES], rows, notes)


def _row(case: CallCase, encoder: Encoder, model: LanguageModel, run: str) -> CallRow:
    calls = CallPlanner(case.tools, encoder=encoder, model=model)
    planned = calls.plan(case.text, case.before)
    return CallRow(
        run=run,
        case_id=case.case_id,
        shown=[hit.tool.id for hit in planned.choices],
        arguments=planned.arguments if planned.complete else None,
        seconds=round(planned.seconds, 4),
    )


def _gold(case: CallCase) -> str:
    return next(iter(case.truth[0]))


def _cause(case: CallCase, row: CallRow) -> str:
    """What is wrong with the planned call first; "" if nothing."""
    if len(case.truth) != 1:
        return CAUSES[0]
    name = row.shown[0]
    if name != _gold(case):
        return CAUSES[1]
    right = row.arguments is not None and case.right([{name: row.arguments}])
    return "" if right else CAUSES[2]


def _figures(
    cases: Sequence[CallCase], rows: Sequence[CallRow], causes: Sequence[str]
) -> tuple[JsonValue, JsonValue]:
    groups = [case.group for case in cases]
    measured: Mapping[str, list[float]] = {
        "accuracy": [100.0 * (not cause) for cause in causes],
        "tool_accuracy": [
            100.0 * (row.shown[0] in {name for call in case.truth for name in call})
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
