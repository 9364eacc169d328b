"""Encoders of requests and passages."""

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ctrag.models import packages
from ctrag.models.encoder import Matrix, open_session

if TYPE_CHECKING:
    from ctrag.agents.search.index import ToolIndex

LONGEST_READ = 256
_TUNED_LAYERS = 3
"""The graph made for adapters on this many layers; no adapter is used here."""


class PassageEncoder(Protocol):
    """Turns a text into a vector."""

    name: str
    """Part of the key of stored vectors, so that those of different encoders never mix."""

    def encode(self, text: str) -> Matrix:
        """Return a unit vector of shape (dimension,)."""
        ...


class IndexEncoder:
    """The encoder of a `ToolIndex`, so that a process loads only one."""

    def __init__(self, index: "ToolIndex") -> None:
        self._index = index
        self.name = index.encoder_name

    def encode(self, text: str) -> Matrix:
        """See `PassageEncoder.encode`."""
        return np.asarray(self._index.encode_request([text])[0], dtype=np.float32)


class MiniLMPassageEncoder:
    """all-MiniLM-L6-v2 on ONNX Runtime."""

    name = f"{packages.ENCODER}-int8"

    def __init__(self) -> None:
        from ctrag.models.bert_graph import plain_graph
        from ctrag.models.vocabularies import packaged_vocabulary

        self._session = open_session(plain_graph(_TUNED_LAYERS))
        self._tokenizer = packaged_vocabulary(packages.ENCODER, LONGEST_READ)

    def encode(self, text: str) -> Matrix:
        """See `PassageEncoder.encode`."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        [plain] = self._session.run(["plain"], {"input": ids})
        return np.asarray(plain, dtype=np.float32)
