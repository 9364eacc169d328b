"""Tools in PostgreSQL with pgvector: many processes read and write at once."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from stores.database import StoreUnavailable, first_line
from stores.tools.protocol import NO_FACTS, Filter, Query, ToolCandidates, ToolRow, Vector
from stores.tools.sql import CANDIDATES, VISIBLE, filter_values, joined, query_values

_NAME = "tool"
_ONE_AT_A_TIME = 7_203_441
"""Key of the advisory lock under which the tables are created."""
_SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS ctrag_tool_tools (
    position bigserial PRIMARY KEY, tool_id text UNIQUE NOT NULL, server text NOT NULL,
    name_key text NOT NULL, server_key text NOT NULL, content_hash text NOT NULL,
    definition text NOT NULL, always boolean NOT NULL, vector vector);
CREATE INDEX IF NOT EXISTS ctrag_tool_tools_name ON ctrag_tool_tools (name_key);
CREATE TABLE IF NOT EXISTS ctrag_tool_words (
    position bigint NOT NULL REFERENCES ctrag_tool_tools ON DELETE CASCADE,
    term text NOT NULL, weight double precision NOT NULL, PRIMARY KEY (term, position));
CREATE INDEX IF NOT EXISTS ctrag_tool_words_position ON ctrag_tool_words (position);
CREATE TABLE IF NOT EXISTS ctrag_tool_grants (
    scope text NOT NULL, tool text NOT NULL, PRIMARY KEY (scope, tool));
CREATE TABLE IF NOT EXISTS ctrag_tool_facts (name text PRIMARY KEY, content text NOT NULL);
"""

_PUT_FACT = """INSERT INTO ctrag_tool_facts VALUES (%s, %s)
ON CONFLICT (name) DO UPDATE SET content = excluded.content"""
_LOCK_FACTS = "LOCK TABLE ctrag_tool_facts IN SHARE ROW EXCLUSIVE MODE"
"""A row that does not exist cannot be locked. Readers do not wait for this lock."""


