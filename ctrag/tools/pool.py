"""The candidates of one request, gathered from a store reading by reading."""

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ctrag.context.words import terms
from ctrag.encoder import Matrix
from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.features import FEATURES, feature_rows, rarities
from ctrag.tools.fields import ToolTerms
from ctrag.tools.ranker import Floats, Reading
from stores.tool_rows import Candidate, Filter, Query, ToolStore, rarity

Known = Callable[[Candidate], "tuple[CatalogueTool, ToolTerms] | None"]
_BEST = ((0, 10), (3, 11))
"""Columns of a measure, and of its best over all readings."""


class Pool:
    """All candidates of a request, numbered in the order in which they came."""

    def __init__(self, store: ToolStore, known: Known, seen: Filter, limit: int) -> None:
        """Gather for one caller.

        Args:
            store: Where the tools are.
            known: A candidate's tool and terms; None when it is gone.
            seen: What the caller may see.
            limit: How many tools each measure brings for a reading.
        """
        self._store, self._known, self._seen, self._limit = store, known, seen, limit
        self.found: list[Candidate] = []
        self.tools: list[tuple[CatalogueTool, ToolTerms]] = []
        self._numbers: dict[str, int] = {}
        self.total = 0

    def read(
        self, parts: Sequence[str], vectors: Matrix | None, names: Collection[str]
    ) -> list[Reading]:
        """Readings with their candidates, the whole request first.

        Args:
            parts: The whole request, then its parts.
            vectors: One per part; None for lexical search.
            names: What the whole request may name.
        """
        readings = []
        for number, text in enumerate(parts):
            vector = None if vectors is None else vectors[number]
            query = Query(list(dict.fromkeys(terms(text))), vector, () if number else names)
            readings.append(self._reading(text, query))
        for measure, best in _BEST if len(readings) > 1 else ():
            top = np.full(len(self.found), -np.inf)
            for one in readings:
                np.maximum.at(top, one.candidates, one.rows[:, measure])
            readings[0].rows[:, best] = top[readings[0].candidates]
        return readings

    def _reading(self, text: str, query: Query) -> Reading:
        brought = self._store.candidates(query, self._seen, self._limit)
        self.total = max(self.total, brought.total)
        pairs = [(one, known) for one in brought.found if (known := self._known(one)) is not None]
        numbers = np.array([self._take(one, known) for one, known in pairs], dtype=np.int64)
        if not pairs:
            return Reading(text, numbers, np.zeros((0, len(FEATURES))))
        rows = feature_rows(
            np.array([one.cosine for one, _ in pairs]),
            [words for _, (_, words) in pairs],
            rarities(brought.counts, brought.total),
            float(rarity(0.0, brought.total)),
        )
        return Reading(text, numbers, rows)

    def _take(self, one: Candidate, known: tuple[CatalogueTool, ToolTerms]) -> int:
        number = self._numbers.setdefault(one.tool_id, len(self.found))
        if number == len(self.found):
            self.found.append(one)
            self.tools.append(known)
        return number

    def visible(self, ids: Iterable[str]) -> list[CatalogueTool]:
        """Those of the ids that the caller may see; they become candidates when they are none."""
        seen = self._store.definitions(list(ids), self._seen)
        found = []
        for tool_id in ids:
            if tool_id not in seen:
                continue
            if tool_id not in self._numbers:
                tool = CatalogueTool.from_json(seen[tool_id])
                one = Candidate(tool_id, tool.content_hash, 2**62, 0.0, 0.0)
                known = self._known(one)
                if known is None:
                    continue
                self._take(one, known)
            found.append(self.tools[self._numbers[tool_id]][0])
        return found

    def number(self, tool_id: str) -> int:
        """A candidate's number; KeyError when it is none."""
        return self._numbers[tool_id]

    def order(self, beliefs: Floats) -> list[int]:
        """Numbers of the candidates that have a belief, best first; ties go to the older tool."""
        positions: NDArray[np.int64] = np.array(
            [one.position for one in self.found[: len(beliefs)]], dtype=np.int64
        )
        return [int(row) for row in np.lexsort((positions, -beliefs))]
