"""Claims about the packaged vocabularies."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from ctrag.models import packages
from ctrag.models.vocabularies import packaged_vocabulary

TEXTS = [
    "ugh, can't make the 6 o'clock thing",
    "",
    "Macías 東京 🚲",
    "a\n\n  b\tc",
    "<|im_start|>user",
]


def same(name: str, whole: Tokenizer) -> None:
    whole.no_padding()
    whole.no_truncation()
    packaged = packaged_vocabulary(name)
    assert packaged.get_vocab() == whole.get_vocab()
    for text in TEXTS:
        assert packaged.encode(text).ids == whole.encode(text).ids, text


def test_word_pieces_are_those_of_the_encoders_package() -> None:
    folder = packages.require(packages.ENCODER) / "model"
    same(packages.ENCODER, Tokenizer.from_file(str(folder / "tokenizer.json")))


@pytest.mark.usefixtures("with_planner")
def test_byte_pairs_are_those_of_the_planners_weights(tmp_path: Path) -> None:
    [folder] = (tmp_path / "cache" / "models").iterdir()
    same(packages.PLANNER, Tokenizer.from_file(str(folder / "tokenizer.json")))


def test_a_text_is_cut_where_one_says() -> None:
    assert len(packaged_vocabulary(packages.ENCODER, 7).encode("call " * 20).ids) == 7
    assert len(packaged_vocabulary(packages.ENCODER).encode("call " * 20).ids) == 22  # and two ends


def test_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="'gpt-4' is neither all-MiniLM-L6-v2 nor SmolLM2"):
        packaged_vocabulary("gpt-4")