class PostgresToolStore:
    """Ranking happens inside one query, access rules with it; several servers share the database.

    Connections come from a small pool; one that died with its server is replaced on the next
    use, so that a restart of the database costs errors only while it is away.
    """

    def __init__(self, url: str, connections: int = 4) -> None:
        """Connect, and make the tables where they are missing.

        Raises:
            StoreUnavailable: The server cannot be reached, or has no pgvector.
            ModuleNotFoundError: psycopg is missing.
        """
        self._url = url
        self._free: list[Any] = []
        self._most = connections
        with self._connected() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [_ONE_AT_A_TIME])
            connection.execute(_SCHEMA)

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        import psycopg

        try:
            connection = self._take() or psycopg.connect(self._url, autocommit=True)
        except psycopg.Error as error:
            raise StoreUnavailable(_NAME, f"not reachable ({first_line(error)})") from error
        try:
            yield connection
        except psycopg.Error as error:
            connection.close()
            raise StoreUnavailable(_NAME, f"not readable ({first_line(error)})") from error
        finally:
            if not connection.closed and len(self._free) < self._most:
                self._free.append(connection)
            else:
                connection.close()

    def _take(self) -> Any | None:
        """A free connection that still answers, or None."""
        import psycopg

        while self._free:
            try:
                connection = self._free.pop()
            except IndexError:  # another thread was first
                return None
            try:
                connection.execute("")
            except psycopg.Error:
                connection.close()
                continue
            return connection
        return None

    def apply(self, changed: Sequence[ToolRow], removed: Collection[str] = ()) -> None:
        """See `ToolStore.apply`."""
        with self._connected() as connection, connection.transaction():
            connection.execute(
                "DELETE FROM ctrag_tool_tools WHERE tool_id = ANY(%s)",
                [list(set(removed) - {tool.tool_id for tool in changed})],
            )
            for tool in changed:
                [position] = connection.execute(
                    "INSERT INTO ctrag_tool_tools (tool_id, server, name_key, server_key, "
                    "content_hash, definition, always, vector) "
                    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s::vector) "
                    "ON CONFLICT (tool_id) DO UPDATE SET server = excluded.server, "
                    "name_key = excluded.name_key, server_key = excluded.server_key, "
                    "content_hash = excluded.content_hash, definition = excluded.definition, "
                    "always = excluded.always, vector = excluded.vector RETURNING position",
                    [
                        tool.tool_id,
                        tool.server,
                        tool.name_key,
                        tool.server_key,
                        tool.content_hash,
                        tool.definition,
                        tool.always,
                        _literal(tool.vector),
                    ],
                ).fetchone()
                connection.execute("DELETE FROM ctrag_tool_words WHERE position = %s", [position])
                connection.execute(
                    "INSERT INTO ctrag_tool_words "
                    "SELECT %s, * FROM unnest(%s::text[], %s::float8[])",
                    [position, list(tool.terms), list(tool.terms.values())],
                )

    def candidates(self, queries: Sequence[Query], seen: Filter, limit: int) -> ToolCandidates:
        """See `ToolStore.candidates`."""
        answers = []
        with self._connected() as connection:
            for query in queries:
                vector = None if query.vector is None else _literal(query.vector)
                asked = {**query_values(query, seen, limit), "vector": vector}
                answers.append(connection.execute(CANDIDATES, asked).fetchall())
        return joined(queries, answers, self.vectors)

    def definitions(self, ids: Collection[str], seen: Filter) -> dict[str, str]:
        """See `ToolStore.definitions`."""
        with self._connected() as connection:
            return dict(
                connection.execute(
                    "SELECT tool_id, definition FROM ctrag_tool_tools AS tools "
                    f"WHERE tool_id = ANY(%(ids)s) AND {VISIBLE}",
                    {"ids": list(ids), **filter_values(seen)},
                ).fetchall()
            )

    def named(self, name_key: str, seen: Filter) -> list[str]:
        """See `ToolStore.named`."""
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT tool_id FROM ctrag_tool_tools AS tools "
                f"WHERE name_key = %(name)s AND {VISIBLE} ORDER BY position",
                {"name": name_key, **filter_values(seen)},
            ).fetchall()
        return [row[0] for row in rows]

    def hashes(self) -> dict[str, str]:
        """See `ToolStore.hashes`."""
        with self._connected() as connection:
            return dict(
                connection.execute(
                    "SELECT tool_id, content_hash FROM ctrag_tool_tools ORDER BY position"
                ).fetchall()
            )

    def vectors(self, hashes: Collection[str]) -> dict[str, Vector]:
        """See `ToolStore.vectors`."""
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT content_hash, vector::text FROM ctrag_tool_tools "
                "WHERE content_hash = ANY(%s) AND vector IS NOT NULL",
                [list(hashes)],
            ).fetchall()
        return {one: np.fromstring(text[1:-1], dtype=np.float32, sep=",") for one, text in rows}

    def grants(self) -> list[tuple[str, str]] | None:
        """See `ToolStore.grants`."""
        with self._connected() as connection:
            governed = connection.execute(
                "SELECT 1 FROM ctrag_tool_facts WHERE name = 'governed'"
            ).fetchone()
            if not governed:
                return None
            found = connection.execute("SELECT scope, tool FROM ctrag_tool_grants").fetchall()
        return sorted((scope, tool) for scope, tool in found)

    def set_grants(
        self,
        grants: Collection[tuple[str, str]] | None,
        facts: Mapping[str, str] = NO_FACTS,
    ) -> None:
        """See `ToolStore.set_grants`."""
        with self._connected() as connection, connection.transaction():
            connection.execute(_LOCK_FACTS)
            connection.execute("DELETE FROM ctrag_tool_grants")
            connection.execute("DELETE FROM ctrag_tool_facts WHERE name = 'governed'")
            for one in facts.items():
                connection.execute(_PUT_FACT, one)
            if grants is None:
                return
            connection.execute("INSERT INTO ctrag_tool_facts VALUES ('governed', 'true')")
            rows = sorted(set(grants))
            connection.execute(
                "INSERT INTO ctrag_tool_grants SELECT * FROM unnest(%s::text[], %s::text[])",
                [[one for one, _ in rows], [one for _, one in rows]],
            )

    def fact(self, name: str) -> str | None:
        """See `ToolStore.fact`."""
        with self._connected() as connection:
            found = connection.execute(
                "SELECT content FROM ctrag_tool_facts WHERE name = %s", [name]
            ).fetchone()
        return None if found is None else str(found[0])

    def set_fact(self, name: str, content: str) -> None:
        """See `ToolStore.set_fact`."""
        with self._connected() as connection:
            connection.execute(_PUT_FACT, [name, content])

    def change_fact(self, name: str, change: Callable[[str | None], str]) -> None:
        """See `ToolStore.change_fact`."""
        with self._connected() as connection, connection.transaction():
            connection.execute(_LOCK_FACTS)
            found = connection.execute(
                "SELECT content FROM ctrag_tool_facts WHERE name = %s", [name]
            ).fetchone()
            connection.execute(_PUT_FACT, [name, change(None if found is None else str(found[0]))])

    def close(self) -> None:
        """Close all free connections."""
        while self._free:
            self._free.pop().close()


def _literal(vector: Vector) -> str | None:
    return "[" + ",".join(map(repr, vector.tolist())) + "]" if len(vector) else None
