"""What all trainings of torch modules have in common: one step after the other."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from training.core.schedule import warmed_cosine

Progress = Callable[[str], None]
Batch = TypeVar("Batch")
_TOLD = 20
"""Steps between two words of progress."""
_RECENT = 50
"""Steps whose loss is told."""


class Loop:
    """AdamW under a warmed-up cosine, gradients clipped to a norm of 1.

    Checkpoints are the caller's: `optimiser` and `schedule` are what to keep, between two calls of
    `run`.
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
        """A training that has not begun.

        Args:
            name: Tells trainings apart in words of progress.
            groups: Parameters with their learning rates, as torch's optimisers take them.
            clipped: The parameters whose gradients are clipped, as one vector.
            steps: Of the whole training.
            weight_decay: AdamW's.
            progress: Told step, loss and time left.
            warm_up: Share of the steps in which the learning rate rises.
        """
        import torch

        self.optimiser = torch.optim.AdamW(groups, weight_decay=weight_decay)
        self.schedule = warmed_cosine(self.optimiser, steps, warm_up)
        self.losses: list[float] = []
        """Of the steps of this process."""
        self._name, self._steps, self._progress = name, steps, progress
        self._clipped = list(clipped)
        self._began = time.perf_counter()

    @property
    def done(self) -> int:
        """Steps so far, those before a checkpoint included."""
        return int(self.schedule.last_epoch)

    def run(self, batches: Iterable[Batch], loss_of: Callable[[Batch], Any]) -> None:
        """A step for each batch; `loss_of` gives its loss as a tensor."""
        import torch

        for batch in batches:
            loss = loss_of(batch)
            self.optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._clipped, 1.0)
            self.optimiser.step()
            self.schedule.step()
            self.losses.append(float(loss.detach()))
            if self.done % _TOLD == 0 or self.done == self._steps:
                self._tell()

    def _tell(self) -> None:
        recent = self.losses[-_RECENT:]
        each = (time.perf_counter() - self._began) / len(self.losses)
        self._progress(
            f"{self._name}: step {self.done} of {self._steps}, "
            f"loss {sum(recent) / len(recent):.3f}, "
            f"{each * (self._steps - self.done) / 60:.0f} min left"
        )
