"""Tools in a DuckDB file, which one serving process owns."""

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import numpy as np

from stores.database import StoreUnavailable, first_line
from stores.tools.protocol import NO_FACTS, ToolRow

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


class DuckToolStore:
    """What survives of a tool store in one file; `MirroredToolStore` searches its copy in memory.

    The file stays open: a second process that opens it gets an error that names the owner. Reads
    take a cursor each and see the last committed state.
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
            keys = (tool_id, server, name_key, server_key, content_hash)
            own = terms.get(position, {})
            found.append(ToolRow(*keys, definition, always, own, held))
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

    def set_fact(self, name: str, content: str) -> None:
        """See `ToolStore.set_fact`."""
        with self._writing() as cursor:
            cursor.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", [name, content])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _why(error: duckdb.Error, path: Path | str) -> str:
    if any(part in str(error) for part in ("Could not set lock", "different configuration")):
        return f"owned by another process; search through its server, or stop it first ({path})"
    return f"damaged or not readable ({first_line(error)})"
