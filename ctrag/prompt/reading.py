"""What the encoder sees of a text."""

from typing import Protocol

import numpy as np

from ctrag import models
from ctrag.encoder import Matrix, open_session

LONGEST_READ = 256
_TUNED_LAYERS = 3
"""The graph is the one that is made for adapters of so many layers; none is used here."""


class Reader(Protocol):
    """Anything that reads texts; tests have toys."""

    name: str
    """Vectors of different readers never mix."""

    def read(self, text: str) -> Matrix:
        """(dimension,), of length one."""
        ...


class MiniLMReader:
    """all-MiniLM-L6-v2 on ONNX Runtime."""

    name = models.ENCODER

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        from ctrag.graphs import base_graph
        from ctrag.weights import encoder_folder

        self._session = open_session(base_graph(models.ENCODER, _TUNED_LAYERS))
        folder = encoder_folder(models.ENCODER)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST_READ)

    def read(self, text: str) -> Matrix:
        """See `Reader.read`."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        [plain] = self._session.run(["plain"], {"input": ids})
        return np.asarray(plain, dtype=np.float32)
