"""Training the slot filler's adapter; see `training.core.adapter`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.conversation import rewriting
from ctrag.assistant.planning.slot_filler import SYSTEM, WHOLE
from ctrag.errors import InputError
from ctrag.models.chat_markup import closing, opening
from ctrag.models.lm_tokenizer import LmTokenizer
from ctrag.models.lm_weights import CPU
from ctrag.models.lora import PlannerCard
from ctrag.models.placement import Placement
from training.core.adapter import AdapterSettings, Progress, RowsOf, train_adapter
from training.core.packed import row_of
from training.core.packed_rows import PackedTokens
from training.slots.examples import SlotExample
from training.slots.whole import WholeExample


def train_slots(
    examples: Sequence[SlotExample],
    base: str,
    settings: AdapterSettings,
    out: Path,
    source: dict[str, Any],
    progress: Progress = lambda _: None,
    resume: bool = True,
    placement: Placement = CPU,
    whole: Sequence[WholeExample] = (),
    start: Path | None = None,
) -> PlannerCard:
    """Train an adapter and leave it in `out`, with its card; see `train_adapter`.

    Args:
        whole: Turns of conversations that are said whole, learned beside the slots.

    Raises:
        ValueError: There is nothing to learn from.
    """
    figures = {"requests": float(len(examples)), WHOLE: float(len(whole))}
    return train_adapter(
        slot_rows(examples, settings, whole),
        base,
        settings,
        out,
        source,
        figures,
        progress,
        resume,
        placement,
        start,
    )


def slot_rows(
    examples: Sequence[SlotExample],
    settings: AdapterSettings,
    whole: Sequence[WholeExample] = (),
) -> RowsOf:
    """The rows of every epoch, those of the two kinds of examples mixed.

    Raises:
        ValueError: There is nothing to learn from.
    """
    if not examples:
        raise InputError("data: no request has a plan with something to fill in")

    def rows_of(tokenizer: LmTokenizer) -> list[list[PackedTokens]]:
        epochs = []
        for epoch in range(settings.epochs):
            rows = _rows(tokenizer, SYSTEM, examples, settings, epoch)
            rows += _rows(tokenizer, rewriting.SYSTEM, whole, settings, epoch)
            draw = np.random.default_rng(settings.seed * 2_000 + epoch)
            epochs.append([rows[place] for place in draw.permutation(len(rows))])
        return epochs

    return rows_of


def _rows(
    tokenizer: LmTokenizer,
    system: str,
    examples: Sequence[SlotExample] | Sequence[WholeExample],
    settings: AdapterSettings,
    epoch: int,
) -> list[PackedTokens]:
    """Rows of as many examples as fit, in an order that follows from seed and epoch."""
    draw = np.random.default_rng(settings.seed * 1_000 + epoch)
    rows: list[PackedTokens | None] = []
    waiting: list[tuple[str, str]] = []
    length = 0
    for place in draw.permutation(len(examples)):
        asked = (closing(examples[place].prompt), examples[place].answer)
        size = len(tokenizer.encode("".join(asked))) + 2
        if waiting and length + size > settings.longest - 16:
            rows.append(row_of(tokenizer, opening(system), waiting, settings.longest))
            waiting, length = [], 0
        waiting.append(asked)
        length += size
    rows.append(row_of(tokenizer, opening(system), waiting, settings.longest))
    return [row for row in rows if row is not None]
