"""Requests of some people of several data sets, with the assistant's steps that plan them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ctrag.assistant.open import toolbox_of
from ctrag.errors import InputError
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample, load_examples
from eval.planner.steps import PlanningSteps
from stores.people.dataset import fingerprints


def asked_by(
    folders: Sequence[Path], people: frozenset[str], model: Path | None
) -> Iterator[tuple[PlanningSteps, Toolbox, str, RankingExample]]:
    """Each labelled request of these people: steps, toolbox, fingerprint, request.

    Args:
        folders: Labelled data sets.
        people: Fingerprints.
        model: A folder of artefacts; the packaged ones when None.

    Raises:
        ValueError: There is no slot filler.
    """
    for folder in folders:
        toolbox = toolbox_of(folder)
        steps = PlanningSteps.open(model, toolbox)
        if steps.filler is None:
            raise InputError("CTRAG_SLOT_ADAPTER: calls are composed by a slot filler; none is set")
        known = fingerprints(folder)
        for one in load_examples(folder, steps.encoder, steps.artefacts.adapter):
            person = known[one.asked.person_id]
            if person in people and one.labels.has_plan:
                yield steps, toolbox, person, one
