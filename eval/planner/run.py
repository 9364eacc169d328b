"""Planning in five settings: Table 3 of the context-tuning paper."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue

from ctrag.assistant.open import toolbox_of
from ctrag.assistant.planning.plan import NONE
from ctrag.errors import InputError
from ctrag.toolbox import Toolbox
from eval.core.calibration import expected_calibration_error
from eval.core.examples import RankingExample, load_examples
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.grounded import ungrounded
from eval.core.intervals import bootstrap_interval
from eval.core.plans import (
    PlanScore,
    after_question,
    coverage,
    labelled_plan,
    score,
    summarise,
)
from eval.core.tables import Table, figure
from eval.planner.dialogues import CONVERSATIONS, conversation_figures
from eval.planner.rows import PlanRows
from eval.planner.steps import PlanningSteps, parsed, run_hash

SETTINGS = (
    "lower_bound",
    "rag",
    "context_tuned_rag",
    "upper_bound",
    "context_tuned_upper_bound",
)
PAPER = {
    "lower_bound": (43.77, 39.45, 2.59),
    "rag": (76.39, 58.12, 1.76),
    "context_tuned_rag": (85.24, 67.33, 0.93),
    "upper_bound": (91.47, 72.65, 0.85),
    "context_tuned_upper_bound": (91.62, 72.84, 0.53),
}
"""AST accuracy, exact match and hallucination of the paper's table 3."""
LEVELS = "levels.json"
"""File of a data set folder: request → level."""
_SEED = 0
_FIELDS = {"ast_accuracy": "ast_match", "done_right": "done_right"}

Progress = Callable[[str], None]


