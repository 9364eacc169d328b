"""Fitting the choice among a request's calls, and the confidence in the one that is chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.planning.call_choice import FEATURES as CALL_FEATURES
from ctrag.assistant.planning.call_choice import CallChoice, features_of
from ctrag.assistant.planning.confidence import FEATURES, Confidence, Evidence
from ctrag.errors import InputError
from eval.core.calibration import expected_calibration_error
from eval.core.plans import done_right, labelled_plan
from training.core.asked import asked_by
from training.core.folds import folds_by_person
from training.core.logistic import FOLDS, fit_logistic

STRENGTH = 1.0
"""Inverse of the ridge penalty."""


@dataclass(frozen=True, slots=True)
class Considered:
    """A request's composed calls, likeliest API first."""

    person: str
    calls: tuple[Evidence, ...]
    """`share` is as API choice gives it."""
    right: tuple[bool, ...]
    """Whether the call is done right."""


def collect(
    folders: Sequence[Path],
    people_asked: frozenset[str],
    model: Path | None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Considered]:
    """The calls that are made of each request, and which of them are done right.

    Args:
        folders: Labelled data sets.
        people_asked: Fingerprints of the people whose requests are planned.
        model: A folder of artefacts; the packaged ones when None.
        progress: Called with messages.

    Raises:
        ValueError: There is no slot filler.
    """
    found: list[Considered] = []
    for steps, toolbox, person, one in asked_by(folders, people_asked, model):
        considered = steps.plan(one, "context_tuned_rag").considered
        if not considered:
            continue
        plan = labelled_plan(one.labels.plan)
        also = [labelled_plan(label) for label in one.labels.also]
        right = tuple(done_right(made, plan, also, toolbox) for made, _ in considered)
        found.append(Considered(person, tuple(evidence for _, evidence in considered), right))
        if len(found) % 50 == 0:
            first = 100 * float(np.mean([one.right[0] for one in found]))
            some = 100 * float(np.mean([any(one.right) for one in found]))
            progress(
                f"{len(found)} requests: first call right {first:.1f} %, one of them {some:.1f}"
            )
    return found


def fit_calls(
    considered: Sequence[Considered], source: dict[str, Any], seed: int = 1
) -> tuple[CallChoice, list[Considered]]:
    """The choice among calls: a logistic regression on the difference of a right and a wrong one.

    Args:
        considered: Of each request.
        source: `training.core.origin.origin` of the data sets.
        seed: Decides the folds.

    Returns:
        The choice, and the calls of each request as a choice that never saw the person weighs and
        orders them.

    Raises:
        ValueError: There is no request with a right and a wrong call.
    """
    people = [one.person for one in considered]
    folds = folds_by_person(people, min(FOLDS, len(set(people))), seed)
    weighed: list[Considered | None] = [None] * len(considered)
    for fold in np.unique(folds):
        learned = [one for one, place in zip(considered, folds, strict=True) if place != fold]
        choice = _choice(learned, source)
        for place in map(int, np.flatnonzero(folds == fold)):
            weighed[place] = _weighed(considered[place], choice)
    held_out = [one for one in weighed if one is not None]
    fitted = _choice(considered, source)
    fitted.figures["cross-validated"] = {
        "first_right": _percent([one.right[0] for one in considered]),
        "chosen_right": _percent([one.right[0] for one in held_out]),
        "any_right": _percent([any(one.right) for one in considered]),
        "requests": float(len(considered)),
    }
    return fitted, held_out


def _choice(considered: Sequence[Considered], source: dict[str, Any]) -> CallChoice:
    from sklearn.linear_model import LogisticRegression

    pairs = []
    for one in considered:
        rows = [np.array(features_of(call)) for call in one.calls]
        for better, worse in product(range(len(rows)), repeat=2):
            if one.right[better] and not one.right[worse]:
                pairs.append(rows[better] - rows[worse])
    if not pairs:
        raise InputError("data: requests are needed of which one call is right and another wrong")
    table = np.array([*pairs, *(-pair for pair in pairs)])
    wanted = np.arange(len(table)) < len(pairs)
    model = LogisticRegression(C=STRENGTH, fit_intercept=False, max_iter=2000)
    return CallChoice(
        **source,
        weights=[round(float(one), 6) for one in model.fit(table, wanted).coef_[0]],
        bias=0.0,
        settings={"features": list(CALL_FEATURES), "strength": STRENGTH},
        figures={},
    )


def _weighed(one: Considered, choice: CallChoice) -> Considered:
    weighed = choice.weighed(one.calls)
    calls = tuple(evidence for _, evidence in weighed)
    return Considered(one.person, calls, tuple(one.right[place] for place, _ in weighed))


def _percent(hits: Sequence[bool]) -> float:
    return round(100 * float(np.mean(hits)), 2)


def fit_confidence(
    chosen: Sequence[Considered], source: dict[str, Any], seed: int = 1
) -> Confidence:
    """A logistic regression; its figures are cross-validated by person.

    Args:
        chosen: The calls of each request, the chosen one first.
        source: `training.core.origin.origin` of the data sets.
        seed: Decides the folds.

    Raises:
        ValueError: All calls are right, or none is.
    """
    evidence, right = [one.calls[0] for one in chosen], [one.right[0] for one in chosen]
    people = [one.person for one in chosen]
    if len(set(right)) < 2:
        raise InputError("data: calls that are right and calls that are wrong are needed")
    table = np.array([one.features for one in evidence])
    fitted = fit_logistic(table, np.array(right), people, strength=STRENGTH, seed=seed)
    stated = [float(one) for one in fitted.stated]
    raw = [one.product for one in evidence]
    figures = {
        "cross-validated": {
            "calibration_error": round(expected_calibration_error(stated, right), 2),
            "without": round(expected_calibration_error(raw, right), 2),
            "done_right": round(100 * float(np.mean(right)), 2),
            "requests": float(len(right)),
        }
    }
    return Confidence(
        **source,
        **fitted.rounded,
        settings={"features": list(FEATURES), "strength": STRENGTH},
        figures=figures,
    )
