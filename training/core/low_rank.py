"""Low-rank changes of an encoder's linear maps, while they are learned.

Needs torch and numpy alone: packed training jobs carry this module.
"""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

_LINEAR: dict[str, tuple[str, ...]] = {
    "bert": (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "intermediate.dense",
        "output.dense",
    ),
    "mpnet": (
        "attention.attn.q",
        "attention.attn.k",
        "attention.attn.v",
        "attention.attn.o",
        "intermediate.dense",
        "output.dense",
    ),
}
"""Architecture → the linear maps of a layer that are changed."""


class LowRank(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """A frozen linear map with a low-rank change that begins at zero."""

    def __init__(self, linear: nn.Linear, rank: int, scale: float, dropout: float) -> None:
        super().__init__()
        self.linear = linear
        self.scale = scale
        self.A = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.B = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Any) -> Any:
        """The map's output with the change."""
        return self.linear(x) + self.scale * (self.drop(x) @ self.A.T) @ self.B.T


class LowRankNetwork(nn.Module):  # type: ignore[misc]
    """An encoder whose low-rank maps are learned, optionally with heads on top."""

    low: dict[str, LowRank]
    """What `make_low_rank` gave."""

    def adapter_parameters(self) -> list[nn.Parameter]:
        """Those of the low-rank maps."""
        return [part for low in self.low.values() for part in (low.A, low.B)]

    def named_parts(self) -> dict[str, nn.Parameter]:
        """What artefacts keep: `map.A` (rank, inputs) and `map.B` (outputs, rank)."""
        return {
            f"{name}.{letter}": getattr(low, letter)
            for name, low in self.low.items()
            for letter in "AB"
        }

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Copies of the parts."""
        parts = self.named_parts().items()
        return {name: part.detach().cpu().numpy().copy() for name, part in parts}


def make_low_rank(
    model: Any, layers: int, rank: int, scale: float, dropout: float
) -> dict[str, LowRank]:
    """Freeze an encoder and put low-rank maps into its last `layers`.

    Args:
        model: The encoder.
        layers: How many of its last layers are tuned.
        rank: Of the maps.
        scale: Factor of their products.
        dropout: Of the maps' inputs and within the encoder. Drawing the masks is a third of a
            training step on a processor, which large data can do without.

    Returns:
        "layer.map", layers counted from the first of these → the map that replaced it.
    """
    model.requires_grad_(False)
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = dropout
    found = {}
    for place, layer in enumerate(model.encoder.layer[-layers:]):
        for name in _LINEAR[model.config.model_type]:
            parent, _, leaf = name.rpartition(".")
            low = LowRank(layer.get_submodule(name), rank, scale, dropout)
            setattr(layer.get_submodule(parent), leaf, low)
            found[f"{place}.{name}"] = low
    return found
