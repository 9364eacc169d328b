"""How the learning rate goes while an encoder is tuned."""

import math
from typing import Any


def warmed_cosine(optimiser: Any, steps: int, warm_up: float = 0.1) -> Any:
    """A torch schedule: up within that share of the steps, then down along a cosine to 0."""
    import torch

    def rate(step: int) -> float:
        rising = (step + 1) / (warm_up * steps + 1)
        return min(1.0, rising) * 0.5 * (1 + math.cos(math.pi * step / steps))

    return torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
