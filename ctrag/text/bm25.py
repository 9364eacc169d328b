"""BM25 over tokenized documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_K1, _B = 1.2, 0.5


class LexicalIndex:
    """Lucene's BM25 (`bm25s`); `words.terms` makes the terms of a text."""

    def __init__(self, documents: Sequence[list[str]]) -> None:
        self._count = len(documents)
        self._index: Any = None
        if any(documents):
            import bm25s

            self._index = bm25s.BM25(method="lucene", k1=_K1, b=_B)
            self._index.index(documents, show_progress=False)

    def scores(self, query: Sequence[str]) -> NDArray[np.float32]:
        """BM25 of each document, (documents,); zeros when no term is known.

        Args:
            query: Terms; each counts once.
        """
        vocabulary = {} if self._index is None else self._index.vocab_dict
        known = [term for term in dict.fromkeys(query) if term in vocabulary]
        if not known:
            return np.zeros(self._count, dtype=np.float32)
        return np.asarray(self._index.get_scores(known), dtype=np.float32)
