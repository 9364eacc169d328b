"""Words and pairs of words as weighted vectors (TF-IDF)."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ctrag.models.encoder import Matrix
from ctrag.text.words import terms

MOST = 4_000


class TextVocabulary:
    """The commonest words and pairs of neighbours of a set of texts."""

    def __init__(self, entries: Sequence[str], weights: Matrix) -> None:
        self.entries = list(entries)
        self.weights = weights
        """Inverse document frequency of each entry."""
        self._place = {entry: place for place, entry in enumerate(entries)}

    @classmethod
    def of(cls, texts: Sequence[str], fewest: int = 3, most: int = MOST) -> "TextVocabulary":
        """Entries that `fewest` texts hold at least, the commonest first, `most` at most."""
        counts = Counter(entry for text in texts for entry in set(_entries(terms(text))))
        kept = sorted((-n, entry) for entry, n in counts.items() if n >= fewest)[:most]
        weights = [np.log(1 + len(texts) / -n) for n, _ in kept]
        return cls([entry for _, entry in kept], np.array(weights, dtype=np.float32))

    def __len__(self) -> int:
        return len(self.entries)

    def vector(self, text: str) -> Matrix:
        """(entries,), of length one, or zeros where no entry is in the text."""
        found = np.zeros(len(self), dtype=np.float32)
        weighed = self._weighed(text)
        found[list(weighed)] = list(weighed.values())
        return found

    def mixed(self, text: str, rows: Matrix) -> Matrix:
        """`vector(text) @ rows`, of `rows` (entries, n), reading only those that count."""
        weighed = self._weighed(text)
        weights = np.array(list(weighed.values()), dtype=np.float32)
        return np.asarray(weights @ rows[list(weighed)], dtype=np.float32)

    def matrix(self, texts: Sequence[str]) -> Any:
        """The texts' vectors as a sparse matrix, (texts, entries)."""
        from scipy import sparse

        weighed = [self._weighed(text) for text in texts]
        ends = np.cumsum([0, *map(len, weighed)])
        columns = [place for row in weighed for place in row]
        values = np.array([value for row in weighed for value in row.values()], dtype=np.float32)
        return sparse.csr_matrix((values, columns, ends), shape=(len(texts), len(self)))

    def _weighed(self, text: str) -> dict[int, float]:
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
