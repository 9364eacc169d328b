"""Training the planner's LoRA adapter: loss only on the plan, several requests sharing one context.

Every epoch's packs follow from seed and epoch, so that a killed run can go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctrag.assistant.planning.planner_prompt import SYSTEM
from ctrag.errors import InputError
from ctrag.models.lm_tokenizer import LmTokenizer
from ctrag.models.lm_weights import CPU
from ctrag.models.lora import PlannerCard
from ctrag.models.placement import Placement
from training.core.adapter import AdapterSettings, Progress, RowsOf, train_adapter
from training.core.packed import row_of
from training.core.packed_rows import PackedTokens
from training.planner.examples import MixSettings, PlannerExample, chat, packs


@dataclass(frozen=True, slots=True)
class PlannerSettings(AdapterSettings):
    """How the planner's adapter is trained."""

    mix: MixSettings = field(default_factory=MixSettings)


def train_planner(
    taught: Sequence[PlannerExample],
    base: str | None,
    settings: PlannerSettings,
    out: Path,
    source: dict[str, Any],
    progress: Progress = lambda _: None,
    resume: bool = True,
    placement: Placement = CPU,
) -> PlannerCard:
    """Train an adapter and leave it in `out`, with its card; see `train_adapter`.

    Args:
        taught: The training data.
        base: Name, folder or hub name of the base model; the embedded one when None.
        settings: See `PlannerSettings`.
        out: The adapter's folder.
        source: `training.core.origin.origin` of the data sets, for the card.
        progress: Called with messages of loss, speed and time left.
        resume: Whether to resume from a checkpoint in `out`.
        placement: Where the base model is, and in how many bits.

    Raises:
        ValueError: There is nothing to learn from, or nothing fits into a row.
    """
    figures = {"requests": float(len(taught))}
    rows_of = planner_rows(taught, settings)
    return train_adapter(rows_of, base, settings, out, source, figures, progress, resume, placement)


def planner_rows(taught: Sequence[PlannerExample], settings: PlannerSettings) -> RowsOf:
    """The rows of every epoch.

    Raises:
        ValueError: There is nothing to learn from.
    """
    if not taught:
        raise InputError("data: no request has a labelled plan, there is nothing to learn")

    def rows_of(tokenizer: LmTokenizer) -> list[list[PackedTokens]]:
        return [_rows(tokenizer, taught, settings, epoch) for epoch in range(settings.epochs)]

    return rows_of


def _rows(
    tokenizer: LmTokenizer, taught: Sequence[PlannerExample], settings: PlannerSettings, epoch: int
) -> list[PackedTokens]:
    mixed = packs(taught, settings.mix, settings.seed * 1_000 + epoch)
    rows = [row_of(tokenizer, *chat(pack, SYSTEM), settings.longest) for pack in mixed]
    return [row for row in rows if row is not None]
