"""The encoder of tool search, tuned on requests and the tools that they need.

Low-rank changes of the small encoder's layers (`training.tool_search.encoder`), merged into a
graph that is made once on each machine.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.array_artefact import ArrayArtefact
from ctrag.models.arrays import arrays_digest, low_rank_changes
from ctrag.models.cards import Card
from ctrag.models.encoder import Matrix, open_session

WEIGHTS, CARD = "encoder.npz", "encoder-card.json"
_MAX_TOKENS = 256
_FEW = 8
"""Fewer texts than this are encoded faster on one thread."""


class ToolEncoderCard(Card):
    """Where the changes come from."""

    tower: str
    """The encoder that is changed."""
    layers: int
    """Layers, counted from the last, that are tuned."""
    scale: float
    """Factor of the low-rank products."""


class ToolEncoderWeights(ArrayArtefact[ToolEncoderCard]):
    """Low-rank changes of an encoder: arrays `encoder/layer.map.A` and `.B`."""

    weights_file, card_file, card_class = WEIGHTS, CARD, ToolEncoderCard

    @classmethod
    def packaged(cls) -> "ToolEncoderWeights":
        """The changes that ctrag ships."""
        return cls.load(Path(str(files("ctrag.models").joinpath("artefact", "tool_encoder"))))

    @cached_property
    def digest(self) -> str:
        """Fingerprint of scale, encoder and arrays."""
        return arrays_digest(f"{self.card.scale}|{self.card.tower}", self.arrays)


class TunedToolEncoder:
    """The tuned encoder on ONNX Runtime with 8-bit weights; making its graph needs no torch either.

    Texts are encoded one by one, so that a vector does not depend on the others.
    """

    def __init__(self, weights: ToolEncoderWeights, name: str, workers: int = 2) -> None:
        from ctrag.models.bert_graph import tuned_graph
        from ctrag.models.vocabularies import packaged_vocabulary

        card = weights.card
        if card.tower != packages.ENCODER:
            raise InputError(f"tower: must be {packages.ENCODER}, not {card.tower!r}")
        self.name = name
        deltas = partial(low_rank_changes, weights.arrays, card.tower, card.scale)
        self._session: Any = open_session(tuned_graph(card.layers, deltas, weights.digest))
        self._tokenizer = packaged_vocabulary(card.tower, _MAX_TOKENS)
        self._workers = workers
        self.dimension = len(self._one(""))

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`; long lists are spread over threads."""
        if len(texts) < _FEW or self._workers < 2:
            rows = [self._one(text) for text in texts]
        else:
            with ThreadPoolExecutor(self._workers) as pool:
                rows = list(pool.map(self._one, texts))
        return np.stack(rows) if rows else np.empty((0, self.dimension), np.float32)

    def _one(self, text: str) -> Matrix:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        vector, _ = self._session.run(None, {"input": ids})
        return np.asarray(vector, dtype=np.float32)
