"""Fitting plainness on data sets of plain requests and of oblique ones."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.planning.plainness import PLAIN, Plainness, PlainnessCard
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder, Matrix, load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from stores.people.dataset import load_dataset, load_labels
from training.core.folds import folds_by_person

FOLDS = 5
STRENGTH = 10.0
"""Inverse of the ridge penalty."""
SAID = "explicit"
"""Kind of oblique data sets whose requests say their values too; left out."""


def train_plainness(
    plain: Sequence[Path],
    oblique: Sequence[Path],
    strangers: Path | None,
    source: dict[str, Any],
    seed: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> Plainness:
    """A logistic regression; its figures are cross-validated by person.

    Args:
        plain: Data sets of plain requests.
        oblique: Data sets of requests that hint.
        strangers: JSON lines of strangers' plain requests, or None.
        source: `training.core.origin.origin` of all data sets.
        seed: Decides the folds.
        progress: Called with a message.

    Raises:
        ValueError: One of the two sides has no requests.
    """
    from sklearn.linear_model import LogisticRegression

    encoder = CachedEncoder(load_encoder(settings().encoder), cache_folder() / "vectors")
    texts: list[str] = []
    people: list[str] = []
    wanted: list[bool] = []
    for folder in (*plain, *oblique):
        labels = load_labels(folder)
        for one in load_dataset(folder).requests:
            if folder in oblique and labels[one.query_id].kind == SAID:
                continue
            texts.append(one.request.text)
            people.append(one.person_id)
            wanted.append(folder in plain)
    for row in [] if strangers is None else strangers.read_text(encoding="utf-8").splitlines():
        texts.append(json.loads(row)["text"])
        people.append(texts[-1])
        wanted.append(True)
    if len(set(wanted)) < 2:
        raise InputError("--plain, --oblique: requests of both kinds are needed")
    progress(f"encoding {len(texts)} requests")
    table, right = _vectors(encoder, texts), np.array(wanted)
    folds = np.array(folds_by_person(people, FOLDS, seed))
    hits = np.zeros(len(texts), dtype=bool)
    for fold in range(FOLDS):
        model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=2000)
        model.fit(table[folds != fold], right[folds != fold])
        stated = model.predict_proba(table[folds == fold])[:, 1] >= PLAIN
        hits[folds == fold] = stated == right[folds == fold]
    model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=2000)
    model.fit(table, right)
    figures = {
        "cross-validated": {
            "plain": round(100 * float(hits[right].mean()), 2),
            "oblique": round(100 * float(hits[~right].mean()), 2),
        }
    }
    card = PlainnessCard(
        **source,
        encoder=settings().encoder,
        bias=float(model.intercept_[0]),
        settings={"strength": STRENGTH},
        figures=figures,
    )
    return Plainness({"weights": model.coef_[0].astype(np.float32)}, card)


def _vectors(encoder: Encoder, texts: Sequence[str]) -> Matrix:
    return encoder.encode(list(texts))
