"""Strangers' requests as the API classifier trains on them: any API of those that would do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ctrag.assistant.api_choice.classifier import ApiClassifier
from ctrag.assistant.api_choice.item_weights import classes_of
from ctrag.assistant.artefacts import load_context_artefacts
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.features import compute
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.models.request_adapter import RequestEncoder
from ctrag.settings import settings
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample
from eval.spoken.scores import spoken_rows
from stores.people.dataset import DatasetRequest
from stores.people.items import Labels, Request
from training.api_classifier.examples import ClassifierExample, seen_requests
from training.core.retrieved_examples import RetrievedExamples
from training.core.shares import drawn

SMALL_TALK = frozenset(
    f"general_{one}" for one in ("affirm", "confirm", "dontcare", "joke", "negate", "praise")
)
"""Intents that ask for nothing that an API does, though the data set does not score them."""


def strangers_requests(
    file: Path,
    found: RetrievedExamples,
    start: ApiClassifier | None,
    share: float = 1.0,
    progress: Callable[[str], None] = lambda _: None,
) -> list[ClassifierExample]:
    """Requests whose intent says which APIs would do, asked by the people of `found` in turn.

    An intent is wider than an API. What the classifier should learn is therefore its own
    distribution before, over the APIs that would do; where none would, `none`.

    Args:
        file: JSON lines with `text`, `intent` and `apis` (null where a row is to be left out,
            unless it is small talk).
        found: Requests of the people who ask; those held out do not.
        start: The classifier that is trained further.
        share: How much of the file is learned from (`training.core.shares`).
        progress: Called with a message.

    Raises:
        ValueError: `start` is missing.
    """
    if start is None:
        raise InputError("--strangers: needs --start, the classifier that is trained further")
    kept = [row for row in spoken_rows(file) if drawn(row.text, share)]
    rows = [
        (row, () if row.intent in SMALL_TALK else row.apis)
        for row in kept
        if row.intent in SMALL_TALK or row.apis is not None
    ]
    people: dict[str, PersonView] = {}
    for one, out in zip(found.examples, found.held_out, strict=True):
        if not out:
            people.setdefault(one.asked.person_id, one.context.view)
    views = list(people.values())
    if not views:
        raise InputError("--data: everybody is held out, nobody is left to ask")
    encoder = load_encoder(found.encoder)
    ranker, adapter = load_context_artefacts(settings().artefacts)
    progress(f"{file.name}: reading {len(rows)} requests")
    read = RequestEncoder(encoder, adapter).read([row.text for row, _ in rows])
    examples, scores = [], []
    for place, ((row, known), (vector, tuned)) in enumerate(zip(rows, read, strict=True)):
        view = views[place % len(views)]
        request = Request(row.text, view.person.now)
        context = FeatureContext(view, request, vector, np.arange(len(view)), tuned)
        examples.append(
            RankingExample(
                DatasetRequest(row.query_id, view.person.person_id, request),
                context,
                Labels(relevant=(), tools=known),
                np.zeros(len(view), np.float32),
            )
        )
        scores.append(ranker.scores_of(context, compute(context, ranker.learned)))
    apis = classes_of(Toolbox.packaged())
    learned = []
    for seen, (row, known) in zip(seen_requests(examples, scores), rows, strict=True):
        allowed = np.isin(apis, known or ["none"])
        if not allowed.any():
            raise InputError(f"{file.name}: {row.query_id}: apis: none of {known} is packaged")
        shares = np.exp(start.log_probabilities_of(seen.text, seen.features["retrieved"]))
        shares = np.where(allowed, shares + 1e-6, 0)
        learned.append(replace(seen, wanted=(shares / shares.sum()).astype(np.float32)))
    return learned
