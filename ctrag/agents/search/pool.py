"""The candidates of one request, gathered from a store."""

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.features import FEATURES, ReadingWords, feature_rows, rarities
from ctrag.agents.search.fields import ToolTerms
from ctrag.agents.search.ranker import Floats, Readings
from ctrag.models.encoder import Matrix
from stores.tools.protocol import Filter, Query, ToolCandidate, ToolStore, rarity

Known = Callable[[ToolCandidate], "tuple[CatalogueTool, ToolTerms] | None"]


class Pool:
    """All candidates of a request, numbered in the order of retrieval."""

    def __init__(self, store: ToolStore, known: Known, seen: Filter, limit: int) -> None:
        """Gather for one caller.

        Args:
            store: Where the tools are.
            known: A candidate's tool and terms; None if it is gone.
            seen: What the caller may see.
            limit: How many tools each measure retrieves per reading.
        """
        self._store, self._known, self._seen, self._limit = store, known, seen, limit
        self.found: list[ToolCandidate] = []
        self.tools: list[tuple[CatalogueTool, ToolTerms]] = []
        self._numbers: dict[str, int] = {}
        self.total = 0

    def read(
        self, parts: Sequence[str], vectors: Matrix | None, names: Collection[str]
    ) -> Readings:
        """Retrieve the request's candidates, which get the first numbers.

        Args:
            parts: The whole request, then its parts.
            vectors: One per part; None for lexical search.
            names: Names that the whole request may contain.
        """
        asked = [ReadingWords.of(text) for text in parts]
        queries = [
            Query(one.terms, None if vectors is None else vectors[number], () if number else names)
            for number, one in enumerate(asked)
        ]
        retrieved = self._store.candidates(queries, self._seen, self._limit)
        self.total = retrieved.total
        known = [self._known(one) for one in retrieved.found]
        kept = [place for place, one in enumerate(known) if one is not None]
        self.found = [retrieved.found[place] for place in kept]
        self.tools = [one for one in known if one is not None]
        self._numbers = {one.tool_id: number for number, one in enumerate(self.found)}
        if not kept:
            return Readings(parts, np.zeros((len(parts), 0, len(FEATURES))))
        rows = feature_rows(
            retrieved.cosines[:, kept],
            [words for _, words in self.tools],
            asked,
            rarities(retrieved.counts, retrieved.total),
            float(rarity(0.0, retrieved.total)),
        )
        return Readings(parts, rows)

    def visible(self, ids: Iterable[str]) -> list[CatalogueTool]:
        """Those of the ids that the caller may see; added to the candidates if missing."""
        seen = self._store.definitions(list(ids), self._seen)
        found = []
        for tool_id in ids:
            if tool_id not in seen:
                continue
            if tool_id not in self._numbers:
                tool = CatalogueTool.from_json(seen[tool_id])
                one = ToolCandidate(tool_id, tool.content_hash, 2**62, 0.0, 0.0)
                known = self._known(one)
                if known is None:
                    continue
                self._numbers[tool_id] = len(self.found)
                self.found.append(one)
                self.tools.append(known)
            found.append(self.tools[self._numbers[tool_id]][0])
        return found

    def number(self, tool_id: str) -> int:
        """A candidate's number; KeyError if the tool is not one."""
        return self._numbers[tool_id]

    def order(self, beliefs: Floats) -> list[int]:
        """Numbers of the candidates that have a belief, best first; ties go to the older tool."""
        positions: NDArray[np.int64] = np.array(
            [one.position for one in self.found[: len(beliefs)]], dtype=np.int64
        )
        return [int(row) for row in np.lexsort((positions, -beliefs))]
