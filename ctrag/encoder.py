"""Sentence encoders: text in, unit vectors out."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ctrag import models

Matrix = NDArray[np.float32]
_MAX_TOKENS = 256


class Encoder(Protocol):
    """Anything that turns texts into unit vectors."""

    name: str
    """Written into stores and artefacts: vectors of different encoders never mix."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """(len(texts), dimension), float32, rows of length one, in the order of `texts`."""
        ...


class OnnxEncoder:
    """all-MiniLM-L6-v2 with int8 weights on ONNX Runtime: no torch, about 4 ms a request.

    Texts are encoded one by one, because int8 activations are scaled over the whole batch:
    alone, a text has the same vector whatever it is encoded with.
    """

    def __init__(self, workers: int = 2) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self.name = f"{models.ENCODER}-int8"
        weights = models.require(self.name) / "model.onnx"
        vocabulary = models.require(models.ENCODER) / "model" / "tokenizer.json"
        self._tokenizer = Tokenizer.from_file(str(vocabulary))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
        self._workers = workers

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`; long lists are spread over threads."""
        if len(texts) < 8 or self._workers < 2:
            rows = [self._one(text) for text in texts]
        else:
            with ThreadPoolExecutor(self._workers) as pool:
                rows = list(pool.map(self._one, texts))
        return np.stack(rows) if rows else np.empty((0, 384), np.float32)

    def _one(self, text: str) -> Matrix:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        hidden: Any = self._session.run(
            None,
            {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            },
        )[0]
        mean = hidden[0].mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


class TransformersEncoder:
    """Any sentence-transformers folder (mean pooling), on torch; for other encoders by name."""

    def __init__(self, name_or_path: str) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        from sentence_transformers import SentenceTransformer

        folder = models.find(name_or_path)
        if (folder / "model" / "config.json").exists():
            folder = folder / "model"
        self.name = Path(name_or_path).name
        self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`."""
        vectors = self._model.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


@cache
def load_encoder(name: str = f"{models.ENCODER}-int8") -> Encoder:
    """The encoder of that name or path, loaded once per process.

    Raises:
        ModelMissing: The weights are not on this machine.
    """
    if name == f"{models.ENCODER}-int8":
        return OnnxEncoder()
    return TransformersEncoder(name)
