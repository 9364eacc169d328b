"""Engines of the language model: tokens in, logits and a key-value cache out.

Two engines with one interface: `transformers` is the reference and runs any causal model; the
graph on `onnxruntime` needs no torch once it exists and decodes several times faster
(docs/serving.md). Neither falls back to the other.
"""

import copy
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ctrag.models.byte_products import fast_bytes
from ctrag.models.onnx_llama import FORMAT, GRAPH, check_config, head_width, write_graph
from ctrag.models.placement import Placement

CPU = Placement()
Logits = NDArray[np.float32]
EngineName = Literal["onnxruntime", "transformers"]
BITS: int | None = None
"""Bits of the graph's weights, None for float32: 8 decode twice as fast, but other plans
(docs/serving.md)."""


class Engine(Protocol):
    """A causal language model in memory."""

    name: str

    def forward(
        self, tokens: Sequence[int], cache: Any = None, keep: int = 1
    ) -> tuple[Logits, Any]:
        """Run the model on tokens after those of a cache.

        Args:
            tokens: The new tokens, at least one.
            cache: What an earlier call returned, None at the start. It is not modified: several
                continuations can branch from the same cache.
            keep: For how many of the last tokens logits are returned.

        Returns:
            Logits (keep, vocabulary), and the cache that holds all tokens so far.
        """
        ...

    def cut(self, cache: Any, length: int) -> Any:
        """A cache of the first `length` tokens of one; that one is not modified."""
        ...


class TransformersEngine:
    """The reference: transformers on torch."""

    name = "transformers"

    def __init__(
        self,
        folder: Path,
        threads: int,
        adapter: Path | None = None,
        placement: Placement = CPU,
    ) -> None:
        from ctrag.models.lm_weights import load_model

        self._model = load_model(folder, threads, adapter, placement)
        self._place = self._model.get_input_embeddings().weight.device

    def forward(
        self, tokens: Sequence[int], cache: Any = None, keep: int = 1
    ) -> tuple[Logits, Any]:
        """See `Engine.forward`."""
        import torch

        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor([list(tokens)], device=self._place),
                cache=_branch(cache),
                use_cache=True,
                logits_to_keep=keep,
            )
        return output.logits[0].float().cpu().numpy(), output.cache

    def cut(self, cache: Any, length: int) -> Any:
        """See `Engine.cut`."""
        branch = _branch(cache)
        if length < branch.get_seq_length():
            branch.crop(length - branch.get_seq_length())
        return branch


def _branch(cache: Any) -> Any:
    """A copy of a cache that can grow on its own; tensors are shared, as none is written to."""
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

        # Folding would widen all weights when the graph is opened; nothing else is constant.
        self._session = open_session(graph, threads, fold=False)
        names = [one.name for one in self._session.get_inputs()]
        self._caches = [name for name in names if name.startswith("past_")]
        heads = config.get("num_key_value_heads") or config["num_attention_heads"]
        self._empty = np.zeros((1, heads, 0, head_width(config)), np.float32)

    def forward(
        self, tokens: Sequence[int], cache: Any = None, keep: int = 1
    ) -> tuple[Logits, Any]:
        """See `Engine.forward`."""
        import onnxruntime

        empty = onnxruntime.OrtValue.ortvalue_from_numpy(self._empty)
        past = [empty] * len(self._caches) if cache is None else cache
        value_of = onnxruntime.OrtValue.ortvalue_from_numpy
        inputs = dict(zip(self._caches, past, strict=True))
        inputs["tokens"] = value_of(np.array([list(tokens)], np.int64))
        inputs["keep"] = value_of(np.array([keep], np.int64))
        logits, *grown = self._session.run_with_ort_values(None, inputs)
        return logits.numpy()[0], grown

    def cut(self, cache: Any, length: int) -> Any:
        """See `Engine.cut`."""
        import onnxruntime

        value_of = onnxruntime.OrtValue.ortvalue_from_numpy
        return [value_of(np.ascontiguousarray(one.numpy()[:, :, :length])) for one in cache]


def open_engine(
    name: EngineName,
    folder: Path,
    threads: int,
    adapter: Path | None,
    bits: int | None = BITS,
    placement: Placement = CPU,
) -> Engine:
    """The engine of that name with a model and its adapter; a graph is made once and kept.

    Args:
        name: Which engine.
        folder: The model's.
        threads: Of the engine.
        adapter: Folder of a LoRA adapter that is merged in, or None.
        bits: Of the graph's linear maps, 8 or None for float32; transformers ignores it.
        placement: Of transformers' model; the graph runs on the processor.

    Raises:
        ValueError: The model is no plain Llama or Qwen2, which `onnxruntime` needs.
    """
    if name == "transformers":
        return TransformersEngine(folder, threads, adapter, placement)
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return OnnxEngine(planner_graph(folder, config, adapter, bits), config, threads)


def planner_graph(
    folder: Path, config: dict[str, Any], adapter: Path | None, bits: int | None = BITS
) -> Path:
    """The graph of a model with an adapter merged in, in the weights folder.

    Args:
        folder: Holds `config.json` and the weights.
        config: The content of `config.json`.
        adapter: Folder of the adapter, None for the plain base model.
        bits: See `open_engine`.

    Raises:
        ValueError: See `check_config`.
    """
    from ctrag.models.weights import assembled

    check_config(config)

    def make(target: Path) -> None:
        from ctrag.models.lm_weights import load_model

        model = load_model(folder, 1, adapter)
        weights = {name: one.detach().float().numpy() for name, one in model.state_dict().items()}
        write_graph(weights, config, target / GRAPH, bits, widened)

    widened = bits is not None and not fast_bytes()
    name = f"planner-{_identity(folder, adapter, bits)}-{'wide-' if widened else ''}v{FORMAT}"
    return assembled(name, make) / GRAPH


def _identity(folder: Path, adapter: Path | None, bits: int | None) -> str:
    """Fingerprint of a model by path, size and time of its files, and of an adapter by its weights.

    A packaged model has the same one wherever it was converted to.
    """
    from ctrag.models.lm_weights import READY
    from ctrag.models.lora import weights_sha256

    parts = [str(bits)]
    if (folder / READY).exists():
        parts.append((folder / READY).read_text(encoding="utf-8"))
    else:
        weights = sorted({*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin")})
        files = [folder / "config.json", *weights]
        parts += [f"{one.resolve()} {one.stat().st_size} {one.stat().st_mtime_ns}" for one in files]
    if adapter is not None:
        parts.append(weights_sha256(adapter))
    return sha256("\n".join(parts).encode()).hexdigest()[:16]
