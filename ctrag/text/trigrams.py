"""Character trigrams: a lexical score that tolerates word forms and misspellings."""

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ctrag.text.words import words

_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Grams:
    """The trigrams of one text: hashes, and 1 + log of the count of each."""

    ids: NDArray[np.int64]
    weights: NDArray[np.float64]


def grams(text: str) -> Grams:
    """Trigrams of the words of `text`, word boundaries included; long texts are truncated."""
    found = Counter(chain.from_iterable(map(_grams_of, words(text[:_LONGEST]))))
    counts = np.fromiter(found.values(), dtype=np.float64, count=len(found))
    return Grams(np.fromiter(found.keys(), dtype=np.int64, count=len(found)), 1.0 + np.log(counts))


@lru_cache(maxsize=50_000)
def _grams_of(word: str) -> tuple[int, ...]:
    """Hashes of the trigrams of one word, cached because most words occur in many items."""
    padded = f" {word} "
    return tuple(zlib.crc32(padded[start : start + 3].encode()) for start in range(len(padded) - 2))


def trigram_cosines(query: Grams, candidates: Sequence[Grams]) -> NDArray[np.float32]:
    """TF-IDF cosine of `query` with each candidate; IDF is taken over the candidates."""
    count = len(candidates)
    if not count or not len(query.ids):
        return np.zeros(count, dtype=np.float32)
    owner = np.repeat(np.arange(count), [len(one.ids) for one in candidates])
    ids = np.concatenate([one.ids for one in candidates])
    known, position = np.unique(ids, return_inverse=True)
    idf = np.log((1 + count) / (1 + np.bincount(position, minlength=len(known)))) + 1.0
    weights = np.concatenate([one.weights for one in candidates]) * idf[position]
    lengths = np.sqrt(np.bincount(owner, weights**2, minlength=count))
    wanted = np.zeros(len(known))
    places = np.searchsorted(known, query.ids)
    found = places < len(known)
    found[found] = known[places[found]] == query.ids[found]
    wanted[places[found]] = query.weights[found] * idf[places[found]]
    norm = np.linalg.norm(wanted)
    if norm == 0:
        return np.zeros(count, dtype=np.float32)
    dots = np.bincount(owner, weights * wanted[position], minlength=count)
    return np.asarray(dots / (norm * np.maximum(lengths, 1e-9)), dtype=np.float32)
