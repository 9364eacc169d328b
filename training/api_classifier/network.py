"""The API classifier as a torch module: an encoder with low-rank changes, and the head on top."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ctrag.assistant.api_choice.classifier import (
    VECTOR_SCALE,
    ApiClassifier,
    Tokens,
    classifier_text,
    tokens_of,
)
from ctrag.assistant.api_choice.classifier_features import ASKED, FLAGS, ITEMS, ClassifierFeatures
from ctrag.assistant.context.learned_features import KINDS
from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.onnx_encoder import load_model
from training.api_classifier.examples import ClassifierExample

_WIDTH = 128


@dataclass(frozen=True, slots=True)
class ClassifierEncoderTuning:
    """How one encoder is tuned."""

    name: str
    epochs: int
    learning_rate: float
    layers: int
    lines: int = 0
    """Number of items whose text follows the request's."""


ENCODERS = (
    ClassifierEncoderTuning(
        packages.LARGE_ENCODER, epochs=3, learning_rate=3e-4, layers=12, lines=3
    ),
    ClassifierEncoderTuning(packages.ENCODER, epochs=5, learning_rate=5e-4, layers=6, lines=3),
)


@dataclass(frozen=True, slots=True)
class ApiClassifierSettings:
    """What all encoders share."""

    towers: tuple[ClassifierEncoderTuning, ...] = ENCODERS
    rank: int = 16
    scale: float = 2.0
    batch: int = 32
    head_rate: float = 1e-3
    hidden: int = 512
    dropout: float = 0.1
    weight_decay: float = 0.01
    modes: tuple[float, ...] = (0.5, 0.2, 0.3)
    """Probability of each of `MODES` in training."""
    item_weight: float = 0.3
    """Loss weight of finding the needed items, relative to predicting the API."""
    start: str | None = None
    """Digest of the classifier that is trained further; None for a new one."""
    average: bool = True
    """Whether further training ends with the mean of the weights before and after, which forgets
    less of what was learned before (docs/log.md)."""
    threads: int = 2
    seed: int = 1

    def seen(self, epochs: int | None, start: ApiClassifier | None) -> "ApiClassifierSettings":
        """These settings with this many epochs; one by default when there is a `start`."""
        often = epochs if epochs is not None or start is None else 1
        encoders = tuple(
            one if often is None else replace(one, epochs=often) for one in self.towers
        )
        return replace(self, towers=encoders, start=None if start is None else start.digest)


