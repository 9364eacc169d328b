"""Transformer encoders as ONNX graphs, made once from packaged weights: with 8-bit weights in
blocks, or in float32 where those are faster (`ctrag.models.byte_products`).

Two graphs per encoder. `base` maps tokens to the sentence vector and the hidden states before its
last layers; `top` maps those hidden states through the last layers once more, with an adapter's
weights added, so that a tuned reading of a request costs a few layers and not a whole model.
"""

import io
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.extras import need
from ctrag.models.byte_products import compact, version
from ctrag.models.weights import assembled, encoder_folder

GRAPH = "graph.onnx"
_FORMAT = 1
"""Part of the folders' names: graphs of another version of this module are rebuilt."""


def load_model(name: str) -> Any:
    """The encoder's transformers model, float32, evaluation mode, without its pooler."""
    need(f"converting {name}", "torch", "transformers", extra="assistant")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import AutoModel
    from transformers.utils import logging as quiet

    quiet.disable_progress_bar()
    quiet.set_verbosity_error()
    model = AutoModel.from_pretrained(
        encoder_folder(name), attn_implementation="eager", add_pooling_layer=False
    )
    return model.float().eval()


def base_graph(name: str, top: int) -> Path:
    """The graph of an encoder whose last `top` layers also exist tuned.

    Raises:
        ModelMissing: The weights are not on this machine.
    """

    def make(folder: Path) -> None:
        model = load_model(name)
        import torch

        _export(_base(model, top), torch.tensor([[0, 2, 3, 4, 5, 6]]), folder, "plain", "below")

    return assembled(f"{Path(name).name}-base{top}-{version(_FORMAT)}", make) / GRAPH


def top_graph(
    name: str, top: int, deltas: Callable[[], Mapping[str, NDArray[np.float32]]], digest: str
) -> Path:
    """The graph of an encoder's last `top` layers with an adapter.

    Args:
        name: The encoder.
        top: How many layers.
        deltas: Gives "layer.map" (counted from the first of these layers) → change of the weights;
            called when the graph does not exist.
        digest: Fingerprint of the adapter.
    """

    def make(folder: Path) -> None:
        model = load_model(name)
        import torch

        _add(model, top, deltas())
        sample = torch.randn(1, 6, model.config.hidden_size)
        _export(_top(model, top), sample, folder, "tuned")

    return assembled(f"{Path(name).name}-top{top}-{digest}-{version(_FORMAT)}", make) / GRAPH


def whole_graph(
    name: str, layers: int, deltas: Callable[[], Mapping[str, NDArray[np.float32]]], digest: str
) -> Path:
    """The graph of a whole encoder with an adapter in its last `layers`: from tokens to their unit
    vector, and to the hidden state of each.

    Args:
        name: The encoder.
        layers: How many layers are tuned.
        deltas: As for `top_graph`.
        digest: Fingerprint of the adapter.
    """

    def make(folder: Path) -> None:
        model = load_model(name)
        import torch

        _add(model, layers, deltas())
        _export(_whole(model), torch.tensor([[0, 2, 3, 4, 5, 6]]), folder, "tuned", "states")

    return assembled(f"{Path(name).name}-read{layers}-{digest}-{version(_FORMAT)}", make) / GRAPH


def _add(model: Any, layers: int, deltas: Mapping[str, NDArray[np.float32]]) -> None:
    import torch

    tuned = model.encoder.layer[-layers:]
    with torch.no_grad():
        for key, delta in deltas.items():
            place, map_name = key.split(".", 1)
            tuned[int(place)].get_submodule(map_name).weight += torch.from_numpy(delta)


def run_layers(model: Any, hidden: Any, first: int, keep: int | None = None) -> tuple[Any, Any]:
    """(last hidden states, those before layer `keep`) of a text without padding."""
    encoder = model.encoder
    bias = encoder.compute_position_bias(hidden) if model.config.model_type == "mpnet" else None
    below = hidden
    for place, layer in enumerate(encoder.layer[first:], first):
        if place == keep:
            below = hidden
        out = layer(hidden, None) if bias is None else layer(hidden, None, bias)
        hidden = out[0] if isinstance(out, tuple) else out
    return hidden, below


def _base(model: Any, top: int) -> Any:
    import torch

    class Base(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: Any) -> Any:
            embedded = self.model.embeddings(input_ids=ids)
            keep = len(self.model.encoder.layer) - top
            last, below = run_layers(self.model, embedded, 0, keep)
            return torch.nn.functional.normalize(last.mean(dim=1), dim=-1)[0], below

    return Base()


def _top(model: Any, top: int) -> Any:
    import torch

    class Top(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, below: Any) -> Any:
            last, _ = run_layers(self.model, below, len(self.model.encoder.layer) - top)
            return torch.nn.functional.normalize(last.mean(dim=1), dim=-1)[0]

    return Top()


def _whole(model: Any) -> Any:
    import torch

    class Whole(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: Any) -> Any:
            last, _ = run_layers(self.model, self.model.embeddings(input_ids=ids), 0)
            return torch.nn.functional.normalize(last.mean(dim=1), dim=-1)[0], last[0]

    return Whole()


def _export(module: Any, sample: Any, folder: Path, *outputs: str) -> None:
    import onnx
    import torch

    # The exporter prints warnings that no option turns off.
    with (
        torch.no_grad(),
        warnings.catch_warnings(),
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        plain = folder / "float.onnx"
        torch.onnx.export(
            module,
            (sample,),
            str(plain),
            input_names=["input"],
            output_names=list(outputs),
            dynamic_axes={
                "input": {1: "tokens"},
                "below": {1: "tokens"},
                "states": {0: "tokens"},
            },
            opset_version=17,
            dynamo=False,
        )
        onnx.save_model(compact(onnx.load(str(plain))), str(folder / GRAPH))
    plain.unlink()
