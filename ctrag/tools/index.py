"""Search in the tool catalogue of any agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.context.words import terms
from ctrag.encoder import Encoder, load_encoder
from ctrag.tools.catalogue import CatalogueTool, load_catalogue

LEXICAL_WEIGHT = 0.3
"""Share of the lexical score; the rest is the cosine's."""


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool that fits a search."""

    tool: CatalogueTool
    score: float
    """Weighted sum of the two below, 0 to 1."""
    cosine: float
    lexical: float
    """BM25 as a share of the best tool's."""


class ToolIndex:
    """An in-memory index over a catalogue; lexical and dense evidence are added up.

    Example::

        index = ToolIndex.from_file("tools.json")
        for hit in index.search("book a flight to Rome", k=5):
            print(hit.tool.id, hit.score)
    """

    def __init__(self, tools: Sequence[CatalogueTool], encoder: Encoder | None = None) -> None:
        import bm25s

        if not tools:
            raise ValueError("tools: the catalogue is empty")
        self.tools = list(tools)
        self._encoder = load_encoder() if encoder is None else encoder
        self._vectors = self._encoder.encode([tool.text for tool in self.tools])
        searched = [terms(tool.text) for tool in self.tools]
        self._words: Any = None
        if any(searched):  # names in signs only leave nothing to count
            self._words = bm25s.BM25(method="lucene", k1=1.2, b=0.5)
            self._words.index(searched, show_progress=False)

    @classmethod
    def from_file(cls, path: str | Path, encoder: Encoder | None = None) -> "ToolIndex":
        """An index over a `.json` catalogue or a `.yaml` toolbox.

        Raises:
            ValueError: The file breaks a rule.
        """
        return cls(load_catalogue(Path(path)), encoder)

    def search(self, text: str, k: int = 5) -> list[ToolHit]:
        """The `k` best tools for a request, best first; ties keep the catalogue's order.

        Raises:
            ValueError: The text is empty or no Unicode, or `k` is not positive.
        """
        if not text.strip():
            raise ValueError("text: must not be empty")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError("text: holds bytes that are no UTF-8")
        if k < 1:
            raise ValueError(f"k: must be at least 1, not {k}")
        cosines = self._vectors @ self._encoder.encode([text])[0]
        lexical = self._lexical(text)
        scores = (1 - LEXICAL_WEIGHT) * cosines + LEXICAL_WEIGHT * lexical
        return [
            ToolHit(self.tools[row], float(scores[row]), float(cosines[row]), float(lexical[row]))
            for row in np.argsort(-scores, kind="stable")[:k]
        ]

    def _lexical(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        vocabulary = {} if self._words is None else self._words.vocab_dict
        known = [word for word in dict.fromkeys(terms(text)) if word in vocabulary]
        if not known:
            return np.zeros(len(self.tools), dtype=np.float32)
        scores = np.asarray(self._words.get_scores(known), dtype=np.float32)
        return scores / max(float(scores.max()), 1e-9)
