"""TF-IDF vectors of words and bigrams."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ctrag.models.encoder import Matrix
from ctrag.text.words import terms

MOST = 4_000


class TextVocabulary:
    """The most frequent words and bigrams of a set of texts."""

    def __init__(self, entries: Sequence[str], weights: Matrix) -> None:
        self.entries = list(entries)
        self.weights = weights
        """Inverse document frequency of each entry."""
        self._place = {entry: place for place, entry in enumerate(entries)}

    @classmethod
    def of(cls, texts: Sequence[str], fewest: int = 3, most: int = MOST) -> "TextVocabulary":
        """Entries in at least `fewest` texts, the most frequent first, `most` at most."""
        counts = Counter(entry for text in texts for entry in set(_entries(terms(text))))
        kept = sorted((-n, entry) for entry, n in counts.items() if n >= fewest)[:most]
        weights = [np.log(1 + len(texts) / -n) for n, _ in kept]
        return cls([entry for _, entry in kept], np.array(weights, dtype=np.float32))

    def __len__(self) -> int:
        return len(self.entries)

    def vector(self, text: str) -> Matrix:
        """(entries,), unit length, or zeros where no entry is in the text."""
        found = np.zeros(len(self), dtype=np.float32)
        weighted = self._weights_of(text)
        found[list(weighted)] = list(weighted.values())
        return found

    def mixed(self, text: str, rows: Matrix) -> Matrix:
        """`vector(text) @ rows`, of `rows` (entries, n), reading only rows of non-zero entries."""
        weighted = self._weights_of(text)
        weights = np.array(list(weighted.values()), dtype=np.float32)
        return np.asarray(weights @ rows[list(weighted)], dtype=np.float32)

    def matrix(self, texts: Sequence[str]) -> Any:
        """The texts' vectors as a sparse matrix, (texts, entries)."""
        from scipy import sparse

        weighted = [self._weights_of(text) for text in texts]
        ends = np.cumsum([0, *map(len, weighted)])
        columns = [place for row in weighted for place in row]
        values = np.array([value for row in weighted for value in row.values()], dtype=np.float32)
        return sparse.csr_matrix((values, columns, ends), shape=(len(texts), len(self)))

    def _weights_of(self, text: str) -> dict[int, float]:
        counts = Counter(e for e in _entries(terms(text)) if e in self._place)
        places = [self._place[entry] for entry in counts]
        values = (1 + np.log(list(counts.values()))) * self.weights[places]
        length = float(np.linalg.norm(values)) or 1.0
        return dict(zip(places, (values / length).tolist(), strict=True))

    def places(self, text: str) -> list[tuple[int, int]]:
        """(position of the word in the text, entry), in order."""
        words = terms(text)
        found = [(at, self._place[word]) for at, word in enumerate(words) if word in self._place]
        for at, pair in enumerate(_pairs(words)):
            if pair in self._place:
                found.append((at, self._place[pair]))
        return found


def _pairs(words: Sequence[str]) -> list[str]:
    return [f"{one} {two}" for one, two in itertools.pairwise(words)]


def _entries(words: Sequence[str]) -> list[str]:
    return [*words, *_pairs(words)]
