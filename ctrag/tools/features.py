"""What is known of candidate tools for the readings of a request: rows of numbers.

A reading is the whole request or one of its parts. Nothing in a row depends on tools that the
caller may not see. All readings and candidates are measured at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ctrag.context.words import terms
from ctrag.tools.fields import FIELD_WEIGHTS, GRAM_CODES, PARAMETERS, ToolTerms, gram_codes
from stores.tool_rows import SATURATION, rarity

Rows = NDArray[np.float64]

FEATURES = (
    "cosine",
    "cosine_gap",
    "bm25",
    "bm25_share",
    "bm25_sum",
    "parameters",
    "name_covered",
    "name_pairs",
    "name_trigrams",
    "asked_covered",
    "tool_covered",
    "cosine_by_bm25",
    "best_cosine",
    "best_bm25_share",
)
"""Cosine and its distance from the best; BM25F as a share of what a perfect tool would get, of the
best candidate, and as it is (in tens); the share of the parameters alone; how much of the name the
reading says, by words, by pairs of neighbouring words and by trigrams of letters; how much of the
reading the tool says, and of the tool the reading; the product of the two measures; and the two
measures' best over all readings of the request, which in readings of a part are their own."""
_COSINE, _SHARE = FEATURES.index("cosine"), FEATURES.index("bm25_share")
_TENS = 10.0
_PRIOR_TERMS = 3.0
"""Terms that every tool is taken to have beside its own: a short description is no proof."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of one reading."""

    terms: tuple[str, ...]
    """Each once, in order."""
    pairs: frozenset[tuple[str, str]]
    """Terms that stand side by side."""
    grams: NDArray[np.int64]

    @classmethod
    def of(cls, text: str) -> "Asked":
        """The words of a text."""
        found = terms(text)
        pairs = frozenset(pairwise(found))
        return cls(tuple(dict.fromkeys(found)), pairs, gram_codes(text))


def rarities(counts: Mapping[str, int], total: int) -> dict[str, float]:
    """Terms' IDF, from how many of `total` tools have each."""
    idf = rarity(np.fromiter(counts.values(), dtype=np.float64, count=len(counts)), total)
    return dict(zip(counts, idf.tolist(), strict=True))


def feature_rows(
    cosines: NDArray[np.floating],
    tools: Sequence[ToolTerms],
    asked: Sequence[Asked],
    idf: Mapping[str, float],
    rarest: float,
) -> Rows:
    """(readings, candidates, features) in the order of `FEATURES`.

    Args:
        cosines: (readings, candidates).
        tools: The candidates' terms; at least one.
        asked: The readings' words, the whole request first.
        idf: The readings' terms, each with its IDF; terms that no tool has are left out.
        rarest: IDF of a term that no tool has: what the other words of a name weigh.
    """
    near: Rows = np.asarray(cosines, dtype=np.float64)
    measured: dict[str, Rows] = {
        "cosine": near,
        "cosine_gap": near - near.max(axis=1, keepdims=True),
        **_by_terms(tools, asked, idf, rarest),
        "name_pairs": _name_pairs(tools, asked),
        "name_trigrams": _name_trigrams(tools, asked),
    }
    most = np.maximum(measured["bm25"].max(axis=1, keepdims=True), 1e-9)
    measured["bm25_share"] = measured["bm25"] / most
    measured["cosine_by_bm25"] = near * measured["bm25_share"]
    measured["best_cosine"] = _best(measured["cosine"])
    measured["best_bm25_share"] = _best(measured["bm25_share"])
    return np.stack([measured[name] for name in FEATURES], axis=-1)


def _best(values: Rows) -> Rows:
    """The values, with the whole request's replaced by the best of all readings."""
    return np.vstack([values.max(axis=0, keepdims=True), values[1:]])


def _by_terms(
    tools: Sequence[ToolTerms], asked: Sequence[Asked], idf: Mapping[str, float], rarest: float
) -> dict[str, Rows]:
    """The measures that compare terms: products of readings × terms and terms × candidates."""
    column = {term: number for number, term in enumerate(idf)}
    rare = np.zeros((len(asked), len(column)))
    for reading, one in enumerate(asked):
        for term in one.terms:
            if term in column:
                rare[reading, column[term]] = idf[term]
    weights, named = _held(tools, column)
    counts = weights @ np.array(FIELD_WEIGHTS)
    in_parameters = weights[:, :, PARAMETERS]
    asks = (rare > 0).astype(np.float64)
    has = (counts > 0).astype(np.float64)
    most = np.maximum(rare.sum(axis=1, keepdims=True), 1e-9)
    whole = rare @ (counts / (SATURATION + counts)).T
    said = rare @ named.T
    names = np.array([len(tool.name) for tool in tools])
    unsaid = rarest * (names - asks @ named.T)
    lengths = np.array([len(tool.weights) for tool in tools])
    return {
        "bm25": whole / most,
        "bm25_sum": whole / _TENS,
        "parameters": rare @ (in_parameters / (SATURATION + in_parameters)).T / most,
        "name_covered": said / np.maximum(said + unsaid, 1e-9),
        "asked_covered": rare @ has.T / most,
        "tool_covered": asks @ has.T / (_PRIOR_TERMS + lengths),
    }


def _held(tools: Sequence[ToolTerms], column: Mapping[str, int]) -> tuple[Rows, Rows]:
    """(candidates, terms, fields) frequencies of the asked terms, and (candidates, terms) 1 where
    one stands in the name."""
    places: list[tuple[int, int]] = []
    values: list[tuple[float, float, float]] = []
    named = np.zeros((len(tools), len(column)))
    for row, tool in enumerate(tools):
        for term in tool.weights.keys() & column.keys():
            places.append((row, column[term]))
            values.append(tool.weights[term])
        for term in tool.name:
            if term in column:
                named[row, column[term]] = 1.0
    weights = np.zeros((len(tools), len(column), len(FIELD_WEIGHTS)))
    if places:
        rows, columns = np.array(places).T
        weights[rows, columns] = values
    return weights, named


def _name_pairs(tools: Sequence[ToolTerms], asked: Sequence[Asked]) -> Rows:
    found = np.zeros((len(asked), len(tools)))
    every = frozenset[tuple[str, str]]().union(*(one.pairs for one in asked))
    for column, tool in enumerate(tools):
        for pair in tool.pairs:
            if pair in every:
                found[:, column] += [pair in one.pairs for one in asked]
    return np.asarray(found / [max(len(tool.pairs), 1) for tool in tools])


def _name_trigrams(tools: Sequence[ToolTerms], asked: Sequence[Asked]) -> Rows:
    said = np.zeros((len(asked), GRAM_CODES), dtype=bool)
    for reading, one in enumerate(asked):
        said[reading, one.grams] = True
    lengths = np.array([len(tool.grams) for tool in tools])
    ends = np.cumsum(lengths)
    sums = np.zeros((len(asked), int(ends[-1]) + 1))
    found = said[:, np.concatenate([tool.grams for tool in tools])]
    np.cumsum(found, axis=1, dtype=np.float64, out=sums[:, 1:])
    return np.asarray((sums[:, ends] - sums[:, ends - lengths]) / np.maximum(lengths, 1))
