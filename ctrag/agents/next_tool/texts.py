"""Similarity of a request to the tools' own texts; needs no demonstrations."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool.demonstrations import END, Demonstration
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder, Matrix
from ctrag.text.bm25 import LexicalIndex
from ctrag.text.words import terms


class ToolTexts:
    """Names and descriptions of tools, as words and as embeddings."""

    def __init__(
        self,
        tools: Sequence[CatalogueTool],
        vectors: Matrix,
        numbers: Sequence[int] | None = None,
    ) -> None:
        """Index the texts.

        Args:
            tools: The tools whose texts are indexed.
            vectors: Their embeddings, (tools, dimension).
            numbers: Each tool's number in `Memory`; 1, 2, ... when None.
        """
        self.vectors = vectors
        """(tools, dimension), in the order of the tools."""
        self.numbers = np.array(
            range(1, len(tools) + 1) if numbers is None else numbers, dtype=np.int64
        )
        """(tools,): each tool's number in `Memory`."""
        self._words = LexicalIndex([terms(tool.text) for tool in tools])

    @classmethod
    def encoded(cls, tools: Sequence[CatalogueTool], encoder: Encoder) -> "ToolTexts":
        """The tools' texts, encoded now."""
        return cls(tools, encoder.encode([tool.text for tool in tools]))

    def lexical(self, text: str) -> NDArray[np.float64]:
        """BM25 of each tool."""
        return self._words.scores(terms(text)).astype(np.float64)

    def cosine(self, vector: Matrix) -> NDArray[np.float64]:
        """Cosine of each tool's text with a request's vector."""
        return np.asarray(self.vectors @ vector, dtype=np.float64)

    def by_number(self, values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        """Values of the tools by their numbers, (count,); 0 for what has no text."""
        found = np.zeros(count)
        found[self.numbers] = values
        return found


def tool_names(tools: Sequence[CatalogueTool]) -> list[str]:
    """Each tool's name in demonstrations: its name, or `server/name` where names repeat.

    Raises:
        ValueError: A tool is called `end`.
    """
    counts = Counter(tool.name for tool in tools)
    if END in counts:
        raise InputError(f"tools: no tool may be called {END!r}, which ends a plan")
    return [tool.name if counts[tool.name] == 1 else tool.id for tool in tools]


def with_ids(demonstrations: Iterable[Demonstration], ids: Iterable[str]) -> list[Demonstration]:
    """Demonstrations whose calls are ids: a name that one id alone ends in becomes that id."""
    known = list(dict.fromkeys(ids))
    counts = Counter(one.rpartition("/")[2] for one in known)
    names = {one: one for one in known}
    for one in known:
        name = one.rpartition("/")[2]
        if counts[name] == 1:
            names.setdefault(name, one)
    return [one.called_by(names) for one in demonstrations]


def with_names(
    demonstrations: Iterable[Demonstration], tools: Sequence[CatalogueTool]
) -> list[Demonstration]:
    """Demonstrations with ids replaced by names from `tool_names`."""
    names = {tool.id: name for tool, name in zip(tools, tool_names(tools), strict=True)}
    return [one.called_by(names) for one in demonstrations]
