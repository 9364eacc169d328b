"""What of a tool is searched, field by field, and how names become words."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.context.words import STOPWORDS, terms, words
from ctrag.tools.catalogue import CatalogueTool

NAME, DESCRIPTION, PARAMETERS = range(3)
FIELDS = ("name", "description", "parameters")
PIVOTS = (3.0, 12.0, 12.0)
"""Usual lengths of the fields in terms. They are fixed, so that a tool's weights never depend on
the other tools and stay what they are while tools come and go."""
LENGTH_SHARE = (0.3, 0.5, 0.5)
"""How far a field's length counts: BM25's b."""
FIELD_WEIGHTS = (2.0, 1.0, 0.5)
"""What a field counts in BM25F (Robertson et al., 2004): fields add up before they saturate."""

GRAM_CODES = 1 << 16

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)")
_LONGEST = 4000
"""Letters of a field that are read; what stands behind is cut."""
_DEEPEST = 3
_MOST_VALUES = 30


def spelled_out(name: str) -> str:
    """A name as words: `getHTTPStatus_v2` becomes `get HTTP Status v 2`."""
    return " ".join(_HUMP.sub(" ", name).replace("_", " ").replace(".", " ").split())


@lru_cache(maxsize=100_000)
def compact(text: str) -> str:
    """Letters and digits alone, folded: how names are compared."""
    return "".join(words(text))


@dataclass(frozen=True, slots=True)
class ToolTerms:
    """A tool's searched terms."""

    weights: dict[str, tuple[float, float, float]]
    """Term → its length-normalised frequency in each of `FIELDS`."""
    name: tuple[str, ...]
    """Terms of the name, each once."""
    pairs: tuple[tuple[str, str], ...]
    """Terms that stand side by side in the name."""
    grams: NDArray[np.int64]
    """Trigrams of the name's letters, as `gram_codes` numbers them."""

    def summed(self) -> dict[str, float]:
        """Term → its frequency over all fields, weighted."""
        first, second, third = FIELD_WEIGHTS
        return {
            term: first * one[0] + second * one[1] + third * one[2]
            for term, one in self.weights.items()
        }


def tool_terms(tool: CatalogueTool) -> ToolTerms:
    """The terms of a tool's name, of its description and category, and of its parameters."""
    name = terms(f"{spelled_out(tool.server)} {spelled_out(tool.name)}")
    description = terms(f"{tool.category} {tool.description}"[:_LONGEST])
    parameters = terms(" ".join(parameter_texts(tool.parameters))[:_LONGEST])
    weights: dict[str, list[float]] = {}
    for field, found in enumerate((name, description, parameters)):
        share = LENGTH_SHARE[field]
        length = 1 - share + share * len(found) / PIVOTS[field]
        for term, count in Counter(found).items():
            weights.setdefault(term, [0.0, 0.0, 0.0])[field] = count / length
    frozen = {term: (one[0], one[1], one[2]) for term, one in weights.items()}
    called = tuple(dict.fromkeys(terms(spelled_out(tool.name))))
    pairs = tuple(pairwise(called))
    return ToolTerms(frozen, called, pairs, gram_codes(spelled_out(tool.name)))


def gram_codes(text: str) -> NDArray[np.int64]:
    """Numbers below `GRAM_CODES` of the runs of three letters or digits, folded, each once.

    Words are written together, so that `getweather` and "get weather" are alike; stop words are
    left out. Now and then two trigrams share a number.
    """
    said = "".join(word for word in words(text) if word not in STOPWORDS)
    letters = np.frombuffer(said.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    return np.unique((961 * letters[:-2] + 31 * letters[1:-1] + letters[2:]) % GRAM_CODES)


def parameter_texts(schema: Any, depth: int = 0) -> Iterator[str]:
    """Names, descriptions and allowed values of a JSON Schema's properties, nested ones too."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or depth >= _DEEPEST:
        return
    for name, one in properties.items():
        yield spelled_out(str(name))
        if not isinstance(one, dict):
            continue
        if isinstance(one.get("description"), str):
            yield one["description"]
        if isinstance(one.get("enum"), list):
            yield " ".join(str(value) for value in one["enum"][:_MOST_VALUES])
        yield from parameter_texts(one, depth + 1)
        yield from parameter_texts(one.get("items"), depth + 1)
