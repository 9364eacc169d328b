"""A Llama or Qwen2 model as one ONNX graph with a key-value cache, float32 or in 8-bit blocks.

The graph is written node by node from the weights: ONNX Runtime has whole attention layers with
rotary positions as single operators, which exporting the model's Python code does not produce.

Inputs: `tokens` (1, new), `keep` (1,): for how many of the last tokens logits are returned, and per
layer `past_key.N`, `past_value.N` (1, heads, old, width). Outputs: `logits` (1, keep, vocabulary)
and per layer `key.N`, `value.N` (1, heads, old + new, width).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.errors import InputError
from ctrag.models.byte_products import BLOCK

GRAPH = "planner.onnx"
FORMAT = 1
"""Part of the graphs' names: those of another version of this module are rebuilt."""
LARGEST = 2_000_000_000
"""Bytes of a model's float32 weights at most: a graph is one protobuf message."""
_OWN = "com.microsoft"
"""Domain of ONNX Runtime's own operators."""
_MANY = 40
"""Tokens read at once from which it is faster to make float32 weights of the blocks first, where
products of bytes are slow."""
_HEADS_OF = 16
"""ONNX Runtime's attention takes heads of a multiple of it; OpenLLaMA-3B's have 100."""
_KINDS = ("llama", "qwen2")
"""Qwen2 is a Llama whose queries, keys and values have biases."""
_REQUIRED = {
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "use_sliding_window": False,
}


def check_config(config: Mapping[str, Any]) -> None:
    """Check whether a model can be written as a graph.

    Args:
        config: The content of the model's `config.json`.

    Raises:
        ValueError: It is no plain Llama or Qwen2; the message names what differs and the other
            engine.
    """
    if config.get("model_type", "llama") not in _KINDS:
        raise InputError(
            f"model_type: the onnxruntime engine needs 'llama' or 'qwen2', this model has "
            f"{config['model_type']!r}; set CTRAG_PLANNER_ENGINE=transformers"
        )
    for name, wanted in _REQUIRED.items():
        if config.get(name, wanted) != wanted:
            raise InputError(
                f"{name}: the onnxruntime engine needs {wanted!r}, this model has "
                f"{config[name]!r}; set CTRAG_PLANNER_ENGINE=transformers"
            )
    kind = _rope(config).get("rope_type", "default")
    if kind != "default":
        raise InputError(
            f"rope_type: the onnxruntime engine needs 'default', this model has {kind!r}; "
            "set CTRAG_PLANNER_ENGINE=transformers"
        )
    if head_width(config) % _HEADS_OF:
        raise InputError(
            f"head_dim: the onnxruntime engine needs a multiple of {_HEADS_OF}, this model has "
            f"{head_width(config)}; set CTRAG_PLANNER_ENGINE=transformers"
        )


def write_graph(
    weights: Mapping[str, NDArray[np.float32]],
    config: Mapping[str, Any],
    path: Path,
    bits: int | None,
    widened: bool = False,
) -> None:
    """Write the graph of a model.

    Args:
        weights: transformers' names → float32 arrays; without `lm_head.weight` the embeddings
            are used.
        config: The content of its `config.json`.
        path: The file.
        bits: 8 for the linear maps, in blocks of 32; None leaves them float32.
        widened: Whether the blocks become float32 while many tokens are read at once, for
            processors whose products of bytes are slow; see `ctrag.models.byte_products`.

    Raises:
        ValueError: The weights are too many for one graph; or see `check_config`.
    """
    import onnx

    check_config(config)
    size = sum(one.nbytes for one in weights.values()) // (1 if bits is None else 3)
    if size > LARGEST:
        raise InputError(
            f"weights: the onnxruntime engine takes {LARGEST:,} bytes at most, this model has "
            f"{size:,}; set CTRAG_PLANNER_ENGINE=transformers"
        )
    writer = _Writer(weights, config, bits is not None, widened)
    onnx.save_model(writer.model(), str(path))


def _rope(config: Mapping[str, Any]) -> Mapping[str, Any]:
    found = config.get("rope_parameters") or config.get("rope_scaling") or {}
    return {"rope_theta": config.get("rope_theta", 10000.0), **found}


def head_width(config: Mapping[str, Any]) -> int:
    """Dimension of one attention head."""
    width: int = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return width


