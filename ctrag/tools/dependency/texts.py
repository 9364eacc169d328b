"""What a request has in common with the tools' own texts: needs no demonstration."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.context.words import terms
from ctrag.encoder import Encoder, Matrix
from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.dependency.demonstrations import END, Demonstration


class ToolTexts:
    """Names and descriptions of tools, by words and by meaning."""

    def __init__(
        self,
        tools: Sequence[CatalogueTool],
        vectors: Matrix,
        numbers: Sequence[int] | None = None,
    ) -> None:
        """Index the texts.

        Args:
            tools: Whose texts.
            vectors: Theirs, (tools, dimension).
            numbers: What `Memory` knows each tool by; 1, 2, ... when None.
        """
        import bm25s

        self.vectors = vectors
        """(tools, dimension), in the order of the tools."""
        self.numbers = np.array(
            range(1, len(tools) + 1) if numbers is None else numbers, dtype=np.int64
        )
        """(tools,): what `Memory` knows each tool by."""
        searched = [terms(tool.text) for tool in tools]
        self._words: Any = None
        if any(searched):
            self._words = bm25s.BM25(method="lucene", k1=1.2, b=0.5)
            self._words.index(searched, show_progress=False)

    @classmethod
    def encoded(cls, tools: Sequence[CatalogueTool], encoder: Encoder) -> "ToolTexts":
        """The tools' texts with their vectors made now."""
        return cls(tools, encoder.encode([tool.text for tool in tools]))

    def lexical(self, text: str) -> NDArray[np.float64]:
        """BM25 of each tool."""
        vocabulary = {} if self._words is None else self._words.vocab_dict
        known = [word for word in dict.fromkeys(terms(text)) if word in vocabulary]
        if not known:
            return np.zeros(len(self.vectors))
        return np.asarray(self._words.get_scores(known), dtype=np.float64)

    def cosine(self, vector: Matrix) -> NDArray[np.float64]:
        """Cosine of each tool's text with a request's vector."""
        return np.asarray(self.vectors @ vector, dtype=np.float64)

    def by_number(self, values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        """Values of the tools by their numbers, (count,); nothing for what has no text."""
        found = np.zeros(count)
        found[self.numbers] = values
        return found


def tool_names(tools: Sequence[CatalogueTool]) -> list[str]:
    """What demonstrations call each tool: its name, or `server/name` where names repeat.

    Raises:
        ValueError: A tool is called `end`.
    """
    counts = Counter(tool.name for tool in tools)
    if END in counts:
        raise ValueError(f"tools: no tool may be called {END!r}, which ends a plan")
    return [tool.name if counts[tool.name] == 1 else tool.id for tool in tools]


def with_names(
    demonstrations: Iterable[Demonstration], tools: Sequence[CatalogueTool]
) -> list[Demonstration]:
    """Demonstrations whose calls by id are calls by name, as `tool_names` has them."""
    names = {tool.id: name for tool, name in zip(tools, tool_names(tools), strict=True)}
    return [one.called_by(names) for one in demonstrations]
