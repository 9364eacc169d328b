"""Checkpoints of finished epochs, from which training resumes."""

from pathlib import Path
from typing import Any

from stores.files import replacing

CHECKPOINTS = "checkpoints"
"""Their folder within the artefact's folder."""


def save(path: Path, epoch: int, network: Any, optimiser: Any, schedule: Any) -> None:
    """Write the state after `epoch` epochs, atomically."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "epoch": epoch,
        "weights": {name: one for name, one in network.named_parameters() if one.requires_grad},
        "optimiser": optimiser.state_dict(),
        "schedule": schedule.state_dict(),
    }
    with replacing(path) as file:
        torch.save(content, file)


def restore(path: Path, network: Any, optimiser: Any, schedule: Any) -> int:
    """Restore what `save` wrote; return the number of finished epochs, 0 without a file."""
    import torch

    if not path.exists():
        return 0
    content = torch.load(path, weights_only=True)
    network.load_state_dict(content["weights"], strict=False)
    optimiser.load_state_dict(content["optimiser"])
    schedule.load_state_dict(content["schedule"])
    return int(content["epoch"])
