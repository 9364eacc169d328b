"""Whether this processor multiplies bytes faster than float32.

Weights of 8 bits are four times smaller, and with VNNI (x86 since about 2019 to 2021, by maker) or
the dot products of Arm they are faster, too. On older processors products of bytes take more than
twice the time of float32 wherever several tokens are read at once: there the encoders of requests
and items keep float32, and a language model's weights are widened while a prompt is read
(`ctrag.models.onnx_llama`). It is measured once for a processor and a version of ONNX Runtime, in
some tenths of a second, and kept beside the weights.
"""

import json
import logging
import platform
import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.models.weights import assembled
from ctrag.settings import settings

BLOCK = 32
"""Weights that share a scale."""
_FILE = "seconds.json"
_TOKENS, _IN, _OUT = 24, 768, 3072
"""What is multiplied: a short text in a layer of an encoder."""
_TURNS = 7
_SLOWER = 1.3
"""How much slower products of bytes may be for the memory that they save."""


def fast_bytes() -> bool:
    """Whether products with 8-bit weights are about as fast as those with float32, or faster; or
    what `Settings.byte_weights` says."""
    wanted = settings().byte_weights
    return known_here() if wanted is None else wanted


@cache
def known_here() -> bool:
    """What was measured on this processor, once."""
    import onnxruntime

    def make(folder: Path) -> None:
        text = json.dumps(dict(zip(("bytes", "floats"), measured(), strict=True)))
        (folder / _FILE).write_text(text, encoding="utf-8")

    key = sha256(f"{_processor()} {onnxruntime.__version__}".encode()).hexdigest()[:12]
    text = (assembled(f"byte-products-{key}", make) / _FILE).read_text(encoding="utf-8")
    return are_fast(**json.loads(text))


def are_fast(*, bytes: float, floats: float) -> bool:
    """What the seconds of the two products say."""
    return bytes < _SLOWER * floats


def compact(model: Any) -> Any:
    """The graph as it is fastest here: in bytes (`in_bytes`), or as it is."""
    return in_bytes(model) if fast_bytes() else model


def version(number: int) -> str:
    """The end of a graph's name, of that format and as `compact` makes it here."""
    return f"v{number}" if fast_bytes() else f"float-v{number}"


def measured() -> tuple[float, float]:
    """Seconds of a product with 8-bit weights and with float32 ones, on one thread."""
    from onnx import TensorProto, helper, numpy_helper

    weight = np.random.default_rng(1).standard_normal((_IN, _OUT)).astype(np.float32)
    values = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["given", "weight"], ["out"])],
        "product",
        [values("given", TensorProto.FLOAT, (_TOKENS, _IN))],
        [values("out", TensorProto.FLOAT, (_TOKENS, _OUT))],
        [numpy_helper.from_array(weight, "weight")],
    )
    versions = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    floats = helper.make_model(graph, opset_imports=versions, ir_version=10)
    took_floats = _seconds(floats)
    return _seconds(in_bytes(floats)), took_floats


def _seconds(model: Any) -> float:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    given = {"given": np.ones((_TOKENS, _IN), np.float32)}
    session.run(None, given)
    took = []
    for _ in range(_TURNS):
        began = time.perf_counter()
        session.run(None, given)
        took.append(time.perf_counter() - began)
    return min(took)


def in_bytes(model: Any) -> Any:
    """The graph with 8 bits in blocks in place of its linear maps' float weights; it is changed in
    place."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    # Its module configures the root logger, and with it every other library's.
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("onnxruntime.quantization.matmul_nbits_quantizer").setLevel(logging.ERROR)
    quantiser = MatMulNBitsQuantizer(
        model, bits=8, block_size=BLOCK, is_symmetric=True, accuracy_level=4
    )
    quantiser.process()
    return quantiser.model.model


def _processor() -> str:
    """The processor's name and kind, as far as the system tells it."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return name
    of_interest = ("model name", "cpu family", "model\t", "flags", "Features")
    said = [line.split(":", 1)[1].strip() for line in lines if line.startswith(of_interest)]
    flags = [f for f in said[-1].split() if f.startswith(("avx", "amx", "i8mm", "asimddp"))]
    return " ".join([*said[:-1][:3], *flags]) if said else name