class _Writer:
    """Collects nodes and weights; each method adds a part and returns the name of its output."""

    def __init__(
        self,
        weights: Mapping[str, NDArray[np.float32]],
        config: Mapping[str, Any],
        blocks: bool,
        widened: bool,
    ):
        self._weights = weights
        self._blocks = blocks
        self._widened = widened
        self._config = config
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._width = head_width(config)
        self._heads = int(config["num_attention_heads"])
        self._shared_heads = int(config.get("num_key_value_heads") or self._heads)
        self._layers = int(config["num_hidden_layers"])

    def model(self) -> Any:
        import onnx
        from onnx import TensorProto, helper

        hidden = self._embedded()
        self._rotary()
        self._lengths()
        for layer in range(self._layers):
            hidden = self._layer(layer, hidden)
        self._logits(hidden)
        cache = (1, self._shared_heads)
        inputs = [
            helper.make_tensor_value_info("tokens", TensorProto.INT64, (1, "new")),
            helper.make_tensor_value_info("keep", TensorProto.INT64, (1,)),
        ]
        vocabulary = int(self._config["vocab_size"])
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, (1, "k", vocabulary))]
        for layer in range(self._layers):
            for name in (f"key.{layer}", f"value.{layer}"):
                inputs.append(
                    helper.make_tensor_value_info(
                        f"past_{name}", TensorProto.FLOAT, (*cache, "old", self._width)
                    )
                )
                outputs.append(
                    helper.make_tensor_value_info(
                        name, TensorProto.FLOAT, (*cache, "all", self._width)
                    )
                )
        graph = helper.make_graph(self._nodes, "planner", inputs, outputs, self._constants)
        versions = [helper.make_opsetid("", 21), helper.make_opsetid(_OWN, 1)]
        return onnx.helper.make_model(graph, opset_imports=versions, ir_version=10)

    def _node(self, kind: str, inputs: list[str], output: str, **options: Any) -> str:
        return self._nodes_of(kind, inputs, [output], **options)[0]

    def _nodes_of(
        self, kind: str, inputs: list[str], outputs: list[str], own: bool = False, **options: Any
    ) -> list[str]:
        from onnx import helper

        domain = _OWN if own else ""
        self._nodes.append(
            helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **options)
        )
        return outputs

    def _constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _embedded(self) -> str:
        # Half precision: this table is only looked up, and it is a quarter of the model.
        table = self._weights["model.embed_tokens.weight"].astype(np.float16)
        self._constant("embeddings", table)
        looked_up = self._node("Gather", ["embeddings", "tokens"], "embedded.half", axis=0)
        return self._node("Cast", [looked_up], "embedded", to=1)

    def _rotary(self) -> None:
        base = float(_rope(self._config)["rope_theta"])
        speeds = base ** (-np.arange(0, self._width, 2, dtype=np.float64) / self._width)
        places = np.arange(int(self._config["max_position_embeddings"]))
        angles = np.outer(places, speeds)
        self._constant("cosines", np.cos(angles).astype(np.float32))
        self._constant("sines", np.sin(angles).astype(np.float32))

    def _lengths(self) -> None:
        """How many tokens there are with the cache; attention wants it in two forms."""
        self._constant("one", np.array([1], dtype=np.int32))
        self._constant("axis.tokens", np.array([0], dtype=np.int64))
        new = self._node("Shape", ["tokens"], "length.new", start=1, end=2)
        old = self._node("Shape", ["past_key.0"], "length.old", start=2, end=3)
        both = self._node("Add", [new, old], "length.both")
        self._node("Cast", [both], "length", to=6)
        self._node("Squeeze", ["length", "axis.tokens"], "length.scalar")
        self._node("Sub", ["length", "one"], "last.place")
        if self._widened:
            self._constant("many", np.array([_MANY], dtype=np.int64))
            several = self._node("GreaterOrEqual", [new, "many"], "reads.many")
            self._node("Squeeze", [several], "reads.many.scalar")

    def _linear(self, module: str, given: str) -> str:
        bias = self._weights.get(f"{module}.bias")
        out = f"{module}.out" if bias is None else f"{module}.product"
        self._map(module, self._weights[f"{module}.weight"], given, out)
        if bias is None:
            return out
        return self._node("Add", [out, self._constant(f"{module}.bias", bias)], f"{module}.out")

    def _map(self, module: str, weight: NDArray[np.float32], given: str, out: str) -> str:
        """The product with a weight (out, in), in blocks where that is wanted."""
        if not self._blocks:
            return self._node("MatMul", [given, self._constant(f"{module}.weight", weight.T)], out)
        rows, columns = weight.shape
        packed, scales = blocks_of(weight)
        inputs = [
            given,
            self._constant(f"{module}.packed", packed),
            self._constant(f"{module}.scales", scales),
        ]
        options = {"K": columns, "N": rows, "bits": 8, "block_size": BLOCK, "accuracy_level": 4}
        if not self._widened or module == "lm_head":  # of which one token at a time is read
            self._nodes_of("MatMulNBits", inputs, [out], own=True, **options)
            return out
        return self._widened_map(module, inputs, scales, out, options)

    def _widened_map(
        self,
        module: str,
        inputs: list[str],
        scales: NDArray[np.float32],
        out: str,
        options: dict[str, Any],
    ) -> str:
        """The product with float32 weights, made of the blocks, where many tokens are read."""
        from onnx import helper

        given, packed, _ = inputs
        shape = np.array([options["N"], options["K"]], dtype=np.int64)
        size = self._constant(f"{module}.shape", shape)
        by = self._constant(f"{module}.by", scales[..., None])
        zero = self._constant(f"{module}.zero", np.full((*scales.shape, 1), 128, np.uint8))
        wide, narrow = f"{out}.wide", f"{out}.narrow"
        made = f"{module}.blocks", f"{module}.wide"
        node = helper.make_node
        several = [
            node("DequantizeLinear", [packed, by, zero], [made[0]], axis=2, block_size=BLOCK),
            node("Reshape", [made[0], size], [made[1]]),
            node("FusedMatMul", [given, made[1]], [wide], domain=_OWN, transB=1),
        ]
        options = options | {"domain": _OWN}
        few = [node("MatMulNBits", inputs, [narrow], **options)]
        branches = {
            branch: helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(name)])
            for branch, nodes, name in (
                ("then_branch", several, wide),
                ("else_branch", few, narrow),
            )
        }
        return self._node("If", ["reads.many.scalar"], out, **branches)

    def _norm(self, module: str, given: str) -> str:
        scale = self._constant(f"{module}.weight", self._weights[f"{module}.weight"])
        epsilon = float(self._config["rms_norm_eps"])
        return self._node(
            "SimplifiedLayerNormalization",
            [given, scale],
            f"{module}.out",
            axis=-1,
            epsilon=epsilon,
            stash_type=1,
        )

    def _layer(self, layer: int, hidden: str) -> str:
        name = f"model.layers.{layer}"
        normed = self._norm(f"{name}.input_layernorm", hidden)
        asked, keys, values = (
            self._linear(f"{name}.self_attn.{part}_proj", normed) for part in "qkv"
        )
        attended, *_ = self._nodes_of(
            "GroupQueryAttention",
            [asked, keys, values, f"past_key.{layer}", f"past_value.{layer}",
             "last.place", "length.scalar", "cosines", "sines"],
            [f"{name}.attended", f"key.{layer}", f"value.{layer}"],
            own=True,
            num_heads=self._heads,
            kv_num_heads=self._shared_heads,
            do_rotary=1,
        )  # fmt: skip
        out = self._linear(f"{name}.self_attn.o_proj", attended)
        hidden = self._node("Add", [hidden, out], f"{name}.after_attention")
        normed = self._norm(f"{name}.post_attention_layernorm", hidden)
        gate = self._linear(f"{name}.mlp.gate_proj", normed)
        up = self._linear(f"{name}.mlp.up_proj", normed)
        opened = self._node("Sigmoid", [gate], f"{name}.mlp.sigmoid")
        opened = self._node("Mul", [gate, opened], f"{name}.mlp.silu")
        inner = self._node("Mul", [opened, up], f"{name}.mlp.inner")
        down = self._linear(f"{name}.mlp.down_proj", inner)
        return self._node("Add", [hidden, down], f"{name}.out")

    def _logits(self, hidden: str) -> None:
        """Only after the last tokens: the vocabulary is the widest map of all."""
        start = self._node("Neg", ["keep"], "keep.start")
        self._constant("keep.end", np.array([np.iinfo(np.int64).max]))
        self._constant("keep.axis", np.array([1], dtype=np.int64))
        last = self._node("Slice", [hidden, start, "keep.end", "keep.axis"], "kept")
        normed = self._norm("model.norm", last)
        head = self._weights.get("lm_head.weight", self._weights["model.embed_tokens.weight"])
        self._map("lm_head", head, normed, "logits")


def blocks_of(
    weight: NDArray[np.float32],
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A weight in 8-bit blocks along its rows, as MatMulNBits takes them.

    Args:
        weight: (out, in); `in` is a multiple of 32.

    Returns:
        (out, blocks, 32) bytes, of which 128 means 0, and (out, blocks) scales.
    """
    rows, columns = weight.shape
    blocks = weight.reshape(rows, columns // BLOCK, BLOCK)
    scales = (np.abs(blocks).max(axis=2) / 127).astype(np.float32)
    steps = np.where(scales == 0, 1, scales)[..., None]
    return (np.rint(blocks / steps) + 128).astype(np.uint8), scales
