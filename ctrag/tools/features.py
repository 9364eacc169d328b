"""What is known of a candidate tool for one reading of a request: a row of numbers.

A reading is the whole request or one of its parts. Nothing in a row depends on tools that the
caller may not see.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ctrag.tools.fields import FIELD_WEIGHTS, ToolTerms
from stores.tool_rows import SATURATION, rarity

Rows = NDArray[np.float64]

FEATURES = (
    "cosine",
    "cosine_gap",
    "bm25",
    "bm25_share",
    "name",
    "description",
    "parameters",
    "name_covered",
    "tool_covered",
    "cosine_by_bm25",
    "best_cosine",
    "best_bm25_share",
)
"""Cosine and its distance from the best; BM25F as a share of what a perfect tool would get and of
the best candidate; the same field by field; how much of the name, and of all the tool's terms, the
reading says; the product of the two measures; and the two measures' best over all readings of the
request, which in readings of a part are their own."""
_COSINE, _GAP, _BM25, _SHARE = range(4)


def rarities(counts: Mapping[str, int], total: int) -> dict[str, float]:
    """Terms' IDF, from how many of `total` tools have each."""
    idf = rarity(np.fromiter(counts.values(), dtype=np.float64, count=len(counts)), total)
    return dict(zip(counts, idf.tolist(), strict=True))


def feature_rows(
    cosines: NDArray[np.floating],
    tools: Sequence[ToolTerms],
    idf: Mapping[str, float],
    rarest: float,
) -> Rows:
    """(candidates, features) in the order of `FEATURES`.

    Args:
        cosines: One per candidate; at least one.
        tools: The candidates' terms.
        idf: The reading's terms, each with its IDF; terms that no tool has are left out.
        rarest: IDF of a term that no tool has: what the other words of a name weigh.
    """
    asked = max(sum(idf.values()), 1e-9)
    rows = np.zeros((len(tools), len(FEATURES)))
    for row, tool in enumerate(tools):
        rows[row, _BM25:9] = _lexical(tool, idf, rarest, asked)
    rows[:, _COSINE] = cosines
    rows[:, _GAP] = cosines - cosines.max()
    rows[:, _SHARE] /= max(float(rows[:, _SHARE].max()), 1e-9)
    rows[:, 9] = rows[:, _COSINE] * rows[:, _SHARE]
    rows[:, 10] = rows[:, _COSINE]
    rows[:, 11] = rows[:, _SHARE]
    return rows


def _lexical(
    tool: ToolTerms, idf: Mapping[str, float], rarest: float, asked: float
) -> tuple[float, ...]:
    in_name, in_description, in_parameters = FIELD_WEIGHTS
    whole = name = description = parameters = 0.0
    shared = 0
    for term, rare in idf.items():
        one = tool.weights.get(term)
        if one is None:
            continue
        shared += 1
        count = in_name * one[0] + in_description * one[1] + in_parameters * one[2]
        whole += rare * count / (SATURATION + count)
        name += rare * one[0] / (SATURATION + one[0])
        description += rare * one[1] / (SATURATION + one[1])
        parameters += rare * one[2] / (SATURATION + one[2])
    said = sum(idf.get(term, 0.0) for term in tool.name)
    whole_name = sum(idf.get(term, rarest) for term in tool.name)
    return (
        whole / asked,
        whole,
        name / asked,
        description / asked,
        parameters / asked,
        said / whole_name if whole_name else 0.0,
        shared / (3.0 + len(tool.weights)),
    )
