"""OpenLLaMA's file format through the commands: trained, served, evaluated."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.models.lora import has_adapter, load_card
from tests.models.open_llama import open_llama
from tests.training.conftest import copy_people


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_llama(tmp_path_factory.mktemp("base") / "open_llama")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_people("dev", 6, tmp_path_factory.mktemp("people") / "six")


@pytest.mark.slow
@pytest.mark.model
def test_open_llama_is_trained_served_and_evaluated(
    ctrag: Callable[..., Any],
    configure: Callable[..., None],
    base: Path,
    people: Path,
    tmp_path: Path,
) -> None:
    adapter, rows = tmp_path / "adapter", tmp_path / "found.json"
    train = ["train", "planner", "--data", people, "--base", base, "--out", adapter]
    ran = ctrag(*train, "--limit", 12, "--device", "cpu", "--threads", 1)
    assert ran.code == 0, ran.err
    assert has_adapter(adapter)
    assert load_card(adapter).base == str(base)

    configure(planner_model=base, planner_adapter=adapter, planner_decides=True, threads=1)
    asked = ctrag("ask", "what did the school lady want", "--persona", "p007", "--json")
    assert asked.code == 0, asked.err
    [planned] = [one for one in asked.json["trace"] if one["step"] == "planner.plan"]
    assert planned["outputs"]["engine"] == "transformers"
    assert planned["outputs"]["prompt_tokens"] > 100

    which = ["eval", "planner", "--data", people, "--methods", "rag", "--limit", 2, "--no-free"]
    evaluated = ctrag(*which, "--out", rows)
    assert evaluated.code == 0, evaluated.err
    found = json.loads(rows.read_text(encoding="utf-8"))
    assert found["settings"]["planner_model"] == str(base)
    assert found["figures"]["rag"]["hallucination"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bits", "4"], "bitsandbytes|sees no GPU"),
        (["--bits", "3"], "bits: must be 4 or 8, not 3"),
        (["--device", "cuda"], "device: cuda, but torch .* sees no GPU"),
        (["--device", "all"], "device: all, but torch .* sees no GPU"),
        (["--device", "gpu"], "device: must be auto, cpu, mps, cuda, cuda:N or all, not 'gpu'"),
    ],
)
def test_what_this_machine_cannot_do_is_said_before_anything_is_read(
    ctrag: Callable[..., Any], base: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    import re

    out = tmp_path / "adapter"
    for command in ("planner", "slots"):
        ran = ctrag(
            "train", command, "--data", tmp_path / "none", "--base", base, "--out", out, *options
        )
        assert ran.code != 0
        assert re.search(message, ran.err), ran.err
        assert not out.exists()


def test_a_base_without_a_tokenizer_is_refused_before_anything_is_read(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"not read")
    ran = ctrag(
        "train", "planner", "--data", tmp_path / "none", "--base", tmp_path, "--out", tmp_path / "a"
    )
    assert ran.code != 0
    assert "holds neither tokenizer.json nor tokenizer.model" in ran.err
