"""Fitting the choice between what was said and the best ranked value."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.planning.compose import compose, evidence_of
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.ranked_values import rank_values
from ctrag.assistant.planning.said import FEATURES, SaidChoice, SaidEvidence
from ctrag.assistant.planning.slots import SAID
from ctrag.errors import InputError
from ctrag.toolbox import Argument
from eval.core.plans import labelled_plan, normalise
from training.core.asked import asked_by
from training.core.logistic import fit_logistic

STRENGTH = 1.0
"""Inverse of the ridge penalty."""


def collect_said(
    folders: Sequence[Path],
    people_asked: frozenset[str],
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[list[SaidEvidence], list[bool], list[str]]:
    """Arguments of labelled calls for which exactly one of both values is right.

    Args:
        folders: Labelled data sets.
        people_asked: Fingerprints of the people whose requests are read.
        progress: Called with messages.

    Returns:
        The evidence, whether what was said is right, and who asked.
    """
    found: list[SaidEvidence] = []
    right: list[bool] = []
    people: list[str] = []
    for steps, toolbox, person, one in asked_by(folders, people_asked, None):
        gold = one.labels.plan
        tool = None if gold is None else toolbox.get(gold.api)
        if tool is None or steps.filler is None:
            continue
        shown = steps.show(one, "context_tuned_rag")
        values = rank_values([tool], shown.sources, steps.artefacts.arguments)[tool.api]
        slots = steps.filler.fill(shown.sources.request, tool, shown.items)
        unsaid = {
            name: slot if tool.arguments_by_name[name].match == "text" else FilledSlot(None, 1)
            for name, slot in slots.items()
        }
        plans = [compose(tool, values, read, shown.sources).plan for read in (slots, unsaid)]
        labels = [
            plan
            for label in (one.labels.plan, *one.labels.also)
            if (plan := labelled_plan(label)) is not None and plan.api == tool.api
        ]
        for name, slot in slots.items():
            argument = tool.arguments_by_name[name]
            if slot.value is None or argument.match == "text":
                continue
            said, ranked = (
                plan is not None and any(_same(plan, label, argument) for label in labels)
                for plan in plans
            )
            if said == ranked:
                continue
            plain = steps.show.plain(one)
            found.append(evidence_of(argument, slot, values, shown.sources, plain))
            right.append(said)
            people.append(person)
            if len(found) % 20 == 0:
                progress(f"{len(found)} arguments")
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
    table, wanted = np.array([one.features for one in evidence]), np.array(right)
    fitted = fit_logistic(table, wanted, people, strength=STRENGTH, seed=seed)
    hits = (fitted.stated >= SAID) == wanted
    figures = {
        "cross-validated": {
            "said_right": round(100 * float(hits[wanted].mean()), 2),
            "ranked_right": round(100 * float(hits[~wanted].mean()), 2),
            "arguments": float(len(wanted)),
        }
    }
    return SaidChoice(
        **source,
        **fitted.rounded,
        settings={"features": list(FEATURES), "strength": STRENGTH},
        figures=figures,
    )


def _same(plan: Plan, label: Plan, argument: Argument) -> bool:
    ours, theirs = plan.arguments.get(argument.name), label.arguments.get(argument.name)
    if ours is None or theirs is None:
        return ours is theirs
    return normalise(ours, argument.type) == normalise(theirs, argument.type)
