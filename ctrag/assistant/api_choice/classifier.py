"""The API classifier: which API a request needs, from its text and the retrieved items.

Encoders tuned to predict the API, each with a small head that attends from the request to the
retrieved items: their kind, time and text, and the encoder's states of their words after the
request's. The log probabilities of all encoders are averaged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from ctrag.assistant.api_choice.classifier_features import (
    ITEMS,
    ClassifierFeatures,
    classifier_features,
)
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import Ints
from ctrag.errors import InputError
from ctrag.models.array_artefact import ArrayArtefact
from ctrag.models.arrays import arrays_digest, low_rank_changes
from ctrag.models.cards import Card
from ctrag.models.encoder import Matrix, open_session

WEIGHTS, CARD = "reader.npz", "reader-card.json"
VECTOR_SCALE = 0.3
REQUEST, LINE, LONGEST = 48, 30, 140
"""Tokens of the request, of an item's line and of a whole text at most."""
_LEAST = 1e-6
_RAREST = -12.0


class ClassifierEncoderCard(BaseModel):
    """One encoder of a classifier."""

    model_config = ConfigDict(extra="forbid")
    name: str
    lines: int
    """Items whose words are appended to the request."""
    layers: int
    """Layers, counted from the last, that are tuned."""


class ApiClassifierCard(Card):
    """Where a classifier comes from."""

    encoder: str
    """Encoder of the items' vectors."""
    towers: list[ClassifierEncoderCard]
    apis: list[str]
    """Classes in order; the last one is `none`."""
    scale: float
    """Factor of the low-rank products."""
    temperature: float = 1.0
    """The averaged log probabilities are divided by it (calibration)."""


class ApiClassifier(ArrayArtefact[ApiClassifierCard]):
    """Log probabilities of APIs for a request and its retrieved items.

    Arrays: `encoder/layer.map.A` and `.B`, and the heads' weights as `encoder/head.part`.
    """

    weights_file, card_file, card_class = WEIGHTS, CARD, ApiClassifierCard
    eight_bits = True

    @classmethod
    def packaged(cls) -> "ApiClassifier":
        """The classifier that ctrag ships."""
        return cls.load(Path(str(files("ctrag.assistant.api_choice").joinpath("artefact"))))

    def log_probabilities(
        self, context: FeatureContext, rows: Ints, shares: NDArray[np.floating]
    ) -> dict[str, float]:
        """API (and `none`) → log probability.

        Args:
            context: The request and its candidates.
            rows: Rows of the context that hold the retrieved items, best first; empty without.
            shares: Probability that each item is meant, summing to 1.
        """
        inputs = classifier_features(context, rows, shares)
        logs = self.log_probabilities_of(context.request.text, inputs)
        return {
            api: max(float(value), _RAREST) for api, value in zip(self.card.apis, logs, strict=True)
        }

    def log_probabilities_of(self, request: str, inputs: ClassifierFeatures) -> NDArray[np.float64]:
        """(classes,): log probabilities of the card's APIs, for features that exist already."""
        total = np.zeros(len(self.card.apis), dtype=np.float64)
        for encoder in self.card.towers:
            text = classifier_text(request, inputs, encoder.lines)
            encoded = self._encode(encoder.name, text)
            total += log_softmax(self._head(encoder.name, encoded, inputs))
        found: NDArray[np.float64] = log_softmax(
            total / len(self.card.towers) / self.card.temperature
        )
        return found

    def prepare(self) -> None:
        """Make graphs and open sessions, which the first request would otherwise wait for."""
        for encoder in self.card.towers:
            self._encode(encoder.name, "ready")

    @cached_property
    def digest(self) -> str:
        """Fingerprint of scale, encoders and arrays."""
        return arrays_digest(f"{self.card.scale}|{self.card.towers}", self.arrays, self.eight_bits)

    def _head(
        self, encoder: str, encoded: "EncodedText", inputs: ClassifierFeatures
    ) -> NDArray[np.float64]:
        """Scores of all classes; the twin of the head in `training.api_classifier.network`."""

        def part(name: str) -> Matrix:
            return self.arrays[f"{encoder}/head.{name}"]

        def linear(name: str, values: Matrix) -> Matrix:
            found: Matrix = values @ part(f"{name}.weight").T + part(f"{name}.bias")
            return found

        vector = encoded.whole
        wide = np.sqrt(inputs.vectors.shape[1]) * VECTOR_SCALE
        there = inputs.flags[:, -1:]
        items = gelu(
            part("kind.weight")[inputs.kinds]
            + linear("flags", inputs.flags)
            + linear("vector", inputs.vectors * wide)
            + encoded.lines @ part("read.weight").T
        )
        items = items * there
        wanted = linear("key", items) @ linear("query", vector) / 8
        wanted = wanted + part("trust") * np.log(inputs.shares + _LEAST)
        wanted = np.where(there[:, 0] > 0, wanted, -1e4)
        attention = np.exp(wanted - wanted.max())
        attention /= attention.sum()
        together = np.concatenate(
            [vector, attention @ items, inputs.shares @ items, items[0], inputs.asked]
        )
        scores = linear("out", gelu(linear("hidden", together))) + linear("skip", together)
        return np.asarray(scores, dtype=np.float64)

    def _encode(self, encoder: str, text: str) -> "EncodedText":
        encoded: EncodedText = self._encoders[encoder](text)
        return encoded

    @cached_property
    def _encoders(self) -> dict[str, Any]:
        return {encoder.name: self._open(encoder) for encoder in self.card.towers}

    def _open(self, encoder: ClassifierEncoderCard) -> Any:
        from ctrag.models.onnx_encoder import whole_graph

        if f"{encoder.name}/head.read.weight" not in self.arrays:
            raise InputError(
                f"reader: it was trained by a version that did not read items' words apart; train "
                f"it on: {self.card.command} --start READER"
            )
        deltas = partial(low_rank_changes, self.arrays, encoder.name, self.card.scale)
        session = open_session(whole_graph(encoder.name, encoder.layers, deltas, self.digest))
        tokenize = tokens_of(encoder.name)

        @lru_cache(maxsize=512)
        def encode(text: str) -> EncodedText:
            tokens = tokenize(text)
            vector, states = session.run(None, {"input": np.array([tokens.ids], dtype=np.int64)})
            size = np.sqrt(len(vector))
            lines = np.zeros((ITEMS, len(vector)), dtype=np.float32)
            for place, (begin, end) in enumerate(tokens.lines[:ITEMS]):
                mean = states[begin:end].mean(axis=0)
                lines[place] = mean / np.linalg.norm(mean) * size
            return EncodedText(np.asarray(vector * size, dtype=np.float32), lines)

        return encode


