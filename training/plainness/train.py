"""Fitting plainness on data sets of plain requests and of oblique ones."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.planning.plainness import PLAIN, Plainness, PlainnessCard
from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from eval.spoken.scores import spoken_rows
from stores.people.dataset import load_dataset, load_labels
from training.core.logistic import fit_logistic

STRENGTH = 10.0
"""Inverse of the ridge penalty."""
_SAYS_ALL = "explicit"
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
    encoder = CachedEncoder(load_encoder(settings().encoder), cache_folder() / "vectors")
    texts: list[str] = []
    people: list[str] = []
    wanted: list[bool] = []
    for folder in (*plain, *oblique):
        labels = load_labels(folder)
        for one in load_dataset(folder).requests:
            if folder in oblique and labels[one.query_id].kind == _SAYS_ALL:
                continue
            texts.append(one.request.text)
            people.append(one.person_id)
            wanted.append(folder in plain)
    for row in [] if strangers is None else spoken_rows(strangers):
        texts.append(row.text)
        people.append(texts[-1])
        wanted.append(True)
    if len(set(wanted)) < 2:
        raise InputError("--plain, --oblique: requests of both kinds are needed")
    progress(f"encoding {len(texts)} requests")
    right = np.array(wanted)
    fitted = fit_logistic(
        encoder.encode(texts), right, people, strength=STRENGTH, balanced=True, seed=seed
    )
    hits = (fitted.stated >= PLAIN) == right
    figures = {
        "cross-validated": {
            "plain": round(100 * float(hits[right].mean()), 2),
            "oblique": round(100 * float(hits[~right].mean()), 2),
        }
    }
    card = PlainnessCard(
        **source,
        encoder=settings().encoder,
        bias=fitted.bias,
        settings={"strength": STRENGTH},
        figures=figures,
    )
    return Plainness({"weights": fitted.weights.astype(np.float32)}, card)
