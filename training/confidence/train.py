"""Fitting the confidence of a call to how often such calls are done right."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.planning.confidence import FEATURES, Confidence, Evidence
from ctrag.assistant.planning.plan import Plan
from ctrag.errors import InputError
from eval.core.calibration import expected_calibration_error
from eval.core.plans import done_right, labelled_plan
from training.core.asked import asked_by
from training.core.logistic import fit_logistic

STRENGTH = 1.0
"""Inverse of the ridge penalty."""


def collect(
    folders: Sequence[Path],
    people_asked: frozenset[str],
    model: Path | None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[list[Evidence], list[bool], list[str]]:
    """The evidence for each plan, whether the call is done right, and who asked.

    Args:
        folders: Labelled data sets.
        people_asked: Fingerprints of the people whose requests are planned.
        model: A folder of artefacts; the packaged ones when None.
        progress: Called with messages.

    Raises:
        ValueError: There is no slot filler.
    """
    found: list[Evidence] = []
    right: list[bool] = []
    people: list[str] = []
    for steps, toolbox, person, one in asked_by(folders, people_asked, model):
        row = steps.decode(one, "context_tuned_rag", False, "")
        if row.evidence is None:
            continue
        plan, also = labelled_plan(one.labels.plan), map(labelled_plan, one.labels.also)
        found.append(row.evidence)
        right.append(done_right(Plan.parse(row.text), plan, list(also), toolbox))
        people.append(person)
        if len(found) % 50 == 0:
            progress(f"{len(found)} plans, {100 * float(np.mean(right)):.1f} % done right")
    if len(set(right)) < 2:
        raise InputError("data: plans that are right and plans that are wrong are needed")
    return found, right, people


def fit_confidence(
    evidence: Sequence[Evidence],
    right: Sequence[bool],
    people: Sequence[str],
    source: dict[str, Any],
) -> Confidence:
    """A logistic regression; its figures are cross-validated by person.

    Args:
        evidence: Of each plan.
        right: Whether the call is done right.
        people: Who asked; nobody is in two folds.
        source: `training.core.origin.origin` of the data sets.
    """
    table = np.array([one.features for one in evidence])
    fitted = fit_logistic(table, np.array(right), people, strength=STRENGTH)
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
