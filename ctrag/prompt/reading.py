"""What the encoder sees of a text: its vector, and the states that a re-ranker goes on from."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ctrag import models
from ctrag.encoder import Matrix, open_session

JOINT_LAYERS = 3
"""Last layers, which read a query and a text together; those below read each alone."""
LONGEST_READ = 256
LONGEST_STATES = 64
"""Tokens of a text whose states are kept for the re-ranker: its name and first sentences."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the encoder reads it."""

    vector: Matrix
    """(dimension,), of length one."""
    states: Matrix
    """(tokens, hidden), below the joint layers, at most so many tokens as are kept."""


class Reader(Protocol):
    """Anything that reads texts; tests have toys."""

    name: str
    """Readings of different readers never mix."""

    def read(self, text: str) -> Reading:
        """The reading of one text."""
        ...


class MiniLMReader:
    """all-MiniLM-L6-v2 on ONNX Runtime: one pass gives the vector and the lower states."""

    def __init__(self, longest_states: int = LONGEST_STATES) -> None:
        from ctrag.bert_graph import plain_graph
        from ctrag.vocabularies import packaged_vocabulary

        self.name = f"{models.ENCODER}-int8-below{JOINT_LAYERS}-{longest_states}"
        self._longest_states = longest_states
        self._session = open_session(plain_graph(JOINT_LAYERS))
        self._tokenizer = packaged_vocabulary(models.ENCODER, LONGEST_READ)

    def read(self, text: str) -> Reading:
        """See `Reader.read`."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        plain, below = self._session.run(None, {"input": ids})
        return Reading(
            np.asarray(plain, dtype=np.float32),
            np.asarray(below[0, : self._longest_states], dtype=np.float32),
        )
