"""The queries of tools in PostgreSQL, with named values as psycopg takes them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from stores.tools.protocol import SATURATION, Filter, Query, ToolCandidate, ToolCandidates, Vector

VISIBLE = """
    (NOT tools.always OR %(always)s)
    AND (%(unchecked)s
        OR (%(open)s
            AND NOT EXISTS (SELECT 1 FROM ctrag_tool_facts WHERE name = 'governed'))
        OR EXISTS (
            SELECT 1 FROM ctrag_tool_grants AS grants
            WHERE grants.scope = ANY(%(scopes)s)
            AND grants.tool IN (tools.tool_id, tools.server || '/*', '*')))
    AND (%(free)s OR tools.tool_id = ANY(%(allow)s))
    AND NOT tools.tool_id = ANY(%(exclude)s)
"""
"""The condition that every query of tools has: what a `Filter` lets through."""

CANDIDATES = f"""
WITH visible AS MATERIALIZED (
    SELECT position, tool_id, content_hash, name_key, server_key,
        CASE WHEN %(dense)s THEN -(vector <#> %(vector)s::vector) ELSE 0 END AS cosine
    FROM ctrag_tool_tools AS tools WHERE {VISIBLE}
),
total AS (SELECT count(*) AS tools FROM visible),
asked AS MATERIALIZED (
    SELECT words.position, words.term, words.weight
    FROM ctrag_tool_words AS words JOIN visible USING (position)
    WHERE words.term = ANY(%(terms)s)
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
            ORDER BY CASE WHEN %(dense)s THEN cosine ELSE lexical END DESC, position)
            AS by_server
    FROM scored
)
SELECT tool_id, content_hash, position, cosine, lexical,
    (SELECT tools FROM total), (SELECT json_object_agg(term, tools) FROM rare)
FROM ranked
WHERE (%(dense)s AND by_cosine <= %(limit)s)
    OR (lexical > 0 AND by_lexical <= %(limit)s)
    OR name_key = ANY(%(names)s)
    OR (by_server <= %(limit)s AND server_key = ANY(%(names)s))
ORDER BY position
"""
"""The first by cosine and by BM25F among the visible, and the named."""


def filter_values(seen: Filter) -> dict[str, Any]:
    """The values of `VISIBLE`."""
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
    """The values of `CANDIDATES` but for `vector`."""
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
) -> ToolCandidates:
    """The candidates from the rows of `CANDIDATES`, over all queries of a request.

    Args:
        queries: What was asked.
        answers: The rows of each.
        vectors: Content hash → vector: a query's cosine of what another one brought.
    """
    brought: dict[str, ToolCandidate] = {}
    counts: dict[str, int] = {}
    for rows in answers:
        for row in rows:
            brought.setdefault(row[0], ToolCandidate(*row[:5]))
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
    return ToolCandidates(found, cosines, total, counts)
