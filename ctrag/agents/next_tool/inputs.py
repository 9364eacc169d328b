"""A request and its history as the input vector of the least-squares models."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctrag.agents.next_tool.vocabulary import TextVocabulary
from ctrag.models.encoder import Matrix

SEMANTIC, LEXICAL = 2.0, 3.0
"""Scales of the embedding and of the words, so that one penalty fits both; chosen on training
chains."""
TOPICS = 128
CROSSED = 16
"""Principal directions of the embedding, and as many of words, crossed with the history."""
HISTORY_DIRECTIONS = 32
_SECOND, _CALLED = 0.7, 0.7
_MAX_WIDTH = 512
"""Columns for tools in the history's block at most."""
_SPARE = 16
"""Columns for tools that are added later."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Fixed projections, learned without labels."""

    vocabulary: TextVocabulary
    topics: Matrix
    """(entries, topics): singular directions of the requests' words."""
    meanings: Matrix
    """(dimension, CROSSED): singular directions of the requests' vectors."""
    histories: Matrix
    """(3 x width, directions): singular directions of histories."""

    @classmethod
    def learned(
        cls,
        texts: Sequence[str],
        vectors: Matrix,
        histories: Sequence[tuple[int, ...]],
        tools: int,
        most: int = 4_000,
    ) -> "Inputs":
        """Projections fitted to requests and histories.

        Args:
            texts: The requests.
            vectors: Their embeddings, (requests, dimension).
            histories: Numbers of the tools that were called, per step.
            tools: Number of tools, `END` included.
            most: Requests and histories, evenly spread, from which directions are computed.
        """
        vocabulary = TextVocabulary.of(texts, fewest=3 if len(texts) >= 300 else 1)
        weighted = vocabulary.matrix(texts[:: _every(texts, most)])
        gram = np.asarray((weighted @ weighted.T).todense(), dtype=np.float64)
        values, directions = np.linalg.eigh(gram)
        kept = [n for n in np.argsort(-values)[:TOPICS] if values[n] > 1e-6]
        topics = weighted.T @ (directions[:, kept] / np.sqrt(values[kept]))
        width = min(tools + _SPARE, _MAX_WIDTH)
        sample = histories[:: _every(histories, most)]
        called = np.stack([history_block(one, width) for one in sample])
        return cls(
            vocabulary,
            np.asarray(topics, dtype=np.float32),
            _main_directions(vectors, CROSSED),
            _main_directions(called, HISTORY_DIRECTIONS),
        )

    def of_text(self, text: str, vector: Matrix) -> Matrix:
        """The request's block: 1, its scaled embedding, its scaled topics."""
        words = self.vocabulary.mixed(text, self.topics)
        return np.concatenate([[np.float32(1)], SEMANTIC * vector, LEXICAL * words]).astype(
            np.float32
        )

    @property
    def width(self) -> int:
        """Columns per part of the history's block."""
        return len(self.histories) // 3

    def of_step(self, block: Matrix, history: Sequence[int]) -> Matrix:
        """The request's block, its products with the history, the block again before the first
        call (else zeros), and the history.

        Args:
            block: From `of_text`.
            history: Numbers of the tools that were called.
        """
        called = history_block(history, self.width)
        dimension = len(self.meanings)
        meaning = block[1 : 1 + dimension] @ self.meanings
        words = block[1 + dimension :][:CROSSED]
        crossed = np.outer(called @ self.histories, np.concatenate([meaning, words])).ravel()
        first = np.zeros_like(block) if history else block
        return np.concatenate([block, crossed, first, called]).astype(np.float32)


def history_block(history: Sequence[int], width: int) -> Matrix:
    """Last call, call before it, all calls as indicators; (3 x width,), 0 is the beginning.

    Tools whose numbers are beyond the width share columns with others.
    """
    places = [number if number < width else 1 + number % (width - 1) for number in history]
    block = np.zeros((3, width), dtype=np.float32)
    block[0, places[-1] if places else 0] = 1
    if places:
        block[1, places[-2] if len(places) > 1 else 0] = _SECOND
        block[2, places] = _CALLED
    return block.ravel()


def _every(values: Sequence[object], most: int) -> int:
    return max(1, -(-len(values) // most))


def _main_directions(rows: Matrix, count: int) -> Matrix:
    values, directions = np.linalg.eigh((rows.T @ rows).astype(np.float64))
    order = np.argsort(-values)[:count]
    return np.asarray(directions[:, order], dtype=np.float32)
