"""The last layers of an encoder as a torch module that an adapter changes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctrag.assistant.context.learned_features import KINDS
from ctrag.models import packages
from ctrag.models.encoder import EnsembleMember, Matrix
from ctrag.models.onnx_encoder import load_model


@dataclass(frozen=True, slots=True)
class EncoderTuning:
    """How one encoder is tuned; chosen by cross-validation on train."""

    epochs: int
    learning_rate: float
    dropout: float = 0.1


TUNING = {
    packages.ENCODER: EncoderTuning(epochs=6, learning_rate=3e-4),
    packages.LARGE_ENCODER: EncoderTuning(epochs=4, learning_rate=3e-4),
}


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What all encoders share."""

    folds: int = 5
    """Readings of a fold's people come from adapters that learned from the others; two are enough
    where there are thousands of requests."""
    rank: int = 16
    batch: int = 32
    head_rate: float = 3e-3
    temperature: float = 0.05
    api_weight: float = 0.3
    scale: float = 2.0
    weight_decay: float = 0.01
    epochs: int | None = None
    """For all encoders; None for each one's own."""
    dropout: float | None = None
    """For all encoders; None for each one's own."""
    average: bool = True
    """Whether further training ends with the mean of the weights before and after."""
    half: bool = True
    """Whether layers compute in bfloat16 where that is faster (`training.core.precision`)."""
    threads: int = 2
    seed: int = 1


def make_network(
    member: EnsembleMember, settings: EncoderSettings, dropout: float, apis: int
) -> Any:
    """A module from hidden states below the tuned layers to (unit vector, kinds, APIs).

    Args:
        member: The encoder whose last layers are tuned.
        settings: Rank and scale.
        dropout: Of the low-rank maps, the layers and the heads.
        apis: How many APIs there are, `none` among them.
    """
    import torch
    from torch import nn

    from training.core.low_rank import LowRankNetwork, make_low_rank
    from training.core.precision import halves

    model = load_model(member.name)
    size = int(model.config.hidden_size)
    mpnet = model.config.model_type == "mpnet"

    class Network(LowRankNetwork):
        def __init__(self) -> None:
            super().__init__()
            self.low = make_low_rank(
                model, member.tuned_layers, settings.rank, settings.scale, dropout
            )
            self.model = model
            self.layers = model.encoder.layer[-member.tuned_layers :]
            self.kinds = nn.Linear(size, len(KINDS))
            self.apis = nn.Linear(size, apis)
            nn.init.zeros_(self.kinds.weight)
            nn.init.zeros_(self.kinds.bias)
            self.drop = nn.Dropout(dropout)

        def head_parameters(self) -> list[nn.Parameter]:
            return [*self.kinds.parameters(), *self.apis.parameters()]

        def forward(self, below: Sequence[Matrix]) -> tuple[Any, Any, Any]:
            longest = max(len(one) for one in below)
            hidden = torch.zeros(len(below), longest, size)
            real = torch.zeros(len(below), longest, 1)
            for row, one in enumerate(below):
                hidden[row, : len(one)] = torch.from_numpy(one)
                real[row, : len(one)] = 1
            bias = [model.encoder.compute_position_bias(hidden)] if mpnet else []
            mask = (1 - real.transpose(1, 2))[:, None] * -1e9
            with torch.autocast("cpu", torch.bfloat16, enabled=settings.half and halves()):
                for layer in self.layers:
                    out = layer(hidden, mask, *bias)
                    hidden = out[0] if isinstance(out, tuple) else out
            mean = (hidden.float() * real).sum(dim=1) / real.sum(dim=1)
            unit = nn.functional.normalize(mean, dim=-1)
            scaled = self.drop(unit * math.sqrt(size))
            return unit, self.kinds(scaled), self.apis(scaled)

        def arrays(self) -> dict[str, Matrix]:
            found = super().arrays()
            for name in ("kinds", "apis"):
                head = getattr(self, name)
                rows = torch.cat([head.weight.T, head.bias[None]]).detach().numpy().copy()
                found[name] = rows
            return found

        def restore(self, weights: dict[str, Matrix]) -> None:
            with torch.no_grad():
                for name, part in self.named_parts().items():
                    part.copy_(torch.from_numpy(weights[name]))
                for name in ("kinds", "apis"):
                    head = getattr(self, name)
                    head.weight.copy_(torch.from_numpy(weights[name][:-1].T))
                    head.bias.copy_(torch.from_numpy(weights[name][-1]))

    return Network()
