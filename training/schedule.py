"""How the learning rate goes while an encoder is tuned."""

import math
from typing import Any


def warmed_cosine(optimiser: Any, steps: int) -> Any:
    """A torch schedule: up within the first tenth of the steps, then down along a cosine to 0."""
    import torch

    return torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: (
            min(1.0, (step + 1) / (0.1 * steps + 1)) * 0.5 * (1 + math.cos(math.pi * step / steps))
        ),
    )
