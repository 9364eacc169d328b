"""The tuned request encoder: a target vector, kinds of items and APIs for a request.

An adapter (low-rank changes of the encoder's last layers, and two linear heads) is trained so that
a request's tuned vector is close to the items that the request needs, among all of its person's
items. Items keep their plain vectors: stores do not depend on the adapter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ctrag.errors import InputError
from ctrag.models.array_artefact import ArrayArtefact
from ctrag.models.arrays import arrays_digest, low_rank_changes
from ctrag.models.cards import Card
from ctrag.models.encoder import EncoderEnsemble, Matrix, open_session

WEIGHTS, CARD = "adapter.npz", "adapter-card.json"


class AdapterCard(Card):
    """Where an adapter comes from."""

    encoder: str
    kinds: list[str]
    """Kinds of items, in the order of the kind head."""
    apis: list[str]
    """APIs in the order of the API head; the last one is `none`."""
    temperature: float
    """Cosines are divided by it."""
    scale: float
    """Factor of the low-rank products."""


@dataclass(frozen=True, slots=True)
class TunedRequest:
    """A request as the tuned encoder represents it."""

    aim: Matrix
    """(dimension,): its product with an item's vector is the sum over members of the cosine divided
    by the temperature."""
    kinds: Matrix
    """(kinds,): log odds, up to a constant, that an item of the kind is needed."""
    apis: Matrix
    """(APIs + none,): log odds, up to a constant, that the API is the best."""


class Adapter(ArrayArtefact[AdapterCard]):
    """Weights of an adapter.

    Arrays: `encoder/layer.map.A` (rank, inputs) and `.B` (outputs, rank); `encoder/kinds` and
    `encoder/apis` (dimension + 1, classes), the last row being the intercept.
    """

    weights_file, card_file, card_class = WEIGHTS, CARD, AdapterCard

    @cached_property
    def digest(self) -> str:
        """Fingerprint of encoder and arrays."""
        return arrays_digest(self.card.encoder, self.arrays)

    def deltas(self, member: str) -> dict[str, Matrix]:
        """ "layer.map" → change of the member's weights, (outputs, inputs)."""
        return low_rank_changes(self.arrays, member, self.card.scale)

    def reading(self, tuned: Sequence[Matrix]) -> TunedRequest:
        """The reading from tuned unit vectors, one per member."""
        names = self.card.encoder.split("+")
        factor = np.sqrt(len(names)) / self.card.temperature
        heads = {}
        for head in ("kinds", "apis"):
            weights = [self.arrays[f"{name}/{head}"] for name in names]
            # The heads are trained on vectors of variance one.
            scores = [
                vector * np.sqrt(len(vector)) @ one[:-1] + one[-1]
                for vector, one in zip(tuned, weights, strict=True)
            ]
            heads[head] = np.asarray(np.sum(scores, axis=0), dtype=np.float32)
        aim = np.asarray(np.concatenate(list(tuned)) * factor, dtype=np.float32)
        return TunedRequest(aim, heads["kinds"], heads["apis"])


class RequestEncoder:
    """Encodes requests: plain vectors, and tuned readings where there is an adapter."""

    def __init__(self, encoder: Any, adapter: Adapter | None) -> None:
        if adapter is not None and adapter.card.encoder != encoder.name:
            raise InputError(
                f"encoder: the adapter was trained with {adapter.card.encoder}, not {encoder.name}"
            )
        self._encoder = encoder
        self._adapter = adapter

    def read(self, texts: Sequence[str]) -> list[tuple[Matrix, TunedRequest | None]]:
        """(unit vector, tuned reading or None) of each text."""
        if self._adapter is None:
            return [(vector, None) for vector in self._encoder.encode(texts)]
        encoder: EncoderEnsemble = self._encoder
        rows = list(zip(*encoder.run_with(self._tuned_sessions, texts), strict=True))
        return [
            (
                encoder.join([plain for plain, _ in row]),
                self._adapter.reading([tuned for _, tuned in row]),
            )
            for row in rows
        ]

    @cached_property
    def _tuned_sessions(self) -> list[Any]:
        from ctrag.models.onnx_encoder import top_graph

        assert self._adapter is not None
        return [
            open_session(
                top_graph(
                    member.name,
                    member.tuned_layers,
                    partial(self._adapter.deltas, member.name),
                    self._adapter.digest,
                )
            )
            for member in self._encoder.members
        ]
