"""Training the slot filler's adapter; see `training.core.adapter`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.planning.slot_filler import SYSTEM
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


def train_slots(
    examples: Sequence[SlotExample],
    base: str,
    settings: AdapterSettings,
    out: Path,
    source: dict[str, Any],
    progress: Progress = lambda _: None,
    resume: bool = True,
    placement: Placement = CPU,
) -> PlannerCard:
    """Train an adapter and leave it in `out`, with its card; see `train_adapter`.

    Raises:
        ValueError: There is nothing to learn from.
    """
    figures = {"requests": float(len(examples))}
    rows_of = slot_rows(examples, settings)
    return train_adapter(rows_of, base, settings, out, source, figures, progress, resume, placement)


def slot_rows(examples: Sequence[SlotExample], settings: AdapterSettings) -> RowsOf:
    """The rows of every epoch.

    Raises:
        ValueError: There is nothing to learn from.
    """
    if not examples:
        raise InputError("data: no request has a plan with something to fill in")

    def rows_of(tokenizer: LmTokenizer) -> list[list[PackedTokens]]:
        return [_rows(tokenizer, examples, settings, epoch) for epoch in range(settings.epochs)]

    return rows_of


def _rows(
    tokenizer: LmTokenizer, examples: Sequence[SlotExample], settings: AdapterSettings, epoch: int
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
            rows.append(row_of(tokenizer, opening(SYSTEM), waiting, settings.longest))
            waiting, length = [], 0
        waiting.append(asked)
        length += size
    rows.append(row_of(tokenizer, opening(SYSTEM), waiting, settings.longest))
    return [row for row in rows if row is not None]
