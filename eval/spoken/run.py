"""How the assistant plans plain requests of strangers (SLURP)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue

from ctrag.assistant.context.candidates import candidates
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.open import toolbox_of
from ctrag.assistant.spoken import as_order
from eval.core.calibration import expected_calibration_error
from eval.core.examples import RankingExample, load_views
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.intervals import bootstrap_interval
from eval.core.plans import coverage
from eval.core.rows import KeptRows
from eval.core.tables import Table, figure
from eval.planner.rows import PlanRow
from eval.planner.steps import PlanningSteps, parsed, run_hash
from eval.spoken.scores import SpokenRequest, SpokenScore, load_spoken, score
from stores.people.dataset import DatasetRequest, load_dataset
from stores.people.items import Labels, Request
from synth.reference import split_folder

METHOD = "context_tuned_rag"
"""The setting of `eval.planner` that the assistant plans in."""
PEOPLE = ("p007", "p204")
"""People of the packaged dev split who ask in turn."""
_SEED = 0


@dataclass(frozen=True, slots=True)
class _Case:
    """A request and how its plan did."""

    request: SpokenRequest
    score: SpokenScore
    confidence: float


def run_spoken(
    data: Path,
    *,
    people: Path | None = None,
    split: str = "dev",
    model: Path | None = None,
    limit: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
    resume: Path | None = None,
) -> Experiment:
    """Plan every request as the assistant does, and score the API and the words that are kept.

    Args:
        data: The folder of the requests; see `eval.spoken.scores`.
        people: A data set folder whose people ask in turn; when None, `PEOPLE` of the packaged dev
            split.
        split: Which file of the folder, without `.jsonl`.
        model: A ranker's folder; the packaged one when None.
        limit: Only the first so many requests.
        progress: Called with progress messages.
        resume: File of plans so far; it is read first and appended to.

    Raises:
        FileNotFoundError: The folder lacks a file.
        ValueError: A line of the folder, or of the people's, breaks a rule.
    """
    began = time.perf_counter()
    requests, rules = load_spoken(data, split)
    of = len(requests)
    requests = requests[:limit]
    source = split_folder("dev") if people is None else people
    dataset = load_dataset(source)
    personas = dataset.personas if people is not None else tuple(map(dataset.persona, PEOPLE))
    steps = PlanningSteps.open(model, toolbox_of(source))
    views = list(load_views(replace(dataset, personas=personas), steps.encoder).values())
    asking = [view.person.person_id for view in views]
    run = run_hash(
        (data_sha256(data)[:12], split, data_sha256(source)[:12], *asking, *steps.depends_on)
    )
    rows = KeptRows(resume, PlanRow, run, lambda row: row.query_id)
    for place, request in enumerate(requests):
        if request.query_id not in rows:
            rows.add(_planned(request, views[place % len(views)], steps, run))
            progress(f"{place + 1}/{len(requests)}")
    planned = [rows[one.query_id] for one in requests]
    sure = steps.options.sure
    cases = [
        _Case(one, score(parsed(row.text), one, rules), row.confidence)
        for one, row in zip(requests, planned, strict=True)
    ]
    by_intent: dict[str, list[_Case]] = {}
    for case in sorted(cases, key=lambda case: case.request.intent):
        by_intent.setdefault(case.request.intent, []).append(case)
    sureness, both = [one.confidence for one in cases], [one.score.both for one in cases]
    seconds = sorted(row.seconds for row in planned)
    extra: dict[str, Any] = {
        "intents": {intent: _figures(of_intent, sure) for intent, of_intent in by_intent.items()},
        "calibration_error": round(expected_calibration_error(sureness, both), 2),
        "coverage": coverage(sureness, both, [share / 10 for share in range(1, 11)]),
        "seconds": {
            "p50": seconds[len(seconds) // 2],
            "p95": seconds[int(0.95 * (len(seconds) - 1))],
        },
        "requests_to_score": of,
        "people": asking,
    }
    return Experiment(
        experiment="spoken",
        data=str(data),
        data_sha256=data_sha256(data),
        seed=_SEED,
        versions=versions(),
        settings={
            **steps.described,
            "split": split,
            "people": None if people is None else str(people),
            "people_sha256": data_sha256(source),
            "sure": sure,
            "limit": limit,
        },
        figures={METHOD: _figures(cases, sure)},
        intervals={METHOD: _intervals(cases, sure)},
        extra=extra,
        seconds=round(time.perf_counter() - began, 2),
    )


_COLUMNS = ("requests", "api", "kept", "both", "sure", "sure_right")


def table(experiment: Experiment) -> Table:
    """All requests, then those of each intent."""
    extra: Any = experiment.extra
    figures: Any = experiment.figures[METHOD]
    bounds: Any = experiment.intervals[METHOD]
    rows = [
        [name, str(found["requests"]), *(figure(found[key]) for key in _COLUMNS[1:])]
        for name, found in {"all": figures, **extra["intents"]}.items()
    ]
    between = "; ".join(
        f"{name.replace('_', ' ')} {low:.1f} to {high:.1f}" for name, (low, high) in bounds.items()
    )
    curve = ", ".join(f"{share} %: {figure(right)}" for share, right in extra["coverage"].items())
    notes = [
        f"{figures['requests']} of {extra['requests_to_score']} requests, asked by "
        f"{len(extra['people'])} people in turn; api: it would do what was asked; kept: words of "
        "entities that the call has, where its API is right; both: right API, no word lost; sure: "
        "plans of at least the confidence CTRAG_SURE, and how many of them are both.",
        f"95 %, bootstrap over requests: {between or '-'}",
        f"both among the surest: {curve}; calibration error {extra['calibration_error']:g}",
        f"seconds from a request to its plan: {extra['seconds']['p50']:g} at the median, "
        f"{extra['seconds']['p95']:g} at the 95th percentile",
    ]
    header = ["intent", *(name.replace("_", " ") for name in _COLUMNS)]
    return Table(header, rows, notes)


def _planned(request: SpokenRequest, view: PersonView, steps: PlanningSteps, run: str) -> PlanRow:
    """The plan when this person asks, with the seconds of all its steps."""
    began = time.perf_counter()
    person = view.person
    asked = as_order(Request(request.text, person.now))
    [(vector, tuned)] = steps.retriever.request_encoder.read([asked.text])
    context = FeatureContext(view, asked, vector, candidates(view, asked, vector, tuned), tuned)
    example = RankingExample(
        DatasetRequest(request.query_id, person.person_id, asked),
        context,
        Labels(),
        np.zeros(len(context), np.float32),
    )
    row = steps.decode(example, METHOD, False, run)
    return row.model_copy(update={"seconds": round(time.perf_counter() - began, 3)})


def _measured(cases: Sequence[_Case], sure: float) -> dict[str, list[tuple[str, bool]]]:
    """Of each figure, the verdicts with the request that each is about."""
    named = [(one.request.query_id, one) for one in cases]
    certain = [(name, one) for name, one in named if one.confidence >= sure]
    return {
        "api": [(name, one.score.api) for name, one in named],
        "kept": [(name, word) for name, one in named for word in one.score.kept],
        "both": [(name, one.score.both) for name, one in named],
        "sure": [(name, one.confidence >= sure) for name, one in named],
        "sure_right": [(name, one.score.both) for name, one in certain],
    }


def _figures(cases: Sequence[_Case], sure: float) -> dict[str, JsonValue]:
    """Percentages; None where there is nothing to count."""
    figures: dict[str, JsonValue] = {"requests": len(cases)}
    for key, verdicts in _measured(cases, sure).items():
        right = [one for _, one in verdicts]
        figures[key] = round(100 * float(np.mean(right)), 2) if right else None
    return figures


def _intervals(cases: Sequence[_Case], sure: float) -> dict[str, JsonValue]:
    """Bounds of the figures, from requests drawn with all that is counted of each."""
    intervals: dict[str, JsonValue] = {}
    for key, verdicts in _measured(cases, sure).items():
        values, names = [100.0 * one for _, one in verdicts], [name for name, _ in verdicts]
        interval = bootstrap_interval(values, names, seed=_SEED) if values else None
        if interval is not None:
            intervals[key] = [round(interval.low, 2), round(interval.high, 2)]
    return intervals
