"""A dozen of the packaged people and a small encoder: training takes a second."""

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ctrag.models.encoder import Encoder, Matrix
from ctrag.text.words import terms
from eval.core.examples import RankingExample, load_examples
from stores.compressed import read_kept
from synth.reference import split_folder


def copy_people(split: str, count: int, folder: Path) -> Path:
    """The first `count` people of a packaged split with their requests, as a data set."""
    source = split_folder(split)
    people = read_kept(source / "personas.jsonl").decode().splitlines()[:count]
    known = {json.loads(line)["persona_id"] for line in people}
    asked = read_kept(source / "queries.jsonl").decode().splitlines()
    asked = [line for line in asked if json.loads(line)["persona_id"] in known]
    folder.mkdir(exist_ok=True)
    for name, lines in (("personas", people), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def halves(data: Path, folder: Path) -> list[Path]:
    """Two data sets of the same people: every other request in each."""
    lines = (data / "queries.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    parts = []
    for name, own in (("even", lines[::2]), ("odd", lines[1::2])):
        part = folder / name
        part.mkdir()
        (part / "personas.jsonl").write_bytes((data / "personas.jsonl").read_bytes())
        (part / "queries.jsonl").write_text("".join(own), encoding="utf-8")
        parts.append(part)
    return parts


class HashEncoder:
    """Words hashed into `dimension` bins: texts with the same words are close."""

    name = "bins"
    dimension = 24

    def encode(self, texts: Sequence[str]) -> Matrix:
        rows = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text):
                row[zlib.crc32(term.encode()) % self.dimension] += 1
            row /= np.linalg.norm(row)
        return rows


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Matrices this small only wait for each other's threads, tenfold on a busy machine."""
    import lightgbm  # noqa: F401  (only libraries that are loaded can be limited)
    import sklearn.linear_model  # noqa: F401

    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return HashEncoder()


@pytest.fixture(scope="session")
def dozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_people("train", 12, tmp_path_factory.mktemp("training") / "dozen")


@pytest.fixture(scope="session")
def examples(dozen: Path, encoder: Encoder) -> list[RankingExample]:
    return load_examples(dozen, encoder)


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory, converted_planner: Path) -> Path:
    """Two random layers with the embedded planner's tokenizer: OpenLLaMA's architecture."""
    import shutil

    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    [real] = (converted_planner / "models").iterdir()
    folder = tmp_path_factory.mktemp("llama")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=49_152,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        initializer_range=0.3,  # a frozen head of small weights could tell no token from another
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    shutil.copy(real / "tokenizer.json", folder)
    return folder
