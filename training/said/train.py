"""Fitting the choice between what was said and the best ranked value."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.open import toolbox_of
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.ranked_values import rank_values
from ctrag.assistant.planning.said import FEATURES, SaidChoice, SaidEvidence
from ctrag.assistant.planning.slots import FilledSlot, compose, evidence_of, slots_of
from ctrag.errors import InputError
from eval.core.examples import load_examples
from eval.core.plans import normalise
from eval.planner.steps import PlanningSteps
from stores.people.dataset import fingerprints
from training.core.folds import folds_by_person

FOLDS = 5
STRENGTH = 1.0
"""Inverse of the ridge penalty."""


def collect_said(
    folders: Sequence[Path],
    asked_by: frozenset[str],
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[list[SaidEvidence], list[bool], list[str]]:
    """Arguments of labelled calls for which exactly one of both values is right.

    Args:
        folders: Labelled data sets.
        asked_by: Fingerprints of the people whose requests are read.
        progress: Called with messages.

    Returns:
        The evidence, whether what was said is right, and who asked.
    """
    found: list[SaidEvidence] = []
    right: list[bool] = []
    people: list[str] = []
    for folder in folders:
        toolbox = toolbox_of(folder)
        steps = PlanningSteps.open(None, toolbox)
        if steps.filler is None:
            raise InputError("CTRAG_SLOT_ADAPTER: calls are composed by a slot filler; none is set")
        known = fingerprints(folder)
        for number, one in enumerate(load_examples(folder, steps.encoder, steps.artefacts.adapter)):
            gold = one.labels.plan
            tool = None if gold is None else toolbox.get(gold.api)
            person = known[one.asked.person_id]
            if gold is None or tool is None or person not in asked_by:
                continue
            asked = [slot for slot in slots_of(tool) if slot.match == "value"]
            if not asked:
                continue
            shown = steps.show(one, "context_tuned_rag")
            values = rank_values([tool], shown.sources, steps.show.arguments)[tool.api]
            slots = steps.filler.fill(shown.sources.request, tool, shown.items)
            every = [Plan(gold.api, dict(gold.arguments))]
            every += [Plan(a.api, dict(a.arguments)) for a in one.labels.also if a.api == gold.api]
            said = compose(tool, values, slots, shown.sources).plan
            empty = {
                name: slot if tool.arguments_by_name[name].match == "text" else FilledSlot(None, 1)
                for name, slot in slots.items()
            }
            ranked = compose(tool, values, empty, shown.sources).plan
            for slot in asked:
                if slots[slot.name].value is None:
                    continue
                ours = [
                    plan is not None
                    and any(_same(plan, gold, slot.name, slot.type) for gold in every)
                    for plan in (said, ranked)
                ]
                if ours[0] == ours[1]:
                    continue
                found.append(
                    evidence_of(
                        slot, slots[slot.name], values, shown.sources, steps.show.plain(one)
                    )
                )
                right.append(ours[0])
                people.append(person)
            if number % 100 == 0:
                progress(f"{folder.name}: {len(found)} arguments")
    if len(set(right)) < 2:
        raise InputError("data: arguments are needed of which either value is right")
    return found, right, people


def fit_said(
    evidence: Sequence[SaidEvidence],
    right: Sequence[bool],
    people: Sequence[str],
    source: dict[str, Any],
    seed: int = 1,
) -> SaidChoice:
    """A logistic regression; its figures are cross-validated by person."""
    from sklearn.linear_model import LogisticRegression

    table = np.array([one.features for one in evidence])
    wanted = np.array(right)
    folds = np.array(folds_by_person(people, FOLDS, seed))
    hits = np.zeros(len(wanted), dtype=bool)
    for fold in range(FOLDS):
        model = LogisticRegression(C=STRENGTH, max_iter=2000)
        model.fit(table[folds != fold], wanted[folds != fold])
        hits[folds == fold] = model.predict(table[folds == fold]) == wanted[folds == fold]
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(table, wanted)
    figures = {
        "cross-validated": {
            "said_right": round(100 * float(hits[wanted].mean()), 2),
            "ranked_right": round(100 * float(hits[~wanted].mean()), 2),
            "arguments": float(len(wanted)),
        }
    }
    return SaidChoice(
        **source,
        weights=[round(float(one), 6) for one in model.coef_[0]],
        bias=round(float(model.intercept_[0]), 6),
        settings={"features": list(FEATURES), "strength": STRENGTH},
        figures=figures,
    )


def _same(plan: Plan, gold: Plan, name: str, kind: Any) -> bool:
    ours, theirs = plan.arguments.get(name), gold.arguments.get(name)
    if ours is None or theirs is None:
        return ours is theirs
    return normalise(ours, kind) == normalise(theirs, kind)
