"""Claims about the adapter and the tuned reading of requests."""

from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.artefacts import load_artefacts
from ctrag.assistant.context.learned_features import KINDS
from ctrag.models.encoder import Encoder, load_encoder
from ctrag.models.request_adapter import Adapter, RequestEncoder

TEXTS = ["ugh, can't make the 6 o'clock thing", "who rang while I was under"]


@pytest.fixture(scope="module")
def adapter() -> Adapter:
    found = load_artefacts(None).adapter
    assert found is not None
    return found


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder()


def test_the_packaged_adapter_is_under_five_megabytes(adapter: Adapter, tmp_path: Path) -> None:
    adapter.save(tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 5_000_000


def test_what_was_saved_is_what_is_loaded(adapter: Adapter, tmp_path: Path) -> None:
    adapter.save(tmp_path)
    again = Adapter.load(tmp_path)
    assert again.card == adapter.card
    assert again.digest == adapter.digest
    assert all(np.array_equal(again.arrays[name], adapter.arrays[name]) for name in again.arrays)


def test_plain_vectors_are_those_of_the_encoder(adapter: Adapter, encoder: Encoder) -> None:
    read = RequestEncoder(encoder, adapter).read(TEXTS)
    assert np.array_equal(np.stack([vector for vector, _ in read]), encoder.encode(TEXTS))


def test_without_an_adapter_there_is_no_reading(encoder: Encoder) -> None:
    [(vector, tuned)] = RequestEncoder(encoder, None).read(TEXTS[:1])
    assert tuned is None
    assert np.array_equal(vector, encoder.encode(TEXTS[:1])[0])


def test_the_aim_adds_up_the_encoders_cosines_over_the_temperature(
    adapter: Adapter, encoder: Encoder
) -> None:
    [(_, tuned)] = RequestEncoder(encoder, adapter).read(TEXTS[:1])
    [item] = encoder.encode(["calendar event: Dentist at six"])
    assert tuned is not None
    parts = []
    start = 0
    for size in (384, 768):
        aim, own = tuned.aim[start : start + size], item[start : start + size]
        parts.append(float(aim @ own / np.linalg.norm(aim) / np.linalg.norm(own)))
        start += size
    assert tuned.aim @ item == pytest.approx(sum(parts) / adapter.card.temperature, abs=1e-3)
    assert (len(tuned.kinds), len(tuned.apis)) == (len(KINDS), len(adapter.card.apis))


def test_a_request_about_a_missed_call_expects_calls(adapter: Adapter, encoder: Encoder) -> None:
    [(_, tuned)] = RequestEncoder(encoder, adapter).read(TEXTS[1:])
    assert tuned is not None
    kind = KINDS[int(np.argmax(tuned.kinds))]
    assert kind == "voicemail" or kind.startswith("call ")


def test_an_adapter_of_another_encoder_is_refused(adapter: Adapter) -> None:
    with pytest.raises(ValueError, match=r"adapter was trained with .*, not all-MiniLM-L6-v2-int8"):
        RequestEncoder(load_encoder("all-MiniLM-L6-v2-int8"), adapter)