@dataclass(frozen=True, slots=True)
class EncodedText:
    """A text as an encoder represents it; vectors of variance one."""

    whole: Matrix
    """(dimension,): mean over all tokens."""
    lines: Matrix
    """(ITEMS, dimension): mean over each item's tokens; zero where its words were left out."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as token ids."""

    ids: list[int]
    lines: list[tuple[int, int]]
    """Begin and end of the lines after the first one, up to `LONGEST` tokens."""


def classifier_text(text: str, inputs: ClassifierFeatures, lines: int) -> str:
    """The encoder's input: the request, and the words of the best `lines` items."""
    return "\n".join([" ".join(text.split()), *inputs.lines[:lines]])


def tokens_of(encoder: str) -> Callable[[str], Tokens]:
    """A tokenizer of an encoder that puts separators between the lines of a text."""
    from tokenizers import Tokenizer

    from ctrag.models.weights import encoder_folder

    tokenizer = Tokenizer.from_file(str(encoder_folder(encoder) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    first, *_, last = tokenizer.encode("a").ids

    def encode(text: str) -> Tokens:
        ids = [first]
        lines = []
        for place, words in enumerate(text.split("\n")):
            begin = len(ids)
            own = tokenizer.encode(words, add_special_tokens=False).ids
            ids += [*own[: LINE if place else REQUEST], last]
            if place and begin < LONGEST:
                lines.append((begin, min(len(ids), LONGEST)))
        return Tokens(ids[:LONGEST], lines)

    return encode


def gelu(values: Matrix) -> Matrix:
    """GELU in its tanh form."""
    inner = np.sqrt(2 / np.pi) * (values + 0.044715 * values**3)
    return np.asarray(0.5 * values * (1 + np.tanh(inner)), dtype=np.float32)


def log_softmax(scores: Sequence[float] | NDArray[np.floating]) -> NDArray[np.float64]:
    """Logarithms of the shares of exponentials, along the last axis."""
    shifted = np.asarray(scores, dtype=np.float64)
    shifted = shifted - shifted.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))
