"""Tools in a DuckDB file, which one serving process owns."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import numpy as np

from stores.database import StoreUnavailable, first_line
from stores.tool_rows import NO_FACTS, Candidates, Filter, Query, ToolRow, Vector
from stores.tool_sql import (
    Dialect,
    candidates_query,
    filter_values,
    joined,
    query_values,
    visible,
)

_NAME = "tool"
_SCHEMA = (
    "CREATE SEQUENCE positions MINVALUE 0 START 0",
    "CREATE TABLE tools (tool_id VARCHAR PRIMARY KEY, position BIGINT NOT NULL, "
    "server VARCHAR NOT NULL, name_key VARCHAR NOT NULL, server_key VARCHAR NOT NULL, "
    "content_hash VARCHAR NOT NULL, definition VARCHAR NOT NULL, always BOOLEAN NOT NULL, "
    "vector FLOAT[])",
    "CREATE TABLE words (position BIGINT NOT NULL, term VARCHAR NOT NULL, weight DOUBLE NOT NULL)",
    "CREATE TABLE grants (scope VARCHAR NOT NULL, tool VARCHAR NOT NULL)",
    "CREATE TABLE facts (name VARCHAR PRIMARY KEY, content VARCHAR NOT NULL)",
)

_SQL = Dialect(
    parameter=lambda name: f"${name}",
    among=lambda column, name: f"list_contains(${name}, {column})",
    prefix="",
    cosine="list_inner_product(vector, $vector::FLOAT[])",
    counts="map(list(term), list(tools))",
)
_VISIBLE, _CANDIDATES = visible(_SQL), candidates_query(_SQL)


class DuckToolStore:
    """Vectors and words in one file; ranking happens inside one query, access rules with it.

    The file stays open: a second process that wants it is told who has it. Reads take a cursor
    each and see the last committed state.
    """

    def __init__(self, path: Path | str) -> None:
        """Open the file, or make it; `:memory:` keeps it nowhere.

        Raises:
            StoreUnavailable: Another process owns the file, or it is no store of tools.
        """
        self._write = threading.Lock()
        try:
            self._connection = duckdb.connect(str(path), config={"threads": 1})
        except duckdb.Error as error:
            raise StoreUnavailable(_NAME, _why(error, path)) from error
        try:
            self._prepare()
        except duckdb.Error as error:
            self._connection.close()
            raise StoreUnavailable(_NAME, f"damaged ({first_line(error)})") from error

    def _prepare(self) -> None:
        tables = self._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        if ("tools",) in tables:
            return
        self._connection.begin()
        for statement in _SCHEMA:
            self._connection.execute(statement)
        self._connection.commit()

    @contextmanager
    def _reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        try:
            cursor = self._connection.cursor()
        except duckdb.Error as error:
            raise StoreUnavailable(_NAME, f"closed ({first_line(error)})") from error
        try:
            yield cursor
        except duckdb.Error as error:
            raise StoreUnavailable(_NAME, f"not readable ({first_line(error)})") from error
        finally:
            cursor.close()

    @contextmanager
    def _writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._write, self._reading() as cursor:
            cursor.begin()
            try:
                yield cursor
                cursor.commit()
            except BaseException:
                with suppress(duckdb.Error):
                    cursor.rollback()
                raise

    def apply(self, changed: Sequence[ToolRow], removed: Collection[str] = ()) -> None:
        """See `ToolStore.apply`."""
        with self._writing() as cursor:
            gone = [*removed, *(tool.tool_id for tool in changed)]
            held = dict(
                cursor.execute(
                    "SELECT tool_id, position FROM tools WHERE list_contains($gone, tool_id)",
                    {"gone": gone},
                ).fetchall()
            )
            places = {"places": list(held.values())}
            cursor.execute("DELETE FROM words WHERE list_contains($places, position)", places)
            cursor.execute(
                "DELETE FROM tools WHERE list_contains($gone, tool_id) "
                "AND NOT list_contains($kept, tool_id)",
                {"gone": gone, "kept": [tool.tool_id for tool in changed]},
            )
            self._insert(cursor, changed, held)

    @staticmethod
    def _insert(
        cursor: duckdb.DuckDBPyConnection, changed: Sequence[ToolRow], held: dict[str, int]
    ) -> None:
        if not changed:
            return
        new = sum(tool.tool_id not in held for tool in changed)
        fresh = iter(cursor.execute("SELECT nextval('positions') FROM range(?)", [new]).fetchall())
        positions = [
            held[tool.tool_id] if tool.tool_id in held else next(fresh)[0] for tool in changed
        ]
        columns = {
            "ids": [tool.tool_id for tool in changed],
            "positions": positions,
            "servers": [tool.server for tool in changed],
            "names": [tool.name_key for tool in changed],
            "server_keys": [tool.server_key for tool in changed],
            "hashes": [tool.content_hash for tool in changed],
            "definitions": [tool.definition for tool in changed],
            "always": [tool.always for tool in changed],
            "vectors": [tool.vector.tolist() for tool in changed],
        }
        cursor.execute(
            "INSERT OR REPLACE INTO tools SELECT unnest($ids), unnest($positions), "
            "unnest($servers), unnest($names), unnest($server_keys), unnest($hashes), "
            "unnest($definitions), unnest($always), unnest($vectors::FLOAT[][])",
            columns,
        )
        words = [
            (position, term, weight)
            for position, tool in zip(positions, changed, strict=True)
            for term, weight in tool.terms.items()
        ]
        if words:
            places, terms, weights = (list(column) for column in zip(*words, strict=True))
            cursor.execute(
                "INSERT INTO words SELECT unnest($places), unnest($terms), unnest($weights)",
                {"places": places, "terms": terms, "weights": weights},
            )

    def candidates(self, queries: Sequence[Query], seen: Filter, limit: int) -> Candidates:
        """See `ToolStore.candidates`."""
        answers = []
        with self._reading() as cursor:
            for query in queries:
                vector = None if query.vector is None else query.vector.tolist()
                asked = {**query_values(query, seen, limit), "vector": vector}
                answers.append(cursor.execute(_CANDIDATES, asked).fetchall())
        return joined(queries, answers, self.vectors)

    def definitions(self, ids: Collection[str], seen: Filter) -> dict[str, str]:
        """See `ToolStore.definitions`."""
        with self._reading() as cursor:
            rows = cursor.execute(
                "SELECT tool_id, definition FROM tools "
                f"WHERE list_contains($ids, tool_id) AND {_VISIBLE}",
                {"ids": list(ids), **filter_values(seen)},
            ).fetchall()
        return dict(rows)

    def named(self, name_key: str, seen: Filter) -> list[str]:
        """See `ToolStore.named`."""
        with self._reading() as cursor:
            rows = cursor.execute(
                "SELECT tool_id FROM tools "
                f"WHERE name_key = $name AND {_VISIBLE} ORDER BY position",
                {"name": name_key, **filter_values(seen)},
            ).fetchall()
        return [row[0] for row in rows]

    def hashes(self) -> dict[str, str]:
        """See `ToolStore.hashes`."""
        with self._reading() as cursor:
            return dict(
                cursor.execute(
                    "SELECT tool_id, content_hash FROM tools ORDER BY position"
                ).fetchall()
            )

    def vectors(self, hashes: Collection[str]) -> dict[str, Vector]:
        """See `ToolStore.vectors`."""
        with self._reading() as cursor:
            rows = cursor.execute(
                "SELECT content_hash, vector FROM tools WHERE list_contains($hashes, content_hash)",
                {"hashes": list(hashes)},
            ).fetchall()
        return {one: np.array(vector, dtype=np.float32) for one, vector in rows}

    def rows(self) -> list[ToolRow]:
        """All tools as they were written, in the order of their positions."""
        with self._reading() as cursor:
            terms: dict[int, dict[str, float]] = {}
            words = cursor.execute("SELECT position, term, weight FROM words").fetchall()
            for position, term, weight in words:
                terms.setdefault(position, {})[term] = weight
            tools = cursor.execute(
                "SELECT position, tool_id, server, name_key, server_key, content_hash, definition, "
                "always, vector FROM tools ORDER BY position"
            ).fetchall()
        found = []
        for position, *texts, always, vector in tools:
            tool_id, server, name_key, server_key, content_hash, definition = texts
            held = np.array(vector or (), dtype=np.float32)
            own = terms.get(position, {})
            found.append(
                ToolRow(
                    tool_id,
                    server,
                    name_key,
                    server_key,
                    content_hash,
                    definition,
                    always,
                    own,
                    held,
                )
            )
        return found

    def facts(self) -> dict[str, str]:
        """All that `set_fact` wrote."""
        with self._reading() as cursor:
            return dict(
                cursor.execute(
                    "SELECT name, content FROM facts WHERE name <> 'governed'"
                ).fetchall()
            )

    def grants(self) -> list[tuple[str, str]] | None:
        """See `ToolStore.grants`."""
        with self._reading() as cursor:
            if not cursor.execute("SELECT 1 FROM facts WHERE name = 'governed'").fetchone():
                return None
            found = cursor.execute("SELECT scope, tool FROM grants ORDER BY scope, tool").fetchall()
        return [(scope, tool) for scope, tool in found]

    def set_grants(
        self,
        grants: Collection[tuple[str, str]] | None,
        facts: Mapping[str, str] = NO_FACTS,
    ) -> None:
        """See `ToolStore.set_grants`."""
        with self._writing() as cursor:
            cursor.execute("DELETE FROM grants")
            cursor.execute("DELETE FROM facts WHERE name = 'governed'")
            for one in facts.items():
                cursor.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", list(one))
            if grants is None:
                return
            cursor.execute("INSERT INTO facts VALUES ('governed', 'true')")
            rows = sorted(set(grants))
            cursor.execute(
                "INSERT INTO grants SELECT unnest($scopes), unnest($tools)",
                {"scopes": [one for one, _ in rows], "tools": [one for _, one in rows]},
            )

    def fact(self, name: str) -> str | None:
        """See `ToolStore.fact`."""
        with self._reading() as cursor:
            found = cursor.execute("SELECT content FROM facts WHERE name = ?", [name]).fetchone()
        return None if found is None else str(found[0])

    def set_fact(self, name: str, content: str) -> None:
        """See `ToolStore.set_fact`."""
        with self._writing() as cursor:
            cursor.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", [name, content])

    def change_fact(self, name: str, change: Callable[[str | None], str]) -> None:
        """See `ToolStore.change_fact`."""
        with self._writing() as cursor:
            found = cursor.execute("SELECT content FROM facts WHERE name = ?", [name]).fetchone()
            content = change(None if found is None else str(found[0]))
            cursor.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", [name, content])

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _why(error: duckdb.Error, path: Path | str) -> str:
    if any(sign in str(error) for sign in ("Could not set lock", "different configuration")):
        return f"owned by another process; search through its server, or stop it first ({path})"
    return f"damaged or not readable ({first_line(error)})"
