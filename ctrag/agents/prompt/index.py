"""The index over fragments or tools: vectors on disk by content hash, words in memory."""

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.prompt.encoders import PassageEncoder
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix
from ctrag.text.bm25 import LexicalIndex
from ctrag.text.words import terms
from stores.files import replacing

Floats = NDArray[np.float64]
PASSAGE = 110
"""Words per passage: longer texts are encoded in parts, and the best part counts."""


class VectorStore:
    """Vectors of texts kept in one file, looked up by the hash of encoder and text.

    Only changed texts are encoded; vectors no longer asked for are dropped. A broken file is
    rebuilt.
    """

    def __init__(self, encoder: PassageEncoder, path: Path | None) -> None:
        self._encoder = encoder
        self._path = path
        self.encoded = 0
        """Number of texts that the last call had to encode."""

    def vectors(self, texts: Sequence[str]) -> list[Matrix]:
        """One vector per text, in order.

        Raises:
            OSError: The file cannot be written; the stored one is kept.
        """
        keys = [self._key(text) for text in texts]
        known = self._load()
        missing = [text for text, key in zip(texts, keys, strict=True) if key not in known]
        self.encoded = len(set(missing))
        fresh = dict.fromkeys(missing)
        for text in fresh:
            known[self._key(text)] = self._encoder.encode(text)
        if self._path is not None and (fresh or len(known) > len(set(keys))):
            self._save({key: known[key] for key in keys})
        return [known[key] for key in keys]

    def _key(self, text: str) -> str:
        return sha256(f"{self._encoder.name}\0{text}".encode()).hexdigest()[:32]

    def _load(self) -> dict[str, Matrix]:
        if self._path is None or not self._path.exists():
            return {}
        try:
            return self._stored(self._path)
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            return {}  # a broken file: encode everything and overwrite it

    @staticmethod
    def _stored(path: Path) -> dict[str, Matrix]:
        with path.open("rb") as file, np.load(file) as stored:
            keys, vectors = stored["keys"], stored["vectors"]
        return {str(key): vector for key, vector in zip(keys, vectors, strict=True)}

    def _save(self, known: dict[str, Matrix]) -> None:
        assert self._path is not None
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self._path) as file:
            np.savez(
                file,
                allow_pickle=False,
                keys=np.array(list(known), dtype="U32"),
                vectors=np.stack(list(known.values())),
            )


@dataclass(frozen=True, slots=True)
class CorpusMatches:
    """How well a query matches each unit of an index, (units,) unless stated otherwise."""

    cosine: Floats
    """Of the best passage, -1 to 1."""
    lexical: Floats
    """BM25 as a share of the best unit's, 0 to 1."""
    passages: Floats
    """(passages,): cosine of each passage."""


class CorpusIndex:
    """Passages of the units, with their vectors and word counts."""

    def __init__(self, texts: Sequence[str], vectors: VectorStore | Sequence[Matrix]) -> None:
        """Index texts.

        Args:
            texts: One per unit; at least one.
            vectors: Encodes their passages; or one vector per text, which is then a single passage.
        """
        if not texts:
            raise InputError("texts: there is nothing to index")
        stored = isinstance(vectors, VectorStore)
        parts = [passages(text) if stored else [text] for text in texts]
        self._starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
        self._passages = [one for part in parts for one in part]
        found = vectors.vectors(self._passages) if isinstance(vectors, VectorStore) else vectors
        self._vectors: Matrix = np.stack(found)
        self._units = len(texts)
        self._words = LexicalIndex([list(_terms(text)) for text in texts])

    def __len__(self) -> int:
        return self._units

    def evidence(self, vector: Matrix, text: str) -> CorpusMatches:
        """Cosine and BM25 of every unit.

        Args:
            vector: Unit vector of the query.
            text: Its words.
        """
        cosines = np.asarray(self._vectors @ vector, dtype=np.float64)
        best = np.maximum.reduceat(cosines, self._starts)
        return CorpusMatches(best, self._lexical(text), cosines)

    def best_passage(self, found: CorpusMatches, unit: int) -> str:
        """The passage of a unit that is closest to the query."""
        end = self._starts[unit + 1] if unit + 1 < self._units else len(self._passages)
        start = int(self._starts[unit])
        return self._passages[start + int(found.passages[start:end].argmax())]

    def _lexical(self, text: str) -> Floats:
        scores = self._words.scores(terms(text)).astype(np.float64)
        return np.asarray(scores / max(float(scores.max()), 1e-9))

    @property
    def vectors(self) -> Matrix:
        """(passages, dimension); the rows of a unit are contiguous."""
        return self._vectors


@lru_cache(maxsize=8192)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(terms(text))


def passages(text: str) -> list[str]:
    """Parts of about `PASSAGE` words, each with the first line, which gives its context."""
    head, _, body = text.partition("\n")
    words = body.split()
    if len(words) <= PASSAGE:
        return [text]
    count = -(-len(words) // PASSAGE)
    size = -(-len(words) // count)
    return [f"{head}\n{' '.join(words[at : at + size])}" for at in range(0, len(words), size)]
