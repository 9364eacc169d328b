"""A row of a benchmark."""

import statistics
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Timing:
    """One row: what was timed, how often, and how long it took."""

    what: str
    runs: int
    p50: float
    p95: float
    unit: str = "ms"


def timing(what: str, found: list[float], unit: str = "ms") -> Timing:
    """The row of several measurements."""
    return Timing(
        what,
        len(found),
        round(statistics.median(found), 3),
        round(float(np.percentile(found, 95)), 3),
        unit,
    )
