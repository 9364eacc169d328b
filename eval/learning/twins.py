"""Tasks that are worded alike: on both sides of a split they make a memory look like learning."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ctrag.text.words import words

Floats = NDArray[np.float64]

ALIKE = 0.6
"""Share of their words, of all that either has, from which two requests are twins."""


def overlaps(texts: Sequence[str], others: Sequence[str]) -> Floats:
    """Shared words of each pair over all words of both (Jaccard), (texts, others)."""
    number: dict[str, int] = {}
    rows, columns = _table(texts, number), _table(others, number)
    left, right = (
        sparse.csr_matrix(
            (np.ones(len(places)), ([row for row, _ in places], [word for _, word in places])),
            shape=(count, max(len(number), 1)),
        )
        for places, count in ((rows, len(texts)), (columns, len(others)))
    )
    shared = (left @ right.T).toarray()
    sizes = np.asarray(left.sum(axis=1)) + np.asarray(right.sum(axis=1)).T
    return np.asarray(shared / np.maximum(sizes - shared, 1))


def groups(texts: Sequence[str], alike: float = ALIKE) -> list[int]:
    """The number of each text's group: twins, and twins of twins, share one."""
    _, found = connected_components(overlaps(texts, texts) >= alike, directed=False)
    return [int(one) for one in found]


def without_twins(texts: Sequence[str], of: Sequence[str], alike: float = ALIKE) -> list[int]:
    """Places of the texts that are no twin of any text in `of`."""
    if not of:
        return list(range(len(texts)))
    return np.flatnonzero(overlaps(texts, of).max(axis=1, initial=0.0) < alike).tolist()


def _table(texts: Sequence[str], number: dict[str, int]) -> list[tuple[int, int]]:
    return [
        (row, number.setdefault(word, len(number)))
        for row, text in enumerate(texts)
        for word in set(words(text))
    ]
