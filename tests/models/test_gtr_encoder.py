"""Claims about an encoder in GTR-T5's files: a T5 encoder, mean pooling, a projection."""

from pathlib import Path

import numpy as np
import pytest

from ctrag.models.encoder import TransformersEncoder, load_encoder
from tests.models.tiny_gtr import REACHED, tiny_gtr

TEXTS = ["what did the school lady want", "gate code", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_gtr(tmp_path_factory.mktemp("gtr") / "gtr-t5-tiny")


def test_a_vector_is_the_projected_mean_of_the_tokens_of_length_one(folder: Path) -> None:
    import torch
    from transformers import AutoTokenizer, T5EncoderModel

    encoder = load_encoder(str(folder))
    assert isinstance(encoder, TransformersEncoder)
    assert encoder.name == "gtr-t5-tiny"
    found = encoder.encode(TEXTS)
    assert found.shape == (3, REACHED)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = T5EncoderModel.from_pretrained(folder).eval()
    projection = torch.load(folder / "2_Dense" / "pytorch_model.bin")["linear.weight"]
    for text, vector in zip(TEXTS, found, strict=True):
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        wanted = (projection @ states.mean(dim=0)).numpy()
        np.testing.assert_allclose(vector, wanted / np.linalg.norm(wanted), atol=1e-5)


def test_a_vector_does_not_depend_on_the_texts_beside_it(folder: Path) -> None:
    encoder = load_encoder(str(folder))
    together = encoder.encode(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-5)
