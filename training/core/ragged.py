"""Rows of different lengths as two arrays. Needs numpy alone: packed training jobs carry it."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def ragged(rows: Iterable[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(all values, length of each row)."""
    kept = list(rows)
    values = [value for row in kept for value in row]
    return np.array(values, np.int32), np.array([len(row) for row in kept], np.int32)


def rows_of(values: NDArray[np.int32], lengths: NDArray[np.int32]) -> list[list[int]]:
    """The rows that `ragged` took."""
    ends = np.cumsum(lengths)
    return [values[end - length : end].tolist() for end, length in zip(ends, lengths, strict=True)]
