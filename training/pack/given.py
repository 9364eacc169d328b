"""What a packed job finds where it runs, and what its training leaves."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from training.pack.slices import within


@dataclass(frozen=True, slots=True)
class Given:
    """A job, and how it is run."""

    folder: Path
    content: dict[str, Any]
    """Of its job file."""
    place: str
    """torch's name of the device."""
    limit: int | None
    """Steps at most."""
    checkpoint: Path
    resume: bool
    say: Callable[[str], None]

    def files(self) -> Iterator[dict[str, Any]]:
        """The arrays of each file of the job's data."""
        for file in self.content["rows"]:
            with np.load(within(self.folder, file)) as arrays:
                yield {name: arrays[name] for name in arrays.files}


@dataclass(frozen=True, slots=True)
class Trained:
    """What is brought back."""

    weights: dict[str, Any]
    """Name → tensor."""
    steps: int
    loss: float
    """Mean of the last steps."""
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    """Of held-out requests."""
