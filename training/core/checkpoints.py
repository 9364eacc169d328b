"""Checkpoints of training, from which a rerun goes on. Needs torch alone: packed jobs carry it."""

from pathlib import Path
from typing import Any

from training.core.loop import Loop

CHECKPOINTS = "checkpoints"
"""Their folder within the artefact's folder."""


def save(path: Path, key: str, network: Any, loop: Loop) -> None:
    """Write all that a rerun needs, atomically.

    Args:
        path: The file; its folder is made when missing.
        key: Of this run: settings, and all that is learned from.
        network: Of its parameters those that are learned.
        loop: Between two steps.
    """
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "key": key,
        "step": loop.done,
        "weights": {name: one for name, one in network.named_parameters() if one.requires_grad},
        "optimiser": loop.optimiser.state_dict(),
        "schedule": loop.schedule.state_dict(),
    }
    fresh = path.with_suffix(".new")
    torch.save(content, fresh)
    fresh.replace(path)


def restore(path: Path, key: str, network: Any, loop: Loop) -> int:
    """Steps that the checkpoint of the same run has done, now restored; 0 without one."""
    import torch

    if not path.exists():
        return 0
    content = torch.load(path, weights_only=True, map_location="cpu")
    if content.get("key") != key:
        return 0
    network.load_state_dict(content["weights"], strict=False)
    loop.optimiser.load_state_dict(content["optimiser"])
    loop.schedule.load_state_dict(content["schedule"])
    return int(content["step"])
