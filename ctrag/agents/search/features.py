"""Features of candidate tools for the readings of a request.

A reading is the whole request or one of its parts. No row depends on tools that the caller
may not see. All readings and candidates are measured at once.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.search.fields import NO_GRAM, VOCABULARY, ToolTerms, gram_codes
from ctrag.text.words import stems, telling_words
from stores.tools.protocol import rarity

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
"""Cosine and its distance from the best; BM25F as a share of a perfect tool's, of the best
candidate's, and raw (in tens); the share of the parameters alone; how much of the name the reading
covers, by words, by pairs of adjacent words and by letter trigrams; how much of the reading the
tool covers, and of the tool the reading; the product of the two measures; and the best of each over
all readings, which for a part's reading is its own."""
_NUMBER, _IN_NAME = 0, 3
"""Columns of `ToolTerms.table`."""
_COSINE, _SHARE = FEATURES.index("cosine"), FEATURES.index("bm25_share")
_TENS = 10.0
_PRIOR_TERMS = 3.0
"""Smoothing: added to each tool's number of terms, so that short descriptions are not favoured."""


@dataclass(frozen=True, slots=True)
class ReadingWords:
    """The words of one reading."""

    terms: tuple[str, ...]
    """Each once, in order."""
    pairs: frozenset[tuple[str, str]]
    """Adjacent terms."""
    grams: NDArray[np.uint32]
    """Trigrams of the letters, as `gram_codes` numbers them."""

    @classmethod
    def of(cls, text: str) -> "ReadingWords":
        """The words of a text."""
        tokens = telling_words(text)
        found = stems(tokens)
        return cls(tuple(dict.fromkeys(found)), frozenset(pairwise(found)), gram_codes(tokens))


def rarities(counts: Mapping[str, int], total: int) -> dict[str, float]:
    """IDF of terms, from the number of `total` tools that have each."""
    idf = rarity(np.fromiter(counts.values(), dtype=np.float64, count=len(counts)), total)
    return dict(zip(counts, idf.tolist(), strict=True))


def feature_rows(
    cosines: NDArray[np.floating],
    tools: Sequence[ToolTerms],
    asked: Sequence[ReadingWords],
    idf: Mapping[str, float],
    rarest: float,
) -> Rows:
    """(readings, candidates, features) in the order of `FEATURES`.

    Args:
        cosines: (readings, candidates).
        tools: The candidates' terms; at least one.
        asked: The readings' words, the whole request first.
        idf: The readings' terms, each with its IDF; terms of no tool are left out.
        rarest: IDF of a term that no tool has: the weight of a name's other words.
    """
    near: Rows = np.asarray(cosines, dtype=np.float64)
    measured: dict[str, Rows] = {
        "cosine": near,
        "cosine_gap": near - near.max(axis=1, keepdims=True),
        **_by_terms(tools, asked, idf, rarest),
        "name_trigrams": _name_trigrams(tools, asked),
    }
    most = np.maximum(measured["bm25"].max(axis=1, keepdims=True), 1e-9)
    measured["bm25_share"] = measured["bm25"] / most
    measured["cosine_by_bm25"] = near * measured["bm25_share"]
    measured["best_cosine"] = _best(measured["cosine"])
    measured["best_bm25_share"] = _best(measured["bm25_share"])
    rows = np.empty((*near.shape, len(FEATURES)))
    for place, name in enumerate(FEATURES):
        rows[:, :, place] = measured[name]
    return rows


def _best(values: Rows) -> Rows:
    """The values, with the whole request's replaced by the best of all readings."""
    best = values.copy()
    best[0] = values.max(axis=0)
    return best


def _by_terms(
    tools: Sequence[ToolTerms],
    asked: Sequence[ReadingWords],
    idf: Mapping[str, float],
    rarest: float,
) -> dict[str, Rows]:
    """The measures that compare terms: products of readings × terms and terms × candidates."""
    column = {term: number for number, term in enumerate(idf)}
    asks = np.zeros((len(asked), len(column)))
    for reading, one in enumerate(asked):
        asks[reading, [column[term] for term in one.terms if term in column]] = 1.0
    rare = asks * list(idf.values())
    tables = [tool.table for tool in tools]
    table = np.concatenate(tables)
    lengths = np.array(list(map(len, tables)))
    owners = np.repeat(np.arange(len(tools)), lengths)
    held = _held(table, owners, idf, len(tools))
    most = np.maximum(rare.sum(axis=1, keepdims=True), 1e-9)
    whole, in_parameters, in_name, covered = rare @ held
    _, _, name_terms, tool_terms = asks @ held
    names = np.bincount(owners, table[:, _IN_NAME], len(tools))
    missing = rarest * (names - name_terms)
    return {
        "bm25": whole / most,
        "bm25_sum": whole / _TENS,
        "parameters": in_parameters / most,
        "name_covered": in_name / np.maximum(in_name + missing, 1e-9),
        "name_pairs": _name_pairs(tools, asked, (name_terms.max(axis=0) > 0).nonzero()[0]),
        "asked_covered": covered / most,
        "tool_covered": tool_terms / (_PRIOR_TERMS + lengths),
    }


def _held(
    table: NDArray[np.float64], owners: NDArray[np.int64], terms: Collection[str], tools: int
) -> Rows:
    """(4, terms, tools): BM25's shares of the asked terms, overall and in the parameters, whether
    they are in the name, and whether they are anywhere; 0 where a tool lacks them."""
    columns = VOCABULARY.columns(terms)[table[:, _NUMBER].astype(np.int64)]
    asked = (columns >= 0).nonzero()[0]
    places = columns[asked] * tools + owners[asked]
    held = np.zeros((4, len(terms) * tools))
    held[:3, places] = table[asked, _NUMBER + 1 :].T
    held[3, places] = 1.0
    return held.reshape(4, len(terms), tools)


def _name_pairs(
    tools: Sequence[ToolTerms], asked: Sequence[ReadingWords], columns: NDArray[np.int64]
) -> Rows:
    """Share of the names' word pairs that the readings cover; 0 outside `columns`."""
    shares = np.zeros((len(asked), len(tools)))
    every = frozenset().union(*(one.pairs for one in asked))
    for column in columns.tolist():
        pairs = tools[column].pairs
        if not pairs.isdisjoint(every):
            shares[:, column] = [len(one.pairs & pairs) / len(pairs) for one in asked]
    return shares


def _name_trigrams(tools: Sequence[ToolTerms], asked: Sequence[ReadingWords]) -> Rows:
    asks = np.zeros(
        (NO_GRAM + 1, len(asked)), dtype=np.uint8
    )  # bytes, because it is cleared each time
    for reading, one in enumerate(asked):
        asks[one.grams, reading] = 1
    grams = [tool.grams for tool in tools]
    lengths = np.array(list(map(len, grams)))
    found = asks[np.concatenate(grams)]
    sums = np.add.reduceat(found, lengths.cumsum() - lengths, axis=0, dtype=np.float32)
    return np.asarray(sums.T / lengths, dtype=np.float64)
