"""Requests as the API classifier trains on them: with retrieved items, labelled ones, or none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctrag.assistant.api_choice.classifier_features import (
    ITEMS,
    ClassifierFeatures,
    classifier_features,
)
from ctrag.assistant.api_choice.item_weights import classes_of, item_weights
from ctrag.assistant.context.item_arrays import Floats
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample

MODES = ("retrieved", "none", "labelled")
_SHARES = (0.7, 0.2, 0.1)
"""Target weights of the three labelled APIs."""


@dataclass(frozen=True, slots=True)
class ClassifierExample:
    """One labelled request in every mode."""

    text: str
    features: dict[str, ClassifierFeatures]
    wanted: Floats
    """(classes,): target distribution."""
    needed: Floats
    """(ITEMS,): 1 for each retrieved item that is needed, else 0."""


def seen_requests(
    examples: Sequence[RankingExample], scores: Sequence[Floats]
) -> list[ClassifierExample]:
    """Requests as the classifier sees them; those without labelled tools are left out."""
    apis = classes_of(Toolbox.packaged())
    position = {api: place for place, api in enumerate(apis)}
    found = []
    for example, score in zip(examples, scores, strict=True):
        if example.labels.tools is None:
            continue
        wanted = np.zeros(len(apis), dtype=np.float32)
        for share, api in zip(_SHARES, example.labels.tools or ["none"], strict=False):
            if api in position:
                wanted[position[api]] += share
        if not wanted.any():
            continue
        context = example.context
        best = np.argsort(-score, kind="stable")[:ITEMS]
        true = np.flatnonzero(example.relevance)
        nothing = np.empty(0, dtype=np.int64)
        features = {
            "retrieved": classifier_features(context, best, item_weights(score[best])),
            "none": classifier_features(context, nothing, np.empty(0)),
            "labelled": classifier_features(
                context, true, item_weights(np.zeros(len(true), np.float32))
            ),
        }
        needed = np.zeros(ITEMS, dtype=np.float32)
        needed[: len(best)] = example.relevance[best] > 0
        found.append(
            ClassifierExample(context.request.text, features, wanted / wanted.sum(), needed)
        )
    return found
