"""Claims about processors: what is slow in bytes stays in float32, and both compute the same."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from ctrag.models import byte_products
from ctrag.models.byte_products import (
    are_fast,
    compact,
    fast_bytes,
    in_bytes,
    known_here,
    measured,
    version,
)


def product(weight: np.ndarray) -> ModelProto:
    rows, columns = weight.shape
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["given", "weight"], ["out"])],
        "product",
        [helper.make_tensor_value_info("given", TensorProto.FLOAT, ("n", rows))],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ("n", columns))],
        [numpy_helper.from_array(weight, "weight")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def kinds(model: ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def test_bytes_give_the_product_to_within_a_hundredth() -> None:
    draw = np.random.default_rng(3)
    weight = draw.standard_normal((64, 48)).astype(np.float32)
    given = draw.standard_normal((5, 64)).astype(np.float32)
    model = in_bytes(product(weight))
    assert kinds(model) == ["MatMulNBits"]
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = np.asarray(session.run(None, {"given": given})[0])
    wanted = given @ weight
    assert 0 < np.abs(found - wanted).mean() / np.abs(wanted).mean() < 0.02


@pytest.mark.parametrize(("fast", "kind"), [(True, "MatMulNBits"), (False, "MatMul")])
def test_a_graph_is_in_bytes_where_they_are_fast_and_is_named_by_that(
    monkeypatch: pytest.MonkeyPatch, fast: bool, kind: str
) -> None:
    monkeypatch.setattr(byte_products, "fast_bytes", lambda: fast)
    assert kinds(compact(product(np.ones((32, 32), np.float32)))) == [kind]
    assert version(1) == ("v1" if fast else "float-v1")


def test_bytes_may_be_a_little_slower_for_what_they_save() -> None:
    assert are_fast(bytes=0.010, floats=0.009)
    assert not are_fast(bytes=0.020, floats=0.009)


def test_it_is_measured_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    took = []

    def slow() -> tuple[float, float]:
        took.append(1)
        return 2.0, 1.0

    monkeypatch.setenv("CTRAG_WEIGHTS", str(tmp_path))
    monkeypatch.setattr(byte_products, "measured", slow)
    for _ in range(2):
        known_here.cache_clear()
        assert not fast_bytes()
    known_here.cache_clear()
    assert took == [1]


def test_both_products_take_time() -> None:
    assert min(measured()) > 0


@pytest.mark.parametrize(("said", "wanted"), [("true", True), ("false", False)])
def test_a_setting_decides_without_measuring(
    monkeypatch: pytest.MonkeyPatch, said: str, wanted: bool
) -> None:
    monkeypatch.setenv("CTRAG_BYTE_WEIGHTS", said)
    monkeypatch.setattr(byte_products, "known_here", lambda: not wanted)
    assert fast_bytes() is wanted
