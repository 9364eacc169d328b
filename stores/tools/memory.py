"""Tools in memory: exact, and the reference for the databases."""

import threading
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from stores.tools.protocol import (
    NO_FACTS,
    Filter,
    Query,
    ToolCandidate,
    ToolCandidates,
    ToolRow,
    Vector,
    rarity,
    saturated,
)

_SPARE = 0.5
"""Share of rows that may belong to tools that are gone before the arrays are rebuilt."""


_Posting = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Rows that have a term, and BM25's saturated frequency of it in each."""


class MemoryToolStore:
    """Vectors in one array, words in lists of rows; a lock is held only for the arithmetic.

    A changed tool gets a row of its own at the end and keeps its position; rows of tools that are
    gone are skipped, and swept out when they are many.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._grants: list[tuple[str, str]] | None = None
        self._next_position = 0
        self._facts: dict[str, str] = {}
        self._writing_facts = threading.Lock()
        self._tools: dict[str, ToolRow] = {}
        self._clear()

    def _clear(self) -> None:
        self._rows: list[ToolRow] = []
        self._row_of: dict[str, int] = {}
        self._alive = np.zeros(0, dtype=bool)
        self._always = np.zeros(0, dtype=bool)
        self._positions = np.zeros(0, dtype=np.int64)
        self._vectors = np.zeros((0, 0), dtype=np.float32)
        self._postings: dict[str, tuple[array[int], array[float]]] = {}
        self._read: dict[str, _Posting] = {}
        self._by_name: dict[str, set[str]] = {}
        self._by_server: dict[str, set[str]] = {}
        self._by_server_key: dict[str, set[str]] = {}
        self._masks: dict[tuple[frozenset[str] | None, bool, bool], NDArray[np.bool_]] = {}

    def apply(self, changed: Sequence[ToolRow], removed: Collection[str] = ()) -> None:
        """See `ToolStore.apply`."""
        with self._lock:
            self._masks.clear()
            for tool_id in removed:
                if tool_id in self._row_of:
                    self._drop(tool_id)
            self._append(changed)
            if len(self._rows) > 64 and len(self._row_of) < (1 - _SPARE) * len(self._rows):
                self._sweep()

    def _drop(self, tool_id: str) -> int:
        row = self._row_of.pop(tool_id)
        self._alive[row] = False
        one = self._rows[row]
        self._by_name[one.name_key].discard(tool_id)
        self._by_server[one.server].discard(tool_id)
        self._by_server_key[one.server_key].discard(tool_id)
        return int(self._positions[row])

    def _append(self, changed: Sequence[ToolRow], positions: Sequence[int] | None = None) -> None:
        if not changed:
            return
        first, needed = len(self._rows), len(self._rows) + len(changed)
        if needed > len(self._alive):
            self._grow(max(needed, 2 * len(self._alive)), len(changed[0].vector))
        for number, tool in enumerate(changed):
            row = first + number
            if positions is not None:
                position = positions[number]
            elif tool.tool_id in self._row_of:
                position = self._drop(tool.tool_id)
            else:
                position, self._next_position = self._next_position, self._next_position + 1
            self._rows.append(tool)
            self._row_of[tool.tool_id] = row
            self._alive[row] = True
            self._positions[row] = position
            self._vectors[row] = tool.vector
            self._by_name.setdefault(tool.name_key, set()).add(tool.tool_id)
            self._by_server.setdefault(tool.server, set()).add(tool.tool_id)
            self._by_server_key.setdefault(tool.server_key, set()).add(tool.tool_id)
            self._always[row] = tool.always
            for term, weight in tool.terms.items():
                held = self._postings.get(term)
                if held is None:
                    held = self._postings[term] = (array("q"), array("d"))
                held[0].append(row)
                held[1].append(saturated(weight))
                self._read.pop(term, None)

    def _grow(self, rows: int, dimension: int) -> None:
        def grown(old: NDArray[np.generic], shape: tuple[int, ...]) -> NDArray[np.generic]:
            new = np.zeros(shape, dtype=old.dtype)
            if old.size:
                new[: len(old)] = old
            return new

        self._alive = grown(self._alive, (rows,)).astype(bool, copy=False)
        self._always = grown(self._always, (rows,)).astype(bool, copy=False)
        self._positions = grown(self._positions, (rows,)).astype(np.int64, copy=False)
        self._vectors = grown(self._vectors, (rows, dimension)).astype(np.float32, copy=False)

    def _sweep(self) -> None:
        kept = sorted(self._row_of.values(), key=lambda row: self._positions[row])
        tools = [self._rows[row] for row in kept]
        positions = [int(self._positions[row]) for row in kept]
        self._clear()
        self._append(tools, positions)

    def candidates(self, queries: Sequence[Query], seen: Filter, limit: int) -> ToolCandidates:
        """See `ToolStore.candidates`."""
        with self._lock:
            mask = self._mask(seen)
            total = int(np.count_nonzero(mask))
            if not total:
                return ToolCandidates([], np.zeros((len(queries), 0)), 0, {})
            lexical, counts = self._lexical(queries, mask, total)
            cosines = self._cosines(queries)
            brought: dict[int, int] = {}
            for number, query in enumerate(queries):
                own = None if query.vector is None else cosines[number]
                for row in self._picked(query, mask, lexical[number], own, limit):
                    brought.setdefault(row, number)
            rows = np.fromiter(brought, dtype=np.int64, count=len(brought))
            rows = rows[np.argsort(self._positions[rows])]
            tools = [self._rows[row] for row in rows.tolist()]
            first = [brought[row] for row in rows.tolist()]
            found = map(
                ToolCandidate,
                [one.tool_id for one in tools],
                [one.content_hash for one in tools],
                self._positions[rows].tolist(),
                cosines[first, rows].tolist(),
                lexical[first, rows].tolist(),
            )
            return ToolCandidates(list(found), cosines[:, rows].astype(np.float64), total, counts)

    def _cosines(self, queries: Sequence[Query]) -> Vector:
        """(queries, rows): one product for all queries, so that the vectors are read once."""
        cosines = np.zeros((len(queries), len(self._rows)), dtype=np.float32)
        dense = [number for number, one in enumerate(queries) if one.vector is not None]
        vectors = [one.vector for one in queries if one.vector is not None]
        if vectors:
            cosines[dense] = np.stack(vectors) @ self._vectors[: len(self._rows)].T
        return cosines

    def _lexical(
        self, queries: Sequence[Query], mask: NDArray[np.bool_], total: int
    ) -> tuple[NDArray[np.float64], dict[str, int]]:
        """(queries, rows) BM25F, 0 for hidden rows, and how many visible tools have each term."""
        asking: dict[str, list[int]] = {}
        for number, query in enumerate(queries):
            for term in query.terms:
                asking.setdefault(term, []).append(number)
        held = {term: self._posting(term) for term in asking if term in self._postings}
        scores = np.zeros((len(queries), len(self._rows)))
        if not held:
            return scores, {}
        rows = np.concatenate([one for one, _ in held.values()])
        lengths = np.array([len(one) for one, _ in held.values()])
        starts = lengths.cumsum() - lengths
        visible = mask[rows]
        counts = np.add.reduceat(visible, starts, dtype=np.int64)
        gains = np.concatenate([one for _, one in held.values()])
        gains *= np.repeat(rarity(counts, total), lengths)
        gains *= visible
        pieces: list[list[slice]] = [[] for _ in queries]
        for term, start, length in zip(held, starts.tolist(), lengths.tolist(), strict=True):
            for number in asking[term]:
                pieces[number].append(slice(start, start + length))
        for number, own in enumerate(pieces):
            if len(own) == len(held):
                scores[number] = np.bincount(rows, gains, len(self._rows))
            elif own:
                those = np.concatenate([rows[one] for one in own])
                scores[number] = np.bincount(
                    those, np.concatenate([gains[one] for one in own]), len(self._rows)
                )
        found = zip(held, counts.tolist(), strict=True)
        return scores, {term: count for term, count in found if count}

    def _posting(self, term: str) -> _Posting:
        """As arrays, which are made when a term is first asked for since it last grew."""
        held = self._read.get(term)
        if held is None:
            rows, gains = self._postings[term]
            held = self._read[term] = np.array(rows, dtype=np.int64), np.array(gains)
        return held

    def _picked(
        self,
        query: Query,
        mask: NDArray[np.bool_],
        lexical: NDArray[np.float64],
        cosines: Vector | None,
        limit: int,
    ) -> set[int]:
        picked = set(self._best(lexical, (lexical > 0).nonzero()[0], limit))
        if cosines is not None:
            picked |= set(self._best(cosines, mask.nonzero()[0], limit))
        if not query.names:
            return picked
        for name in self._by_name.keys() & query.names:
            rows_of_name = self._rows_of(self._by_name[name])
            picked.update(row for row in rows_of_name if mask[row])
        for name in self._by_server_key.keys() & query.names:
            served = self._rows_of(self._by_server_key[name])
            rows = np.array([row for row in served if mask[row]], dtype=np.int64)
            scores = lexical if cosines is None else cosines
            picked |= set(self._best(scores, rows, limit))
        return picked

    def _best(self, scores: NDArray[np.floating], rows: NDArray[np.int64], limit: int) -> list[int]:
        """The first `limit` of the rows, in any order; ties go to the earlier position."""
        if len(rows) > limit:
            values = scores[rows]
            rows = rows[values >= np.partition(values, len(rows) - limit)[len(rows) - limit]]
        if len(rows) > limit:  # ties
            rows = rows[np.lexsort((self._positions[rows], -scores[rows]))[:limit]]
        best: list[int] = rows.tolist()
        return best

    def _mask(self, seen: Filter) -> NDArray[np.bool_]:
        """Rows that the filter lets through."""
        key = (seen.scopes, seen.always, seen.unchecked)
        mask = self._masks.get(key)
        if mask is None:
            if len(self._masks) > 256:
                self._masks.clear()
            mask = self._masks[key] = self._granted(seen) & self._alive[: len(self._rows)]
            if not seen.always:
                mask &= ~self._always[: len(self._rows)]
        if seen.allow is not None:
            confined = np.zeros_like(mask)
            rows = self._rows_of(seen.allow)
            confined[rows] = mask[rows]
            mask = confined
        if seen.exclude:
            mask = mask.copy()
            mask[self._rows_of(seen.exclude)] = False
        return mask

    def _rows_of(self, ids: Collection[str]) -> list[int]:
        return [self._row_of[one] for one in ids if one in self._row_of]

    def _granted(self, seen: Filter) -> NDArray[np.bool_]:
        if self._is_open(seen):
            return np.ones(len(self._rows), dtype=bool)
        scopes = seen.scopes or frozenset()
        granted = np.zeros(len(self._rows), dtype=bool)
        names = {name for scope, name in self._grants or () if scope in scopes}
        if "*" in names:
            granted[:] = True
            return granted
        granted[self._rows_of(names)] = True
        for name in names:
            if name.endswith("/*"):
                granted[self._rows_of(self._by_server.get(name[:-2], ()))] = True
        return granted

    def _is_open(self, seen: Filter) -> bool:
        return seen.unchecked or (seen.scopes is None and self._grants is None)

    def _sees(self, tool: ToolRow, seen: Filter) -> bool:
        if (tool.always and not seen.always) or tool.tool_id in seen.exclude:
            return False
        if seen.allow is not None and tool.tool_id not in seen.allow:
            return False
        if self._is_open(seen):
            return True
        scopes = seen.scopes or frozenset()
        keys = (tool.tool_id, f"{tool.server}/*", "*")
        return any(scope in scopes and one in keys for scope, one in self._grants or ())

    def definitions(self, ids: Collection[str], seen: Filter) -> dict[str, str]:
        """See `ToolStore.definitions`."""
        with self._lock:
            rows = [self._rows[self._row_of[one]] for one in ids if one in self._row_of]
            return {one.tool_id: one.definition for one in rows if self._sees(one, seen)}

    def named(self, name_key: str, seen: Filter) -> list[str]:
        """See `ToolStore.named`."""
        with self._lock:
            rows = [self._row_of[one] for one in self._by_name.get(name_key, ())]
            rows.sort(key=lambda row: self._positions[row])
            return [self._rows[row].tool_id for row in rows if self._sees(self._rows[row], seen)]

    def hashes(self) -> dict[str, str]:
        """See `ToolStore.hashes`."""
        with self._lock:
            rows = sorted(self._row_of.values(), key=lambda row: self._positions[row])
            return {self._rows[row].tool_id: self._rows[row].content_hash for row in rows}

    def vectors(self, hashes: Collection[str]) -> dict[str, Vector]:
        """See `ToolStore.vectors`."""
        wanted = set(hashes)
        with self._lock:
            rows = [self._rows[row] for row in self._row_of.values()]
            return {one.content_hash: one.vector for one in rows if one.content_hash in wanted}

    def grants(self) -> list[tuple[str, str]] | None:
        """See `ToolStore.grants`."""
        with self._lock:
            return None if self._grants is None else list(self._grants)

    def set_grants(
        self,
        grants: Collection[tuple[str, str]] | None,
        facts: Mapping[str, str] = NO_FACTS,
    ) -> None:
        """See `ToolStore.set_grants`."""
        with self._lock, self._writing_facts:
            rules = None if grants is None else sorted(set(grants))
            self._facts.update(dict(facts.items()))
            self._grants = rules
            self._masks.clear()

    def fact(self, name: str) -> str | None:
        """See `ToolStore.fact`."""
        return self._facts.get(name)

    def set_fact(self, name: str, content: str) -> None:
        """See `ToolStore.set_fact`."""
        with self._writing_facts:
            self._facts[name] = content

    def change_fact(self, name: str, change: Callable[[str | None], str]) -> None:
        """See `ToolStore.change_fact`."""
        with self._writing_facts:
            self._facts[name] = change(self._facts.get(name))

    def close(self) -> None:
        """Nothing is held open."""
