"""Folds by person: nobody is in both training and test."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctrag.errors import InputError


def folds_by_person(people: Sequence[str], count: int, seed: int) -> NDArray[np.int64]:
    """Fold (0 to `count` - 1) of each row; all rows of one person share it.

    Args:
        people: The person of each row.
        count: How many folds.
        seed: Determines the assignment.

    Raises:
        ValueError: There are fewer people than folds.
    """
    distinct = sorted(set(people))
    if len(distinct) < count:
        raise InputError(f"count: {count} folds need as many people, there are {len(distinct)}")
    order = np.random.default_rng(seed).permutation(len(distinct))
    fold = {person: int(place) % count for person, place in zip(distinct, order, strict=True)}
    return np.array([fold[person] for person in people], dtype=np.int64)