def make_network(
    encoder: ClassifierEncoderTuning, settings: ApiClassifierSettings, dimension: int, classes: int
) -> Any:
    """A module from (`Tokens` of texts, their features) to (scores of classes, attention on items).

    Args:
        encoder: Which encoder, and how it is tuned.
        settings: What all encoders share.
        dimension: Of the items' vectors.
        classes: How many APIs there are, `none` among them.
    """
    import torch
    from torch import nn

    from training.core.low_rank import LowRankNetwork, make_low_rank
    from training.core.precision import halves

    model = load_model(encoder.name)
    size = int(model.config.hidden_size)
    padding = int(model.config.pad_token_id)
    encode = tokens_of(encoder.name)
    wide = math.sqrt(dimension) * VECTOR_SCALE
    together = size + 3 * _WIDTH + len(ASKED)

    class Head(nn.Module):  # type: ignore[misc]  # torch is untyped here
        """The twin of `ApiClassifier._head`."""

        def __init__(self) -> None:
            super().__init__()
            self.kind = nn.Embedding(len(KINDS) + 1, _WIDTH)
            self.flags = nn.Linear(len(FLAGS), _WIDTH)
            self.vector = nn.Linear(dimension, _WIDTH)
            self.read = nn.Linear(size, _WIDTH, bias=False)
            nn.init.zeros_(self.read.weight)
            self.key = nn.Linear(_WIDTH, 64)
            self.query = nn.Linear(size, 64)
            self.trust = nn.Parameter(torch.ones(1))
            self.hidden = nn.Linear(together, settings.hidden)
            self.out = nn.Linear(settings.hidden, classes)
            self.skip = nn.Linear(together, classes)
            self.few = nn.Dropout(settings.dropout)
            self.many = nn.Dropout(2 * settings.dropout)

        def forward(
            self, request: Any, lines: Any, features: Sequence[ClassifierFeatures]
        ) -> tuple[Any, Any]:
            """(scores of classes, attention on items)."""

            def stacked(name: str) -> Any:
                return torch.from_numpy(np.stack([getattr(one, name) for one in features]))

            request = self.few(request)
            flags, shares = stacked("flags"), stacked("shares")
            there = flags[..., -1:]
            items = nn.functional.gelu(
                self.kind(stacked("kinds"))
                + self.flags(flags)
                + self.vector(stacked("vectors") * wide)
                + self.read(self.few(lines)),
                approximate="tanh",
            )
            items = items * there
            wanted = (self.key(items) * self.query(request)[:, None]).sum(-1) / 8
            wanted = wanted + self.trust * torch.log(shares + 1e-6)
            attention = torch.softmax(wanted.masked_fill(there[..., 0] == 0, -1e4), dim=1)
            joined = torch.cat(
                [
                    request,
                    (attention[..., None] * items).sum(1),
                    (shares[..., None] * items).sum(1),
                    items[:, 0],
                    stacked("asked"),
                ],
                dim=1,
            )
            inner = nn.functional.gelu(self.hidden(joined), approximate="tanh")
            return self.out(self.many(inner)) + self.skip(joined), attention

    class Network(LowRankNetwork):
        def __init__(self) -> None:
            super().__init__()
            self.head = Head()
            self.low = make_low_rank(
                model, encoder.layers, settings.rank, settings.scale, settings.dropout
            )
            self.model = model
            self.known: dict[str, Tokens] = {}

        def tokens(self, one: ClassifierExample, mode: str) -> Tokens:
            text = classifier_text(one.text, one.features[mode], encoder.lines)
            if text not in self.known:
                self.known[text] = encode(text)
            found: Tokens = self.known[text]
            return found

        def head_parameters(self) -> list[nn.Parameter]:
            return list(self.head.parameters())

        def forward(
            self, rows: Sequence[Tokens], features: Sequence[ClassifierFeatures]
        ) -> tuple[Any, Any]:
            longest = max(len(row.ids) for row in rows)
            ids = torch.full((len(rows), longest), padding)
            real = torch.zeros(len(rows), longest)
            within = torch.zeros(len(rows), ITEMS, longest)
            for place, row in enumerate(rows):
                ids[place, : len(row.ids)] = torch.tensor(row.ids)
                real[place, : len(row.ids)] = 1
                for line, (begin, end) in enumerate(row.lines[:ITEMS]):
                    within[place, line, begin:end] = 1 / (end - begin)
            with torch.autocast("cpu", torch.bfloat16, enabled=halves()):
                hidden = self.model(input_ids=ids, attention_mask=real.long()).last_hidden_state
            kept = real[..., None]
            mean = (hidden.float() * kept).sum(dim=1) / kept.sum(dim=1)
            unit = nn.functional.normalize(mean, dim=-1) * math.sqrt(size)
            lines = nn.functional.normalize(within @ hidden.float(), dim=-1) * math.sqrt(size)
            found: tuple[Any, Any] = self.head(unit, lines, features)
            return found

        def named_parts(self) -> dict[str, nn.Parameter]:
            head = {f"head.{name}": part for name, part in self.head.named_parameters()}
            return head | super().named_parts()

        def take(self, start: ApiClassifier) -> None:
            for name, part in self.named_parts().items():
                array = start.arrays.get(f"{encoder.name}/{name}")
                if array is None and name == "head.read.weight":
                    continue  # stays zero
                if array is None or array.shape != tuple(part.shape):
                    raise InputError(
                        f"start: the classifier has no {name} of shape {tuple(part.shape)} for "
                        f"{encoder.name}; start from a classifier of the same encoders and layers"
                    )
                with torch.no_grad():
                    part.copy_(torch.from_numpy(array))

        def average(self, start: ApiClassifier) -> None:
            with torch.no_grad():
                for name, part in self.named_parts().items():
                    array = start.arrays.get(f"{encoder.name}/{name}")
                    part.add_(0 if array is None else torch.from_numpy(array)).div_(2)

    return Network()
