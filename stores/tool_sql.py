"""The queries of tools that DuckDB and PostgreSQL share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stores.tool_rows import SATURATION, Candidate, Candidates, Filter, Query, Vector


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one database spells its own way."""

    parameter: Callable[[str], str]
    """How a named value stands in a query."""
    among: Callable[[str, str], str]
    """Whether a column's value is in a list of values: column, name of the list."""
    prefix: str
    """Of the tables `tools`, `words`, `grants` and `facts`."""
    cosine: str
    """Of `tools.vector` and the value `vector`, both of unit length."""
    counts: str
    """Terms and how many tools have each, out of `rare`, as one value."""


def visible(sql: Dialect) -> str:
    """The condition that every query of tools has: what a `Filter` lets through."""
    given = sql.parameter
    return f"""
    (NOT tools.always OR {given("always")})
    AND ({given("unchecked")}
        OR ({given("open")}
            AND NOT EXISTS (SELECT 1 FROM {sql.prefix}facts WHERE name = 'governed'))
        OR EXISTS (
            SELECT 1 FROM {sql.prefix}grants AS grants
            WHERE {sql.among("grants.scope", "scopes")}
            AND grants.tool IN (tools.tool_id, tools.server || '/*', '*')))
    AND ({given("free")} OR {sql.among("tools.tool_id", "allow")})
    AND NOT {sql.among("tools.tool_id", "exclude")}
"""


def candidates_query(sql: Dialect) -> str:
    """The first by cosine and by BM25F among the visible, and the named."""
    given = sql.parameter
    return f"""
WITH visible AS MATERIALIZED (
    SELECT position, tool_id, content_hash, name_key, server_key,
        CASE WHEN {given("dense")} THEN {sql.cosine} ELSE 0 END AS cosine
    FROM {sql.prefix}tools AS tools WHERE {visible(sql)}
),
total AS (SELECT count(*) AS tools FROM visible),
asked AS MATERIALIZED (
    SELECT words.position, words.term, words.weight
    FROM {sql.prefix}words AS words JOIN visible USING (position)
    WHERE {sql.among("words.term", "terms")}
),
rare AS MATERIALIZED (
    SELECT term, count(*) AS tools, ln(1 + (total.tools - count(*) + 0.5) / (count(*) + 0.5)) AS idf
    FROM asked, total GROUP BY term, total.tools
),
lexical AS (
    SELECT position, sum(idf * weight / ({SATURATION} + weight)) AS score
    FROM asked JOIN rare USING (term) GROUP BY position
),
scored AS (
    SELECT visible.*, coalesce(lexical.score, 0) AS lexical
    FROM visible LEFT JOIN lexical USING (position)
),
ranked AS (
    SELECT *,
        row_number() OVER (ORDER BY cosine DESC, position) AS by_cosine,
        row_number() OVER (ORDER BY lexical DESC, position) AS by_lexical,
        row_number() OVER (PARTITION BY server_key
            ORDER BY CASE WHEN {given("dense")} THEN cosine ELSE lexical END DESC, position)
            AS by_server
    FROM scored
)
SELECT tool_id, content_hash, position, cosine, lexical,
    (SELECT tools FROM total), (SELECT {sql.counts} FROM rare)
FROM ranked
WHERE ({given("dense")} AND by_cosine <= {given("limit")})
    OR (lexical > 0 AND by_lexical <= {given("limit")})
    OR {sql.among("name_key", "names")}
    OR (by_server <= {given("limit")} AND {sql.among("server_key", "names")})
ORDER BY position
"""


def filter_values(seen: Filter) -> dict[str, Any]:
    """The values of `visible`."""
    return {
        "always": seen.always,
        "open": seen.scopes is None,
        "unchecked": seen.unchecked,
        "scopes": sorted(seen.scopes or ()),
        "free": seen.allow is None,
        "allow": sorted(seen.allow or ()),
        "exclude": sorted(seen.exclude),
    }


def query_values(query: Query, seen: Filter, limit: int) -> dict[str, Any]:
    """The values of `candidates_query` but for `vector`."""
    return {
        **filter_values(seen),
        "terms": list(query.terms),
        "dense": query.vector is not None,
        "limit": limit,
        "names": list(query.names),
    }


def joined(
    queries: Sequence[Query],
    answers: Sequence[Sequence[Sequence[Any]]],
    vectors: Callable[[Collection[str]], Mapping[str, Vector]],
) -> Candidates:
    """What the rows of `candidates_query` say, over all queries of a request.

    Args:
        queries: What was asked.
        answers: The rows of each.
        vectors: Content hash → vector: a query's cosine of what another one brought.
    """
    brought: dict[str, Candidate] = {}
    counts: dict[str, int] = {}
    for rows in answers:
        for row in rows:
            brought.setdefault(row[0], Candidate(*row[:5]))
        counts.update(rows[0][6] or {} if rows else {})
    found = sorted(brought.values(), key=lambda one: one.position)
    total = max((rows[0][5] for rows in answers if rows), default=0)
    cosines = np.zeros((len(queries), len(found)))
    if len(queries) == 1:
        cosines[0] = [one.cosine for one in found]
    elif any(one.vector is not None for one in queries):
        held = vectors([one.content_hash for one in found])
        for place, one in enumerate(found):
            for number, query in enumerate(queries):
                if query.vector is not None and one.content_hash in held:
                    cosines[number, place] = held[one.content_hash] @ query.vector
    return Candidates(found, cosines, total, counts)