def run_planner(
    data: Path,
    *,
    model: Path | None = None,
    planner: str = "embedded",
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    free: bool = True,
    progress: Progress = lambda _: None,
    resume: Path | None = None,
) -> Experiment:
    """Decode a plan for every labelled request in every setting, and score it.

    Args:
        data: The data set folder.
        model: A ranker's folder; the packaged one when None.
        planner: `embedded`, or `openai` for the endpoint that the settings name; that one has no
            free decoding.
        methods: Names from `SETTINGS`; all when None.
        limit: Only the first so many requests with a labelled plan.
        free: Whether to decode without the grammar too.
        progress: Called with progress messages.
        resume: File of rows decoded so far; it is read first and appended to.

    Raises:
        ValueError: A setting is unknown, or the data set breaks a rule or has no plans.
    """
    began = time.perf_counter()
    for name in methods or ():
        if name not in SETTINGS:
            raise InputError(f"--methods: {name!r} is unknown; known: {', '.join(SETTINGS)}")
    wanted = [name for name in SETTINGS if methods is None or name in methods]
    toolbox = toolbox_of(data)
    steps = PlanningSteps.open(model, toolbox, planner)
    options, artefacts = steps.options, steps.artefacts
    every = load_examples(data, steps.encoder, artefacts.adapter)
    examples = [one for one in every if one.labels.has_plan][:limit]
    if not examples:
        raise InputError(f"{data}: no request has a labelled plan")
    run = run_hash((data_sha256(data)[:12], *steps.depends_on))
    rows = PlanRows(resume, run)
    decodings = [False, True] if free and planner == "embedded" else [False]
    total = len(wanted) * len(decodings) * len(examples)
    count = 0
    for name in wanted:
        for decoding in decodings:
            for example in examples:
                count += 1
                if rows.has(name, decoding, example):
                    continue
                rows.add(steps.decode(example, name, decoding, run))
                progress(f"{count}/{total} {name}{' free' if decoding else ''}")
    figures: dict[str, JsonValue] = {}
    intervals: dict[str, JsonValue] = {}
    extra: dict[str, Any] = {
        "errors": {},
        "calibration_error": {},
        "text_f1": {},
        "seconds_per_plan": {},
        "coverage": {},
        "after_question": {},
        "levels": {},
    }
    levels = _levels(data, examples)
    for name in wanted:
        scores = {one: _scores(name, one, examples, rows, toolbox) for one in decodings}
        verdicts = scores[False]
        sureness = [rows.get(name, False, one).confidence for one in examples]
        of_setting, intervals[name] = _figures(scores, examples, sureness, options.sure)
        offered = _offered(name, examples, rows, toolbox)
        asked = [known < options.sure for known in sureness]
        figures[name] = of_setting | _after_question(verdicts, offered, asked)
        extra["errors"][name] = _errors(name, examples, verdicts, rows)
        written = [one.text_f1 for one in verdicts if one.text_f1 is not None]
        extra["text_f1"][name] = round(100 * float(np.mean(written)), 2) if written else None
        done = [one.done_right for one in verdicts]
        extra["calibration_error"][name] = {
            "ast_accuracy": _calibration(sureness, [one.ast_match for one in verdicts]),
            "done_right": _calibration(sureness, done),
        }
        extra["coverage"][name] = coverage(sureness, done, [share / 10 for share in range(1, 11)])
        extra["after_question"][name] = {
            field: after_question(
                sureness,
                [getattr(one, field) for one in verdicts],
                [any(getattr(one, field) for one in plans) for plans in offered],
                [share / 10 for share in range(11)],
            )
            for field in ("ast_match", "accepted")
        }
        extra["levels"][name] = {
            level: {
                key: round(value, 2)
                for key, value in summarise([verdicts[at] for at in places]).items()
                if key in _OF_LEVEL
            }
            | {"requests": len(places)}
            for level, places in levels.items()
        }
        seconds = sorted(rows.get(name, False, one).seconds for one in examples)
        extra["seconds_per_plan"][name] = {
            "p50": seconds[len(seconds) // 2],
            "p95": seconds[int(0.95 * (len(seconds) - 1))],
        }
    if "context_tuned_rag" in wanted:
        extra |= conversation_figures(data, steps, toolbox, limit, progress)
    extra["requests"] = len(examples)
    extra["people"] = len({one.asked.person_id for one in examples})
    extra["ranker_saw_this_data"] = artefacts.ranker.card.data_sha256 == data_sha256(data)
    return Experiment(
        experiment="planner",
        data=str(data),
        data_sha256=data_sha256(data),
        seed=_SEED,
        versions=versions(),
        settings={**steps.described, "limit": limit, "free": True in decodings},
        figures=figures,
        intervals=intervals,
        extra=extra,
        seconds=round(time.perf_counter() - began, 2),
    )


_OF_LEVEL = ("api_right", "ast_accuracy", "text_right", "done_right")


def _levels(data: Path, examples: Sequence[RankingExample]) -> dict[str, list[int]]:
    """Level → places of its requests; by `levels.json` where the data set has one, else by kind."""
    file = data / LEVELS
    named = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    found: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        level = named.get(example.asked.query_id, example.labels.kind or "unlabelled")
        found.setdefault(level, []).append(place)
    return dict(sorted(found.items()))


def _calibration(confidence: Sequence[float], right: Sequence[bool]) -> float:
    return round(expected_calibration_error(confidence, right), 2)


def table(experiment: Experiment) -> Table:
    """Table 3: under the grammar, and freely decoded, the paper's figures beside."""
    keys = (
        "ast_accuracy",
        "accepted",
        "text_right",
        "done_right",
        "sure",
        "sure_right",
        "ast_after_question",
        "exact_match",
        "exact_match_closed",
        "hallucination",
        "ungrounded",
        "ast_accuracy_free",
        "hallucination_free",
    )
    rows = []
    for name, found in experiment.figures.items():
        figures: Any = found
        ours = [figure(figures.get(key)) for key in keys]
        rows.append([name, *ours, *(figure(value) for value in PAPER[name])])
    header = ["setting", "AST", "accepted", "text", "done right", "sure", "sure right"]
    header += ["AST asked"]
    header += ["exact", "closed", "halluc.", "ungr.", "AST free"]
    notes = [
        f"{experiment.extra['requests']} requests of {experiment.extra['people']} people; "
        "text: written texts that say what was said; done right: accepted, and so is all text; "
        "sure: plans of at least the confidence CTRAG_SURE, and how many of them are done right; "
        "AST asked: AST where each plan that is not sure is asked about once, with the next best "
        "plans as choices; "
        "free: decoding without the grammar; paper: AST, exact match, hallucination of table 3."
    ]
    extra: Any = experiment.extra
    for name in CONVERSATIONS:
        if found := extra.get(name):
            low, high = found["interval"] or ("-", "-")
            notes.append(
                f"{name}: {found['right']} right ({low} to {high}), done right "
                f"{found['done_right']}, of {found['count']}"
            )
    for name, curves in extra.get("after_question", {}).items():
        for field, curve in curves.items():
            spelled = ", ".join(
                f"{share} % {at['right']:g} (below {at['threshold']:g})"
                for share, at in curve.items()
            )
            notes.append(f"{name}, {field} with one question, by share asked: {spelled}")
    for name, levels in extra.get("levels", {}).items():
        for level, of_level in levels.items():
            spelled = ", ".join(f"{key} {value:g}" for key, value in of_level.items())
            notes.append(f"{name}, {level}: {spelled}")
    return Table([*header, "halluc. free", "paper AST", "exact", "halluc."], rows, notes)


def _scores(
    setting: str, free: bool, examples: Sequence[RankingExample], rows: PlanRows, toolbox: Toolbox
) -> list[PlanScore]:
    return [_score(one, rows.get(setting, free, one).text, toolbox) for one in examples]


def _offered(
    setting: str, examples: Sequence[RankingExample], rows: PlanRows, toolbox: Toolbox
) -> list[list[PlanScore]]:
    """Scores of the plan and of those that a question would offer beside it."""
    found = []
    for example in examples:
        row = rows.get(setting, False, example)
        found.append([_score(example, text, toolbox) for text in (row.text, *row.others)])
    return found


def _score(example: RankingExample, text: str, toolbox: Toolbox) -> PlanScore:
    plan = parsed(text)
    gold = labelled_plan(example.labels.plan)
    also = [labelled_plan(one) for one in example.labels.also]
    invented = plan is not None and bool(ungrounded(plan, example.context, toolbox))
    return score(plan, gold, also, toolbox=toolbox, ungrounded=invented)


def _after_question(
    verdicts: Sequence[PlanScore], offered: Sequence[Sequence[PlanScore]], asked: Sequence[bool]
) -> dict[str, JsonValue]:
    """Share asked about, and what is right then, in percent."""
    found: dict[str, JsonValue] = {"asked": round(100 * float(np.mean(asked)), 2)}
    names = {"ast_match": "ast_after_question", "accepted": "accepted_after_question"}
    for field, name in names.items():
        right = [
            any(getattr(one, field) for one in plans) if question else getattr(first, field)
            for first, plans, question in zip(verdicts, offered, asked, strict=True)
        ]
        found[name] = round(100 * float(np.mean(right)), 2)
    return found


def _figures(
    by_decoding: Mapping[bool, Sequence[PlanScore]],
    examples: Sequence[RankingExample],
    confidence: Sequence[float],
    sure: float,
) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    people = [example.asked.person_id for example in examples]
    figures: dict[str, JsonValue] = {}
    intervals: dict[str, JsonValue] = {}
    for free, scores in by_decoding.items():
        found = summarise(scores)
        kept = ("ast_accuracy", "hallucination") if free else tuple(found)
        for key in kept:
            figures[f"{key}_free" if free else key] = round(found[key], 2)
        for key in ("ast_accuracy",) if free else ("ast_accuracy", "done_right"):
            right = [100.0 * getattr(one, _FIELDS[key]) for one in scores]
            interval = bootstrap_interval(right, people, seed=_SEED)
            if interval is not None:
                bounds: JsonValue = [round(interval.low, 2), round(interval.high, 2)]
                intervals[f"{key}_free" if free else key] = bounds
    certain = [
        one.done_right
        for one, known in zip(by_decoding[False], confidence, strict=True)
        if known >= sure
    ]
    figures["sure"] = round(100 * len(certain) / len(examples), 2)
    figures["sure_right"] = round(100 * float(np.mean(certain)), 2) if certain else None
    return figures, intervals


def _errors(
    setting: str, examples: Sequence[RankingExample], verdicts: Sequence[PlanScore], rows: PlanRows
) -> dict[str, int]:
    """Plans under the grammar that are wrong, by the first thing that went wrong."""
    causes = dict.fromkeys(("tool missed", "item missed", "wrong API", "wrong argument"), 0)
    for example, verdict in zip(examples, verdicts, strict=True):
        if verdict.ast_match:
            continue
        row = rows.get(setting, False, example)
        plan = parsed(row.text) or NONE
        gold = labelled_plan(example.labels.plan) or NONE
        if row.missed == "tool":
            causes["tool missed"] += 1
        elif plan.api != gold.api:
            causes["wrong API"] += 1
        elif row.missed == "item":
            causes["item missed"] += 1
        else:
            causes["wrong argument"] += 1
    return causes
