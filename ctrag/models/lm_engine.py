"""What runs the planner's model: tokens in, logits and a key-value cache out.

Two engines with one interface: `transformers` is the reference and runs any causal model; the
graph on `onnxruntime` needs no torch once it is made and decodes several times faster
(docs/serving.md). Neither stands in for the other unasked.
"""

import copy
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ctrag.models.onnx_llama import FORMAT, GRAPH, check_config, head_width, write_graph

Logits = NDArray[np.float32]
EngineName = Literal["onnxruntime", "transformers"]
BITS: int | None = None
"""Bits of the graph's weights, None for float32: 8 write twice as fast, but other plans
(docs/serving.md)."""


class Engine(Protocol):
    """A causal language model that has been read into memory."""

    name: str

    def forward(
        self, tokens: Sequence[int], cache: Any = None, keep: int = 1
    ) -> tuple[Logits, Any]:
        """Read tokens behind those of a cache.

        Args:
            tokens: What is new, at least one.
            cache: What an earlier call returned, None at the start. It stays as it is: several
                continuations of one beginning can be read from the same cache.
            keep: After how many of the last tokens logits are wanted.

        Returns:
            Logits (keep, vocabulary), and the cache that holds all tokens so far.
        """
        ...


class TransformersEngine:
    """The reference: transformers on torch, float32."""

    name = "transformers"

    def __init__(self, folder: Path, threads: int, adapter: Path | None = None) -> None:
        from ctrag.models.lm_weights import load_model

        self._model = load_model(folder, threads, adapter)

    def forward(
        self, tokens: Sequence[int], cache: Any = None, keep: int = 1
    ) -> tuple[Logits, Any]:
        """See `Engine.forward`."""
        import torch

        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor([list(tokens)]),
                cache=_branch(cache),
                use_cache=True,
                logits_to_keep=keep,
            )
        return output.logits[0].numpy(), output.cache


def _branch(cache: Any) -> Any:
    """A cache that can grow without the given one; tensors are shared, because none is written."""
    if cache is None:
        return None
    branch = copy.copy(cache)
    branch.layers = [copy.copy(layer) for layer in cache.layers]
    return branch


class OnnxEngine:
    """A Llama model as a graph on ONNX Runtime; see `ctrag.models.onnx_llama`."""

    name = "onnxruntime"

    def __init__(self, graph: Path, config: dict[str, Any], threads: int) -> None:
        from ctrag.models.encoder import open_session

        self._session = open_session(graph, threads)
        given = [one.name for one in self._session.get_inputs()]
        self._caches = [name for name in given if name.startswith("past_")]
        heads = config.get("num_key_value_heads") or config["num_attention_heads"]
        self._nothing = np.zeros((1, heads, 0, head_width(config)), np.float32)

    def forward(
        self, tokens: Sequence[int], cache: Any = None, keep: int = 1
    ) -> tuple[Logits, Any]:
        """See `Engine.forward`."""
        import onnxruntime

        nothing = onnxruntime.OrtValue.ortvalue_from_numpy(self._nothing)
        past = [nothing] * len(self._caches) if cache is None else cache
        made = onnxruntime.OrtValue.ortvalue_from_numpy
        given = dict(zip(self._caches, past, strict=True))
        given["tokens"] = made(np.array([list(tokens)], np.int64))
        given["keep"] = made(np.array([keep], np.int64))
        logits, *grown = self._session.run_with_ort_values(None, given)
        return logits.numpy()[0], grown


def open_engine(name: EngineName, folder: Path, threads: int, adapter: Path | None) -> Engine:
    """The engine of that name with a model and its adapter; a graph is made once and kept.

    Raises:
        ValueError: The model is no plain Llama, which `onnxruntime` needs.
    """
    if name == "transformers":
        return TransformersEngine(folder, threads, adapter)
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return OnnxEngine(planner_graph(folder, config, adapter), config, threads)


def planner_graph(folder: Path, config: dict[str, Any], adapter: Path | None) -> Path:
    """The graph of a model with an adapter merged in, in the weights folder.

    Args:
        folder: Holds `config.json` and the weights.
        config: What `config.json` says.
        adapter: Folder of the adapter, None for the base as it is.

    Raises:
        ValueError: See `check_config`.
    """
    from ctrag.models.weights import assembled

    check_config(config)

    def make(target: Path) -> None:
        from ctrag.models.lm_weights import load_model

        model = load_model(folder, 1, adapter)
        weights = {name: one.detach().numpy() for name, one in model.state_dict().items()}
        write_graph(weights, config, target / GRAPH, BITS)

    return assembled(f"planner-{_identity(folder, adapter)}-v{FORMAT}", make) / GRAPH


def _identity(folder: Path, adapter: Path | None) -> str:
    """Tells models apart by where and when their files were written, adapters by their weights.

    A packaged model is the same wherever it was converted to.
    """
    from ctrag.models.lm_weights import READY
    from ctrag.models.lora import weights_sha256

    parts = [str(BITS)]
    if (folder / READY).exists():
        parts.append((folder / READY).read_text(encoding="utf-8"))
    else:
        files = [folder / "config.json", *sorted(folder.glob("*.safetensors"))]
        parts += [f"{one.resolve()} {one.stat().st_size} {one.stat().st_mtime_ns}" for one in files]
    if adapter is not None:
        parts.append(weights_sha256(adapter))
    return sha256("\n".join(parts).encode()).hexdigest()[:16]
