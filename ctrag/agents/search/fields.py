"""The searched fields of a tool, and how names become words."""

import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.catalogue.schema_walk import pointed
from ctrag.agents.catalogue.tool import CatalogueTool, spelled_out
from ctrag.text.words import stems, telling_words, terms, words
from stores.tools.protocol import saturated

NAME, DESCRIPTION, PARAMETERS = range(3)
"""A tool's fields."""
PIVOTS = (3.0, 12.0, 12.0)
"""Usual lengths of the fields in terms. Fixed, so that a tool's weights never depend on
other tools and stay the same while tools are added and removed."""
LENGTH_SHARE = (0.3, 0.5, 0.5)
"""How far a field's length counts: BM25's b."""
FIELD_WEIGHTS = (2.0, 1.0, 0.5)
"""Weights of the fields in BM25F (Robertson et al., 2004): fields add up before they saturate."""

GRAM_CODES = 1 << 16
"""A power of two."""
NO_GRAM = GRAM_CODES
"""The code that no text has."""

_LONGEST = 50_000
"""Characters read per field; the rest is cut."""
_DEEPEST = 3
_MOST_SCHEMAS = 2_000
"""Schemas read per tool, so that a huge one does not take long."""
_MOST_VALUES = 30


@lru_cache(maxsize=100_000)
def compact(text: str) -> str:
    """Letters and digits alone, folded: how names are compared."""
    return "".join(words(text))


class TermIds:
    """Numbers of terms, the same for all indexes of a process, so that searches compare numbers.

    Terms are never removed: tools share most of their words, so new ones add few.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def numbered(self, terms: Iterable[str]) -> list[int]:
        """The terms' numbers; new ones are numbered."""
        with self._lock:
            known = self._numbers
            return [known.setdefault(one, len(known)) for one in terms]

    def columns(self, terms: Iterable[str]) -> NDArray[np.int64]:
        """(numbers so far,): the place among `terms` of each number's term, -1 if absent."""
        places = np.full(len(self), -1, dtype=np.int64)
        for place, term in enumerate(terms):
            number = self._numbers.get(term, len(places))
            if number < len(places):  # else it was added concurrently, and no tool here has it
                places[number] = place
        return places


VOCABULARY = TermIds()


@dataclass(frozen=True, slots=True)
class ToolTerms:
    """A tool's searched terms."""

    frequencies: dict[str, float]
    """Term → its length-normalised frequency over all fields, weighted."""
    table: NDArray[np.float64]
    """(terms, 4), in the order of `frequencies`: a term's number in `VOCABULARY`; BM25's share of
    its frequency over all fields, and of that in the parameters; 1 if it is in the name,
    else 0. One array, because a search reads those of many tools."""
    name: tuple[str, ...]
    """Terms of the name, each once."""
    pairs: frozenset[tuple[str, str]]
    """Adjacent terms in the name."""
    grams: NDArray[np.uint32]
    """Trigrams of the name's letters, each once, as `gram_codes` numbers them; `NO_GRAM` alone
    where the name is too short."""


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
    name_words = telling_words(spelled_out(tool.name))
    called = tuple(dict.fromkeys(stems(name_words)))
    frequencies = {
        term: sum(share * one for share, one in zip(FIELD_WEIGHTS, found, strict=True))
        for term, found in weights.items()
    }
    numbers = VOCABULARY.numbered(frequencies)
    table = [
        (
            number,
            saturated(frequencies[term]),
            saturated(found[PARAMETERS]),
            1.0 if term in called else 0.0,
        )
        for number, (term, found) in zip(numbers, weights.items(), strict=True)
    ]
    grams = np.unique(gram_codes(name_words))
    if not len(grams):
        grams = np.array([NO_GRAM], dtype=np.uint32)
    return ToolTerms(
        frequencies,
        np.array(table, dtype=np.float64).reshape(-1, 4),
        called,
        frozenset(pairwise(called)),
        grams,
    )


def gram_codes(words: Sequence[str]) -> NDArray[np.uint32]:
    """Numbers below `GRAM_CODES` of the runs of three letters or digits, in order.

    Words are joined, so that `getweather` and "get weather" are alike. Collisions are rare.
    """
    letters = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32)
    codes = (961 * letters[:-2] + 31 * letters[1:-1] + letters[2:]) & (GRAM_CODES - 1)
    return np.asarray(codes, dtype=np.uint32)


def parameter_texts(schema: Any) -> Iterator[str]:
    """Names, descriptions and allowed values of a JSON Schema's properties, nested ones too.

    References are followed, each once; the members of unions count as their schema itself.
    """
    seen: set[str] = set()
    waiting = deque([(schema, 0)])
    for _ in range(_MOST_SCHEMAS):
        if not waiting:
            return
        one, depth = waiting.popleft()
        if not isinstance(one, dict) or depth >= _DEEPEST:
            continue
        reference = one.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            seen.add(reference)
            waiting.append((pointed(schema, reference), depth))
        for key in ("allOf", "anyOf", "oneOf"):
            members = one.get(key)
            waiting.extend((member, depth) for member in members or () if isinstance(members, list))
        properties = one.get("properties")
        for name, inner in properties.items() if isinstance(properties, dict) else ():
            yield spelled_out(str(name))
            if not isinstance(inner, dict):
                continue
            if isinstance(inner.get("description"), str):
                yield inner["description"]
            if isinstance(inner.get("enum"), list):
                yield " ".join(str(value) for value in inner["enum"][:_MOST_VALUES])
            waiting.append((inner, depth + 1))
            waiting.append((inner.get("items"), depth + 1))
            waiting.append((inner.get("additionalProperties"), depth + 1))
        for key in ("then", "else"):
            waiting.append((one.get(key), depth))
