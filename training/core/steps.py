"""Training step by step, so that a killed run goes on to the same weights.

Needs torch alone: packed training jobs carry this module.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from training.core.checkpoints import restore, save
from training.core.loop import Loop

_RARELY = 1_000_003
RECENT = 50
"""Steps whose mean loss is the last loss."""


def run_steps(
    network: Any,
    loop: Loop,
    steps: int,
    loss_of: Callable[[int], Any],
    checkpoint: Path,
    key: str,
    seed: int,
    resume: bool = True,
    save_every: int = 100,
    save_seconds: float = 60.0,
) -> float:
    """Take all steps that are left, with a checkpoint now and then and at the end.

    Args:
        network: The module that is trained; left in training mode.
        loop: Made for these steps.
        steps: How many there are in all.
        loss_of: Number of a step, from 0 → its loss. What it draws must follow from the number, or
            from torch's generator, which is seeded for each step.
        checkpoint: The file that a rerun goes on from.
        key: See `training.core.checkpoints.save`.
        seed: Of the run.
        resume: Whether to go on from the checkpoint.
        save_every, save_seconds: Steps and seconds between checkpoints at most.

    Returns:
        Mean loss of the last steps that this process made; 0 where it made none.
    """
    import torch

    done = restore(checkpoint, key, network, loop) if resume else 0
    network.train()
    saved, last = done, time.perf_counter()
    for at in range(done, steps):
        torch.manual_seed(seed * _RARELY + at)
        loop.run([at], loss_of)
        late = time.perf_counter() - last >= save_seconds
        if loop.done - saved >= save_every or late or loop.done == steps:
            save(checkpoint, key, network, loop)
            saved, last = loop.done, time.perf_counter()
    recent = loop.losses[-RECENT:]
    return round(sum(recent) / max(len(recent), 1), 4)
