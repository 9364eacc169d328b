"""BM25T: BM25 with a k1 of its own for each term (Trotman et al., 2014; Lv and Zhai, 2012).

For a term, k1 solves E[ln(c + 1)] = k1 / (k1 - 1) · ln k1, where c is the length-normalised count
of the term and the mean runs over the documents that hold it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.errors import InputError

Doubles = NDArray[np.float64]

_LOWEST, _HIGHEST, _STEPS = 1e-3, 1e3, 60


@dataclass(frozen=True, slots=True)
class Bm25T:
    """Term statistics of a collection; scores any documents with them."""

    columns: dict[str, int]
    k1: Doubles
    idf: Doubles
    average_length: float
    b: float = 0.4

    @classmethod
    def fit(cls, documents: Sequence[Sequence[str]], b: float = 0.4) -> "Bm25T":
        """Statistics of `documents`, each a list of terms.

        Raises:
            ValueError: No document has a term.
        """
        lengths = np.array([len(document) for document in documents], dtype=np.float64)
        if not lengths.sum():
            raise InputError("documents: none has a term")
        average = float(lengths.mean())
        columns: dict[str, int] = {}
        owners: list[int] = []
        terms: list[int] = []
        counts: list[int] = []
        for row, document in enumerate(documents):
            for term, count in Counter(document).items():
                owners.append(row)
                terms.append(columns.setdefault(term, len(columns)))
                counts.append(count)
        normal = np.array(counts) / (1 - b + b * lengths[owners] / average)
        spread = np.bincount(terms, minlength=len(columns))
        target = np.bincount(terms, np.log1p(normal), len(columns)) / spread
        idf = np.log((len(documents) + 1) / (spread + 0.5))
        return cls(columns, solve_k1(target), idf, average, b)

    def scores(self, query: Sequence[str], documents: Sequence[Sequence[str]]) -> Doubles:
        """One score per document; terms that the collection does not have say nothing."""
        scores = np.zeros(len(documents))
        asked = dict.fromkeys(query)
        known = [(term, self.columns[term]) for term in asked if term in self.columns]
        for row, document in enumerate(documents):
            counts = Counter(document)
            length = 1 - self.b + self.b * len(document) / self.average_length
            for term, column in known:
                if term in counts:
                    count = counts[term] / length
                    k1 = self.k1[column]
                    scores[row] += self.idf[column] * (k1 + 1) * count / (k1 + count)
        return scores


def gain(k1: Doubles) -> Doubles:
    """k1 / (k1 - 1) · ln k1, which grows with k1; 1 at k1 = 1."""
    near_one = np.abs(k1 - 1) < 1e-6
    safe = np.where(near_one, 2.0, k1)
    return np.where(near_one, 1.0, safe / (safe - 1) * np.log(safe))


def solve_k1(target: Doubles) -> Doubles:
    """The k1 for which `gain` gives `target`, by bisection between 0.001 and 1000."""
    low = np.full_like(target, _LOWEST)
    high = np.full_like(target, _HIGHEST)
    for _ in range(_STEPS):
        middle = np.sqrt(low * high)
        below = gain(middle) < target
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    return np.sqrt(low * high)
