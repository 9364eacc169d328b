"""The interface of all tool stores, whatever their database.

A store ranks by two measures only, cosine and BM25F, over what the caller may see; the candidates
it brings are ranked by others.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

NO_FACTS: Mapping[str, str] = MappingProxyType({})

SATURATION = 1.2
"""BM25's k1."""


def saturated(frequency: float) -> float:
    """BM25's saturated term frequency, as a share of its maximum, 0 to 1."""
    return frequency / (SATURATION + frequency)


def rarity(found: NDArray[np.floating] | float, total: int) -> NDArray[np.float64]:
    """BM25's IDF of terms that occur in `found` of `total` tools; never negative."""
    counted = np.asarray(found, dtype=np.float64)
    return np.asarray(np.log1p((total - counted + 0.5) / (counted + 0.5)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool as a store keeps it."""

    tool_id: str
    server: str
    name_key: str
    """The name's letters and digits, folded."""
    server_key: str
    content_hash: str
    definition: str
    """JSON of the whole tool; stores do not look inside."""
    always: bool
    """Bound in every session, so never searched."""
    terms: Mapping[str, float]
    """Term → weighted, length-normalised frequency."""
    vector: Vector
    """Unit length; empty where the index is lexical only."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search may see; every store turns it into a condition of its query."""

    scopes: frozenset[str] | None = None
    """Scopes of the caller, none for somebody unknown; None where the caller's side knows of no
    access rules. If the store has rules all the same, nothing is seen."""
    allow: frozenset[str] | None = None
    """Ids that an agent is confined to; None when it is not."""
    exclude: frozenset[str] = frozenset()
    always: bool = False
    """Whether always-available tools are seen too."""
    unchecked: bool = False
    """Ignore the access rules: for maintenance of the catalogue, never for a caller."""


@dataclass(frozen=True, slots=True)
class Query:
    """One reading of a request."""

    terms: Sequence[str]
    """Each once."""
    vector: Vector | None
    """Unit length; None for lexical search alone."""
    names: Collection[str] = ()
    """Folded words and runs of words: tools and servers of these names are candidates always."""


class ToolCandidate(NamedTuple):
    """A visible tool that one of the measures ranks high, or that the request names."""

    tool_id: str
    content_hash: str
    position: int
    """Grows with every tool that is added: breaks ties."""
    cosine: float
    """With the first query that finds it; likewise `lexical`."""
    lexical: float


@dataclass(frozen=True, slots=True)
class ToolCandidates:
    """A store's candidates for the queries of a request."""

    found: list[ToolCandidate]
    """The candidates of all queries, in the order of their positions."""
    cosines: NDArray[np.float64]
    """(queries, len(found)); 0 for queries without a vector."""
    total: int
    """Tools that the filter lets through."""
    counts: dict[str, int]
    """The queries' terms → how many of these have it; terms that none has are left out."""


class ToolStore(Protocol):
    """Tools with their vectors and words; safe to use from many threads."""

    def apply(self, changed: Sequence[ToolRow], removed: Collection[str] = ()) -> None:
        """Write and take out tools in one transaction; a known id keeps its position."""
        ...

    def candidates(self, queries: Sequence[Query], seen: Filter, limit: int) -> ToolCandidates:
        """For each query the first `limit` by each measure among what the filter lets through, and
        the named."""
        ...

    def definitions(self, ids: Collection[str], seen: Filter) -> dict[str, str]:
        """Id → definition of those that the filter lets through."""
        ...

    def named(self, name_key: str, seen: Filter) -> list[str]:
        """Ids of the visible tools of that folded name, in the order of their positions."""
        ...

    def hashes(self) -> dict[str, str]:
        """Id → content hash of all tools, in the order of their positions."""
        ...

    def vectors(self, hashes: Collection[str]) -> dict[str, Vector]:
        """Content hash → vector, of those that are there."""
        ...

    def grants(self) -> list[tuple[str, str]] | None:
        """(scope, tool) of all grants; None where the catalogue has no access rules."""
        ...

    def set_grants(
        self,
        grants: Collection[tuple[str, str]] | None,
        facts: Mapping[str, str] = NO_FACTS,
    ) -> None:
        """Put these grants in the place of all others, and write facts, in one transaction.

        Args:
            grants: (scope, tool pattern); None opens the catalogue to everybody.
            facts: What belongs to the rules, by name.
        """
        ...

    def fact(self, name: str) -> str | None:
        """What was written under a name; None when nothing was."""
        ...

    def set_fact(self, name: str, content: str) -> None:
        """Write something that is neither tool nor grant, such as who has which role."""
        ...

    def change_fact(self, name: str, change: Callable[[str | None], str]) -> None:
        """Write what `change` makes of what was written, None for nothing, in one transaction.

        Concurrent writes of facts, in this process or another, come before or after. `change`
        must not write to the store.
        """
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...
