"""Training what chooses values: their ranker, a reader of values, and what the reader counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.context.view import Floats
from ctrag.planner.arguments import ArgumentRanker, mixed
from ctrag.planner.value_reader import ValueReader
from ctrag.tools.reader import ToolReader, log_softmax
from training.arguments import ArgumentSettings, Choice, choices, train_arguments
from training.retrieved import Retrieved
from training.value_reader import ValueReaderSettings, train_value_reader

Progress = Callable[[str], None]
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0)
"""What the reader may count."""
_LEAST = 1e-4


def train_values(
    found: Retrieved,
    shares: Mapping[str, float],
    settings: tuple[ArgumentSettings, ValueReaderSettings | None],
    card: dict[str, Any],
    checkpoints: Path,
    progress: Progress = lambda _: None,
    start: ToolReader | None = None,
    kept: ArgumentRanker | None = None,
) -> ArgumentRanker:
    """A ranker of values, with a reader of values beside it.

    Args:
        found: Labelled requests with what retrieval brings.
        shares: Which part of a data set's requests the reader learns from; all of those that it
            does not name. The ranker learns from all requests.
        settings: Of the ranker and of the reader; None trains no reader.
        card: The fields `command`, `data`, `data_sha256`, `seed` and `versions`.
        checkpoints: Of the reader; see `train_value_reader`.
        progress: Told what happens.
        start: See `train_value_reader`.
        kept: The ranker that a reader is put beside; None trains one.

    Raises:
        ValueError: There is nothing to learn from.
    """
    of_ranker, of_reader = settings
    held_out = choices(*found.kept_back())
    if kept is None:
        progress("training the ranker of values")
        ranker = train_arguments(choices(*found.learned()), held_out, of_ranker, card)
    else:
        ranker = kept
    if of_reader is None:
        return ranker
    reader = train_value_reader(
        choices(*found.learned(shares)), held_out, of_reader, card, checkpoints, progress, start
    )
    return with_reader(ranker, reader, held_out)


def with_reader(
    ranker: ArgumentRanker, reader: ValueReader, held_out: Sequence[Choice]
) -> ArgumentRanker:
    """The ranker with a reader that counts what held-out people's choices show it to be worth.

    Without held-out choices it counts as much as the ranker.
    """
    import lightgbm

    model = lightgbm.Booster(model_str=ranker.model)
    scores = [
        np.asarray(model.predict(one.table, num_threads=1), dtype=np.float64) for one in held_out
    ]
    read = [reader.log_shares_of(one.text, len(one.right)) for one in held_out]
    losses = [_loss(held_out, scores, read, weight) for weight in WEIGHTS]
    weight = WEIGHTS[int(np.argmin(losses))] if held_out else 1.0
    figures = dict(ranker.card.figures)
    if held_out:
        hits = [
            float(one.right[int(np.argmax(mixed(own, seen, weight)))])
            for one, own, seen in zip(held_out, scores, read, strict=True)
        ]
        figures["with_reader"] = {"ranked_first_right": round(100 * float(np.mean(hits)), 2)}
        figures |= {f"read {name}": one for name, one in reader.card.figures.items()}
    card = ranker.card.model_copy(
        update={"reader": reader.digest, "reader_weight": weight, "figures": figures}
    )
    return replace(ranker, card=card, reader=reader)


def _loss(
    choices: Sequence[Choice],
    scores: Sequence[NDArray[np.float64]],
    read: Sequence[Floats],
    weight: float,
) -> float:
    """Mean of -log of what is believed of the right values, over choices that have one."""
    found = []
    for one, own, seen in zip(choices, scores, read, strict=True):
        if one.right.any():
            shares = np.exp(log_softmax(mixed(own, seen, weight)))
            found.append(-np.log(float(shares @ one.right) + _LEAST))
    return float(np.mean(found)) if found else 0.0
