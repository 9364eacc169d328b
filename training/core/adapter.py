"""Training a LoRA adapter of a causal language model, from a base model to an artefact."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ctrag.errors import InputError
from ctrag.models.lm_tokenizer import LmTokenizer
from ctrag.models.lm_weights import CPU, check_weights, planner_folder
from ctrag.models.lora import PlannerCard, read_adapter, save_adapter, weights_sha256
from ctrag.models.placement import Placement
from ctrag.models.tokenizer_files import load_tokenizer
from training.core.packed_rows import PackedTokens
from training.core.precision import number_type
from training.core.tuning import CHECKPOINT, AdapterSettings, TuningSettings, mean_change, tune

__all__ = ["CHECKPOINT", "AdapterSettings", "Progress", "RowsOf", "base_of", "train_adapter"]

Progress = Callable[[str], None]
RowsOf = Callable[[LmTokenizer], Sequence[Sequence[PackedTokens]]]
"""The rows of each epoch, given the tokenizer."""


def train_adapter(
    rows_of: RowsOf,
    base: str | None,
    settings: AdapterSettings,
    out: Path,
    source: Mapping[str, Any],
    figures: Mapping[str, float],
    progress: Progress = lambda _: None,
    resume: bool = True,
    placement: Placement = CPU,
    start: Path | None = None,
) -> PlannerCard:
    """Train an adapter and leave it in `out`, with its card.

    Args:
        rows_of: See `RowsOf`.
        base: Name, folder or hub name of the base model; the planner's when None.
        settings: See `AdapterSettings`; a subclass may have more.
        out: The adapter's folder; the checkpoint lies there too while training.
        source: `training.core.origin.origin` of the data sets, for the card.
        figures: For the card, beside steps and loss.
        progress: Called with messages of loss, speed and time left.
        resume: Whether to go on from a checkpoint in `out`.
        placement: Where the base model is, and in how many bits.
        start: Folder of an adapter that is trained further; a new one when None.

    Raises:
        ValueError: Nothing fits into a row, `start` is of another rank, or see `base_of`.
    """
    import torch
    from transformers.utils import logging

    folder, tokenizer = base_of(base, placement)
    rows = flat(rows_of(tokenizer), settings.longest)[: settings.steps]
    logging.disable_progress_bar()
    torch.set_num_threads(settings.threads)
    # Rounded as a packed job has them, then widened where that is faster.
    model = placement.loaded(folder, torch.bfloat16)
    if placement.here:
        model = model.to(number_type(placement.place))
    out.mkdir(parents=True, exist_ok=True)
    tuning = TuningSettings.of(settings)
    begun = None if start is None else _begun(start, tuning)
    given = "" if start is None else weights_sha256(start)
    key = tuning.key(f"{base}{placement.bits or ''}{given}", rows)
    tuned = tune(model, rows, tuning, key, out / CHECKPOINT, progress, resume, begun)
    card = card_of(base, settings, source, figures, tuned.steps, tuned.loss)
    weights = tuned.weights
    if begun is not None and settings.average:
        weights = mean_change(begun, weights, settings.average)
    save_adapter(out, weights, card)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return card


def _begun(start: Path, tuning: TuningSettings) -> dict[str, Any]:
    card, weights = read_adapter(start)
    if (card.rank, card.alpha) != (tuning.rank, tuning.alpha):
        raise InputError(
            f"--start {start}: rank {card.rank} and alpha {card.alpha}, wanted {tuning.rank} "
            f"and {tuning.alpha}"
        )
    return weights


def base_of(base: str | None, placement: Placement = CPU) -> tuple[Path, LmTokenizer]:
    """Folder and tokenizer of a base model: all that can be wrong with it, before any work.

    Raises:
        ValueError: See `Placement.check`; or the tokenizer cannot be read.
        ModelMissing: The model is not on this machine.
        MissingExtra: Something that it needs is not installed.
    """
    placement.check()
    folder = planner_folder(base) if base else planner_folder()
    check_weights(folder)
    return folder, load_tokenizer(folder)


def flat(epochs: Sequence[Sequence[PackedTokens]], longest: int) -> list[PackedTokens]:
    """All steps of all epochs.

    Raises:
        ValueError: There are none.
    """
    rows = [row for one in epochs for row in one]
    if not rows:
        raise InputError(f"data: no request fits into {longest} tokens")
    return rows


def card_of(
    base: str | None,
    settings: AdapterSettings,
    source: Mapping[str, Any],
    figures: Mapping[str, float],
    steps: int,
    loss: float,
) -> PlannerCard:
    """The card of a trained adapter."""
    return PlannerCard(
        **source,
        base=base or "",
        rank=settings.rank,
        alpha=settings.alpha,
        settings=json.loads(json.dumps(asdict(settings))),
        figures={"training": {**figures, "steps": float(steps), "last_loss": loss}},
    )
