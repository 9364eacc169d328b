"""Claims about the small encoder's graph, which is written without torch."""

from pathlib import Path

import numpy as np
import pytest

from ctrag.models import packages
from ctrag.models.bert_graph import packaged_weights, plain_graph, tuned_graph
from ctrag.models.encoder import EnsembleMember, open_session
from ctrag.models.vocabularies import packaged_vocabulary

TEXTS = ["ugh, can't make the 6 o'clock thing", "", "Macías 東京 🚲", "search: " + "dentist " * 90]


@pytest.fixture(autouse=True)
def own_weights(tmp_path: Path, configure: object) -> None:
    assert callable(configure)
    configure(weights=tmp_path / "weights")


def tokens(text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array([packaged_vocabulary(packages.ENCODER).encode(text).ids], dtype=np.int64)


def test_the_weights_are_the_float_ones_but_for_rounding_to_8_bits() -> None:
    torch = pytest.importorskip("torch")
    from ctrag.models.onnx_encoder import load_model

    kept = {name: one.numpy() for name, one in load_model(packages.ENCODER).state_dict().items()}
    found = packaged_weights()
    assert kept.keys() <= {*found, "embeddings.position_ids", "embeddings.token_type_ids"}
    for name, weights in kept.items():
        if weights.dtype == np.float32:
            assert found[name].shape == weights.shape, name
            # One step is a 127th of the largest weight that shares the scale; rounding is half.
            assert abs(found[name] - weights).max() <= abs(weights).max() / 254 + 1e-6, name
    assert torch.get_default_dtype() == torch.float32


def test_vectors_are_those_of_the_float_encoder_but_for_rounding() -> None:
    session, member = open_session(plain_graph(6)), EnsembleMember(packages.ENCODER)
    for text in TEXTS:
        vector, below = session.run(None, {"input": tokens(text)})
        whole, embedded = member.run(text)  # six of six layers are above: what is below are words
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        assert float(vector @ whole) > 0.99, text
        assert below.shape == embedded.shape
        assert abs(below - embedded).mean() < 0.1 * abs(embedded).mean()


def test_the_states_below_three_layers_are_not_those_after_the_last() -> None:
    text = {"input": tokens("call the dentist")}
    vector, below = open_session(plain_graph(3)).run(None, text)
    same, last = open_session(plain_graph(0)).run(None, text)
    assert np.array_equal(vector, same)
    assert abs(below - last).max() > 0.1
    mean = last[0].mean(axis=0)
    assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_changes_are_added_to_the_layer_that_they_name() -> None:
    shape = packaged_weights()["encoder.layer.5.output.dense.weight"].shape
    changes = np.zeros(shape, dtype=np.float32)
    text = {"input": tokens("call the dentist")}
    plain = open_session(plain_graph(0)).run(None, text)[1]
    same = open_session(tuned_graph(1, lambda: {"0.output.dense": changes}, "a")).run(None, text)
    assert np.array_equal(same[1], plain)
    changes[:8] = 0.01  # all outputs alike would be normalised away
    last = open_session(tuned_graph(1, lambda: {"0.output.dense": changes}, "b")).run(None, text)[1]
    first = open_session(tuned_graph(6, lambda: {"0.output.dense": changes}, "c")).run(None, text)
    assert abs(last - plain).max() > 1e-3
    assert abs(last - first[1]).max() > 1e-3


def test_a_graph_is_made_once() -> None:
    made = tuned_graph(1, dict, "d")
    written = made.stat().st_mtime_ns

    def never() -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
        raise AssertionError("made again")

    assert tuned_graph(1, never, "d") == made
    assert made.stat().st_mtime_ns == written
