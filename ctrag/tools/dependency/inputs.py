"""A request and its history as the numbers that the least-squares models read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctrag.encoder import Matrix
from ctrag.tools.dependency.vocabulary import Vocabulary

SEMANTIC, LEXICAL = 2.0, 3.0
"""Scales of the vector and of the words, so that one penalty fits both; chosen on chains that
were learned from."""
TOPICS = 128
CROSSED = 16
"""Directions of meaning, and as many of words, that are multiplied with the history."""
HISTORY_DIRECTIONS = 32
_SECOND, _CALLED = 0.7, 0.7


@dataclass(frozen=True, slots=True)
class Inputs:
    """Fixed maps, learned without labels."""

    vocabulary: Vocabulary
    topics: Matrix
    """(entries, topics): singular directions of the requests' words."""
    meanings: Matrix
    """(dimension, CROSSED): singular directions of the requests' vectors."""
    histories: Matrix
    """(3 x tools, directions): singular directions of histories."""

    @classmethod
    def learned(
        cls,
        texts: Sequence[str],
        vectors: Matrix,
        histories: Sequence[tuple[int, ...]],
        tools: int,
        most_histories: int = 4_000,
    ) -> "Inputs":
        """Maps from requests and histories.

        Args:
            texts: The requests.
            vectors: Theirs, (requests, dimension).
            histories: Numbers of the tools that were called, per step.
            tools: How many numbers there are.
            most_histories: So many, evenly spread, are looked at.
        """
        vocabulary = Vocabulary.of(texts, fewest=3 if len(texts) >= 300 else 1)
        weighed = vocabulary.matrix(texts)
        gram = np.asarray((weighed @ weighed.T).todense(), dtype=np.float64)
        values, directions = np.linalg.eigh(gram)
        kept = [n for n in np.argsort(-values)[:TOPICS] if values[n] > 1e-6]
        topics = weighed.T @ (directions[:, kept] / np.sqrt(values[kept]))
        every = -(-len(histories) // most_histories)
        called = np.stack([history_block(one, tools) for one in histories[::every]])
        return cls(
            vocabulary,
            np.asarray(topics, dtype=np.float32),
            _main_directions(vectors, CROSSED),
            _main_directions(called, HISTORY_DIRECTIONS),
        )

    def of_text(self, text: str, vector: Matrix) -> Matrix:
        """The request's block: one, its meaning, its words."""
        words = self.vocabulary.vector(text) @ self.topics
        return np.concatenate([[np.float32(1)], SEMANTIC * vector, LEXICAL * words]).astype(
            np.float32
        )

    def of_step(self, block: Matrix, history: Sequence[int], tools: int) -> Matrix:
        """The request's block, the history's, their products, and the block again at the start.

        Args:
            block: From `of_text`.
            history: Numbers of the tools that were called.
            tools: How many numbers there are.
        """
        called = history_block(history, tools)
        known = len(self.histories) // 3
        narrow = called.reshape(3, tools)[:, :known].ravel() @ self.histories
        dimension = len(self.meanings)
        meaning = block[1 : 1 + dimension] @ self.meanings
        words = block[1 + dimension :][:CROSSED]
        crossed = np.outer(narrow, np.concatenate([meaning, words])).ravel()
        first = np.zeros_like(block) if history else block
        return np.concatenate([block, crossed, first, called]).astype(np.float32)

    def grown(self, weights: Matrix, before: int, after: int) -> Matrix:
        """Weights (or precisions) of `before` tools as those of `after`: new tools weigh nothing.

        The history's block stands at the end, three stretches of one place per tool.
        """
        head, tail = weights[: -3 * before], weights[-3 * before :]
        stretches = tail.reshape(3, before, *weights.shape[1:])
        wider = np.zeros((3, after, *weights.shape[1:]), dtype=np.float32)
        wider[:, :before] = stretches
        return np.concatenate([head, wider.reshape(3 * after, *weights.shape[1:])])


def history_block(history: Sequence[int], tools: int) -> Matrix:
    """The last call, the one before, and all of them; 0 stands for the beginning."""
    block = np.zeros((3, tools), dtype=np.float32)
    block[0, history[-1] if history else 0] = 1
    if history:
        block[1, history[-2] if len(history) > 1 else 0] = _SECOND
        block[2, list(history)] = _CALLED
    return block.ravel()


def _main_directions(rows: Matrix, count: int) -> Matrix:
    values, directions = np.linalg.eigh((rows.T @ rows).astype(np.float64))
    order = np.argsort(-values)[:count]
    return np.asarray(directions[:, order], dtype=np.float32)
