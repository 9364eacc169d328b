"""Twins: texts that say nearly the same, so that one gives away the other's answer."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ctrag.text.words import words

LEAST = 0.6
"""Words in common, of all words of both, from which two texts are twins."""
_AT_ONCE = 256

Flags = NDArray[np.bool_]


def overlaps(asked: Sequence[str], known: Sequence[str]) -> NDArray[np.float64]:
    """(asked, known): words in common as a share of all words of both (Jaccard)."""
    numbers: dict[str, int] = {}
    sets = [
        [numbers.setdefault(word, len(numbers)) for word in sorted(set(words(text)))]
        for text in (*asked, *known)
    ]
    size = max(len(numbers), 1)
    left, right = _rows(sets[: len(asked)], size), _rows(sets[len(asked) :], size)
    common = np.asarray((left @ right.T).todense(), dtype=np.float64)
    lengths = np.array([len(one) for one in sets], dtype=np.float64)
    either = lengths[: len(asked), None] + lengths[None, len(asked) :] - common
    return np.asarray(common / np.maximum(either, 1))


def _rows(sets: Sequence[Sequence[int]], size: int) -> csr_matrix:
    starts = np.cumsum([0, *(len(one) for one in sets)])
    columns = np.array([number for one in sets for number in one], dtype=np.int64)
    ones = np.ones(len(columns), dtype=np.float32)
    return csr_matrix((ones, columns, starts), shape=(len(sets), size))


def twins(asked: Sequence[str], known: Sequence[str], least: float = LEAST) -> Flags:
    """(asked,): whether a known text says nearly the same."""
    found = np.zeros(len(asked), dtype=bool)
    if not known:
        return found
    for start in range(0, len(asked), _AT_ONCE):
        part = asked[start : start + _AT_ONCE]
        found[start : start + len(part)] = overlaps(part, known).max(axis=1) >= least
    return found


def groups(texts: Sequence[str], keys: Sequence[Hashable] = ()) -> list[int]:
    """The group of each text: twins, twins of twins, and texts with the same key are together.

    Args:
        texts: What was asked.
        keys: What was done, one per text; none says nothing.
    """
    parents = list(range(len(texts)))

    def root(at: int) -> int:
        while parents[at] != at:
            parents[at] = parents[parents[at]]
            at = parents[at]
        return at

    first: dict[Hashable, int] = {}
    for at, key in enumerate(keys):
        parents[root(at)] = root(first.setdefault(key, at))
    for start in range(0, len(texts), _AT_ONCE):
        alike = overlaps(texts[start : start + _AT_ONCE], texts) >= LEAST
        for row, other in zip(*np.nonzero(alike), strict=True):
            parents[root(int(row) + start)] = root(int(other))
    return [root(at) for at in range(len(texts))]
