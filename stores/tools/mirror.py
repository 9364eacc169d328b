"""A file of tools with a copy in memory that answers: for the process that owns the file.

Nobody else can write the file, so the copy is what the file says. A search in it takes a
twentieth of what a query of the file took (docs/log.md).
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from stores.tools.duckdb_file import DuckToolStore
from stores.tools.memory import MemoryToolStore
from stores.tools.protocol import NO_FACTS, Filter, Query, ToolCandidates, ToolRow, Vector


class MirroredToolStore:
    """Changes go to the file first, in one transaction, then to the copy; reads ask the copy."""

    def __init__(self, kept: DuckToolStore) -> None:
        """Read all that the file holds.

        Raises:
            StoreUnavailable: The file cannot be read.
        """
        self._kept = kept
        self._copy = MemoryToolStore()
        self._write = threading.Lock()
        self._copy.apply(kept.rows())
        self._copy.set_grants(kept.grants())
        for name, content in kept.facts().items():
            self._copy.set_fact(name, content)

    def apply(self, changed: Sequence[ToolRow], removed: Collection[str] = ()) -> None:
        """See `ToolStore.apply`."""
        with self._write:
            self._kept.apply(changed, removed)
            self._copy.apply(changed, removed)

    def candidates(self, queries: Sequence[Query], seen: Filter, limit: int) -> ToolCandidates:
        """See `ToolStore.candidates`."""
        return self._copy.candidates(queries, seen, limit)

    def definitions(self, ids: Collection[str], seen: Filter) -> dict[str, str]:
        """See `ToolStore.definitions`."""
        return self._copy.definitions(ids, seen)

    def named(self, name_key: str, seen: Filter) -> list[str]:
        """See `ToolStore.named`."""
        return self._copy.named(name_key, seen)

    def hashes(self) -> dict[str, str]:
        """See `ToolStore.hashes`."""
        return self._copy.hashes()

    def vectors(self, hashes: Collection[str]) -> dict[str, Vector]:
        """See `ToolStore.vectors`."""
        return self._copy.vectors(hashes)

    def grants(self) -> list[tuple[str, str]] | None:
        """See `ToolStore.grants`."""
        return self._copy.grants()

    def set_grants(
        self,
        grants: Collection[tuple[str, str]] | None,
        facts: Mapping[str, str] = NO_FACTS,
    ) -> None:
        """See `ToolStore.set_grants`."""
        with self._write:
            self._kept.set_grants(grants, facts)
            self._copy.set_grants(grants, facts)

    def fact(self, name: str) -> str | None:
        """See `ToolStore.fact`."""
        return self._copy.fact(name)

    def set_fact(self, name: str, content: str) -> None:
        """See `ToolStore.set_fact`."""
        with self._write:
            self._kept.set_fact(name, content)
            self._copy.set_fact(name, content)

    def change_fact(self, name: str, change: Callable[[str | None], str]) -> None:
        """See `ToolStore.change_fact`."""
        with self._write:
            content = change(self._copy.fact(name))
            self._kept.set_fact(name, content)
            self._copy.set_fact(name, content)

    def close(self) -> None:
        """Close the file."""
        self._kept.close()
