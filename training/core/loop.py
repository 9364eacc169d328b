"""The training loop of all torch modules."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Progress = Callable[[str], None]
Batch = TypeVar("Batch")
_REPORTED = 20
"""Steps between two progress messages."""
_RECENT = 50
"""Steps whose mean loss is reported."""


class Loop:
    """AdamW under a warmed-up cosine, gradients clipped to a norm of 1.

    Checkpoints are left to the caller, who saves the states of `optimiser` and `schedule` between
    two calls of `run`.
    """

    def __init__(
        self,
        name: str,
        groups: Sequence[dict[str, Any]],
        clipped: Iterable[Any],
        steps: int,
        weight_decay: float,
        progress: Progress,
        warm_up: float = 0.1,
    ) -> None:
        """Set up the optimiser and the schedule.

        Args:
            name: Prefix of the progress messages.
            groups: Parameter groups with their learning rates, as torch's optimisers take them.
            clipped: Parameters whose gradients are clipped by their joint norm.
            steps: Total number of steps.
            weight_decay: AdamW's.
            progress: Called with a message of step, loss and time left.
            warm_up: Share of the steps with a rising learning rate.
        """
        import torch

        self.optimiser = torch.optim.AdamW(groups, weight_decay=weight_decay)
        self.schedule = warmed_cosine(self.optimiser, steps, warm_up)
        self.losses: list[float] = []
        """One per step of this process."""
        self._name, self._steps, self._progress = name, steps, progress
        self._clipped = list(clipped)
        self._began = time.perf_counter()

    @property
    def done(self) -> int:
        """Steps so far, including those before a checkpoint."""
        return int(self.schedule.last_epoch)

    def run(self, batches: Iterable[Batch], loss_of: Callable[[Batch], Any]) -> None:
        """Take one step per batch; `loss_of` computes its loss as a tensor."""
        import torch

        for batch in batches:
            loss = loss_of(batch)
            self.optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._clipped, 1.0)
            self.optimiser.step()
            self.schedule.step()
            self.losses.append(float(loss.detach()))
            if self.done % _REPORTED == 0 or self.done == self._steps:
                self._report()

    def _report(self) -> None:
        recent = self.losses[-_RECENT:]
        each = (time.perf_counter() - self._began) / len(self.losses)
        self._progress(
            f"{self._name}: step {self.done} of {self._steps}, "
            f"loss {sum(recent) / len(recent):.3f}, "
            f"{each * (self._steps - self.done) / 60:.0f} min left"
        )


def warmed_cosine(optimiser: Any, steps: int, warm_up: float = 0.1) -> Any:
    """A torch schedule: linear warm-up over that share of the steps, times a cosine decay to 0."""
    import torch

    def rate(step: int) -> float:
        warm = (step + 1) / (warm_up * steps + 1)
        return min(1.0, warm) * 0.5 * (1 + math.cos(math.pi * step / steps))

    return torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
