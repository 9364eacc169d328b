"""Fitting the confidence of a call to how often such calls are done right."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.open import toolbox_of
from ctrag.assistant.planning.confidence import FEATURES, Confidence, Evidence
from ctrag.assistant.planning.plan import Plan
from ctrag.errors import InputError
from eval.core.calibration import expected_calibration_error
from eval.core.examples import load_examples
from eval.core.plans import done_right
from eval.planner.steps import PlanningSteps
from stores.people.dataset import fingerprints
from stores.people.items import LabelledPlan

FOLDS = 5
STRENGTH = 1.0
"""Inverse of the ridge penalty."""


def collect(
    folders: Sequence[Path],
    asked_by: frozenset[str],
    model: Path | None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[list[Evidence], list[bool], list[str]]:
    """The evidence for each plan, whether the call is done right, and who asked.

    Args:
        folders: Labelled data sets.
        asked_by: Fingerprints of the people whose requests are planned.
        model: A folder of artefacts; the packaged ones when None.
        progress: Called with messages.

    Raises:
        ValueError: There is no slot filler.
    """
    found: list[Evidence] = []
    right: list[bool] = []
    people: list[str] = []
    for folder in folders:
        toolbox = toolbox_of(folder)
        steps = PlanningSteps.open(model, toolbox)
        if steps.filler is None:
            raise InputError("CTRAG_SLOT_ADAPTER: calls are composed by a slot filler; none is set")
        known = fingerprints(folder)
        for one in load_examples(folder, steps.encoder, steps.artefacts.adapter):
            person = known[one.asked.person_id]
            if person not in asked_by or not one.labels.has_plan:
                continue
            row = steps.decode(one, "context_tuned_rag", False, "")
            if row.evidence is None:
                continue
            also = [_plan(plan) for plan in one.labels.also]
            found.append(row.evidence)
            right.append(done_right(Plan.parse(row.text), _plan(one.labels.plan), also, toolbox))
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
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    table = np.array([one.features for one in evidence])
    wanted = np.array(right, dtype=int)
    stated = np.zeros(len(wanted))
    folds = GroupKFold(min(FOLDS, len(set(people))))
    for learned, held_out in folds.split(table, wanted, people):
        model = LogisticRegression(C=STRENGTH).fit(table[learned], wanted[learned])
        stated[held_out] = model.predict_proba(table[held_out])[:, 1]
    model = LogisticRegression(C=STRENGTH).fit(table, wanted)
    raw = [one.product for one in evidence]
    figures = {
        "cross-validated": {
            "calibration_error": round(expected_calibration_error(list(stated), list(right)), 2),
            "without": round(expected_calibration_error(raw, list(right)), 2),
            "done_right": round(100 * float(wanted.mean()), 2),
            "requests": float(len(wanted)),
        }
    }
    return Confidence(
        **source,
        weights=[round(float(one), 6) for one in model.coef_[0]],
        bias=round(float(model.intercept_[0]), 6),
        settings={"features": list(FEATURES), "strength": STRENGTH},
        figures=figures,
    )


def _plan(labelled: LabelledPlan | None) -> Plan | None:
    return None if labelled is None else Plan(labelled.api, dict(labelled.arguments))
