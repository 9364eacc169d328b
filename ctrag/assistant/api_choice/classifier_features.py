"""Inputs of the API classifier besides the request's text: the retrieved items as numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import Floats, Ints
from ctrag.assistant.context.item_line import item_words
from ctrag.assistant.context.learned_features import KINDS, kinds_of
from ctrag.models.encoder import Matrix

ITEMS = 5
"""Items that are used at most."""
FLAGS = ("days", "hours", "cosine", "opens", "playlist", "there")
ASKED = ("playing", "moments", "named", "question", "items")
_EMPTY = len(KINDS)
_LINE = 160


@dataclass(frozen=True, slots=True)
class ClassifierFeatures:
    """Inputs of one request; rows without an item are zero."""

    kinds: NDArray[np.int64]
    """(ITEMS,): kind of each item, `len(KINDS)` where there is none."""
    shares: Floats
    """(ITEMS,): probability that each item is meant, summing to 1."""
    vectors: Matrix
    """(ITEMS, dimension): unit vectors."""
    flags: Floats
    """(ITEMS, len(FLAGS))."""
    asked: Floats
    """(len(ASKED),)."""
    lines: tuple[str, ...]
    """The items in words, best first."""


def classifier_features(
    context: FeatureContext, rows: Ints, shares: NDArray[np.floating]
) -> ClassifierFeatures:
    """The features of a request.

    Args:
        context: The request and its candidates.
        rows: Rows of the context that hold the items, best first; empty without context.
        shares: One per row, summing to 1.
    """
    rows, shares = rows[:ITEMS], shares[:ITEMS]
    every = kinds_of(context) if len(rows) else np.empty(0, dtype=np.int64)
    kinds = np.full(ITEMS, _EMPTY, dtype=np.int64)
    weights = np.zeros(ITEMS, dtype=np.float32)
    vectors = np.zeros((ITEMS, len(context.vector)), dtype=np.float32)
    flags = np.zeros((ITEMS, len(FLAGS)), dtype=np.float32)
    lines = []
    for place, (row, share) in enumerate(zip(rows, shares, strict=True)):
        item = context.view.items[context.rows[row]]
        hours = float(np.nan_to_num(context.starts[row]))
        kinds[place] = every[row]
        weights[place] = share
        vectors[place] = context.view.vectors[context.rows[row]]
        flags[place] = (
            np.tanh(hours / 24),
            np.tanh(hours / 2),
            2 * context.cosine[row],
            min(item.usage.opens_30d, 12) / 12,
            float(bool(item.text("playlist"))),
            1.0,
        )
        words = item_words(item, context.view.person, context.request.asked_at, _LINE)
        lines.append(f"{KINDS[every[row]]}: {words}")
    request = context.request
    asked = np.array(
        [
            float(context.playing_row is not None),
            float(bool(context.expressions)),
            float(min(len(context.named_people), 2)),
            float(request.text.rstrip().endswith("?")),
            float(len(rows) > 0),
        ],
        dtype=np.float32,
    )
    return ClassifierFeatures(kinds, weights, vectors, flags, asked, tuple(lines))
