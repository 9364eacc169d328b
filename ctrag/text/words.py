"""Text as words, for lexical search and for finding names."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

_WORD = re.compile(r"[^\W_]+")

# Words that do not identify an item. Kept short: BM25 weights the rest.
STOPWORDS = frozenset(
    "a an the and or but if of to in on at by for with from is are was were be been am do does did "
    "i me my mine we us our you your he him his she her it its they them their this that these "
    "those there here what which who whom when where why how can could will would should shall may "
    "not no so up out off just s t m ll d re ve don".split()
)


def fold(text: str) -> str:
    """Lower case without accents; "Macías" and "macias" are one name."""
    if text.isascii():
        return text.lower()  # no accents to decompose, which is the slow part
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in decomposed if not unicodedata.combining(one))


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def words(text: str) -> list[str]:
    """Folded words in order."""
    return _WORD.findall(fold(text))


def telling_words(text: str) -> list[str]:
    """Words without stopwords, in order."""
    return [word for word in words(text) if word not in STOPWORDS]


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


def stems(words: Sequence[str]) -> list[str]:
    """The stem of each word."""
    return list(map(_stem, words))


def terms(text: str) -> list[str]:
    """Stemmed words without stopwords: the terms of lexical search."""
    return stems(telling_words(text))
