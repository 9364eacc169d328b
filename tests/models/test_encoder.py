"""Claims about the packaged encoder."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.models.encoder import (
    TUNED_LAYERS,
    Encoder,
    EncoderEnsemble,
    EnsembleMember,
    OnnxEncoder,
    load_encoder,
    open_session,
)
from ctrag.models.packages import ENCODER

pytestmark = pytest.mark.usefixtures("encoding_anew")

TEXTS = [
    "ugh, can't make the 6 o'clock thing",
    "calendar event: Dentist. Elm Street 4",
    "",
    "jazz",
    "Macías 東京 🚲",
    "web search: dentist near the bus stop",
    "reminder in Home: Water plants",
    "note in Travel: Packing list. passport, tent",
    "missed phone call with Ben",
    "dentist",
]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder()


def test_rows_have_length_one_and_are_float32(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384 + 768)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_a_text_has_the_same_vector_alone_as_in_a_list(encoder: Encoder) -> None:
    together = encoder.encode(TEXTS)  # ten: spread over threads
    few = encoder.encode(TEXTS[:3])  # one by one
    for row, text in enumerate(TEXTS):
        assert np.array_equal(encoder.encode([text])[0], together[row]), text
    assert np.array_equal(few, together[:3])


def test_the_order_of_the_texts_is_kept(encoder: Encoder) -> None:
    assert np.array_equal(encoder.encode(TEXTS[::-1]), encoder.encode(TEXTS)[::-1])


def test_the_number_of_workers_changes_nothing(encoder: Encoder) -> None:
    assert np.array_equal(EncoderEnsemble(workers=1).encode(TEXTS), encoder.encode(TEXTS))


def test_no_texts_give_no_rows_of_the_same_width(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, 384 + 768)


def test_ten_thousand_characters_are_cut_and_not_refused(encoder: Encoder) -> None:
    long = "dentist on Elm Street, " * 435
    assert len(long) > 10_000
    first, second = encoder.encode([long, long + " and then the tax office"])
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(first, second)


def test_meaning_brings_texts_together(encoder: Encoder) -> None:
    asked, near, far = encoder.encode(["toothache", "calendar event: Dentist", "song: Blue Moon"])
    assert asked @ near > asked @ far + 0.1


@settings(max_examples=25)
@given(st.text(max_size=200))
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    vector = load_encoder().encode([text])[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_an_encoder_is_loaded_once() -> None:
    assert load_encoder() is load_encoder()
    assert load_encoder().name == "all-MiniLM-L6-v2+all-mpnet-base-v2"


def test_the_cosine_is_the_mean_of_the_encoders_cosines(encoder: Encoder) -> None:
    first, second = encoder.encode(TEXTS[:2])
    parts = [EnsembleMember(name) for name in encoder.name.split("+")]
    cosines = [float(one.run(TEXTS[0])[0] @ one.run(TEXTS[1])[0]) for one in parts]
    assert first @ second == pytest.approx(np.mean(cosines), abs=1e-5)


def test_the_int8_encoder_can_be_asked_for_by_name() -> None:
    small = load_encoder("all-MiniLM-L6-v2-int8")
    assert isinstance(small, OnnxEncoder)
    assert small.encode(TEXTS).shape == (len(TEXTS), 384)


def test_a_graph_is_in_memory_once_and_only_while_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession

    from ctrag.models.onnx_encoder import base_graph

    monkeypatch.setattr("onnxruntime.InferenceSession", InferenceSession)  # tests share theirs
    graph = base_graph(ENCODER, TUNED_LAYERS[ENCODER])
    first, second = (open_session(graph, threads=3) for _ in range(2))  # as nobody else opens it
    assert first is second
    assert open_session(graph, threads=2) is not first
    used = weakref.ref(first)
    del first, second
    gc.collect()
    assert used() is None
