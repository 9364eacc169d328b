"""Results that come back from another machine name nothing elsewhere and bring only an adapter."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.lm_weights import write_merged
from ctrag.models.lora import PLANS, SLOTS, packaged_adapter, read_adapter
from tests.models.open_llama import open_llama
from training.pack.job import JOB, RESULT
from training.pack.read import unpack
from training.pack.slices import cut, digest, within

RANK = 2


def adapter(**changed: Any) -> bytes:
    """The weights of an adapter of one map, with other values for some."""
    import torch
    from safetensors.torch import save

    name = "base_model.model.layers.0.q_proj.lora_"
    found = {f"{name}A.weight": torch.ones(RANK, 4), f"{name}B.weight": torch.ones(3, RANK)}
    return save(found | changed)


def job(folder: Path, sent: bytes, **changed: Any) -> Path:
    """A job that has run, with another value for some fields of its result."""
    (folder / "results").mkdir(parents=True)
    source = {"command": "toy", "data": "toy", "data_sha256": "hash", "seed": 1, "versions": {}}
    content = {
        "format": 1, "base": "", "tuning": {"rank": RANK, "alpha": 4}, "settings": {},
        "source": source, "figures": {"requests": 1.0},
    }  # fmt: skip
    (folder / JOB).write_text(json.dumps(content))
    result = {
        "job": digest(folder / JOB), "limit": None, "steps": 1, "loss": 0.5, "device": "cpu",
        "seconds": 1.0, "weights": cut([sent], folder / "results", "adapter", 10_000),
    }  # fmt: skip
    (folder / "results" / RESULT).write_text(json.dumps(result | changed))
    return folder


def test_an_adapter_comes_back(tmp_path: Path) -> None:
    card = unpack(job(tmp_path / "job", adapter()), tmp_path / "out")
    assert (card.rank, card.figures["training"]["last_loss"]) == (RANK, 0.5)


@pytest.mark.parametrize("file", ["../../secret", "/etc/passwd", "..", "a/b", "", "linked"])
def test_a_result_names_no_file_elsewhere(tmp_path: Path, file: str) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(adapter())
    part = {"file": file, "bytes": 1, "sha256": digest(secret)}
    folder = job(tmp_path / "job", adapter(), weights=[part])
    (folder / "results" / "linked").symlink_to(secret)
    with pytest.raises(InputError, match=r"weights\.0\.file|which is not in it"):
        unpack(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("file", ["../x", "/etc/passwd", "code/../../x", ""])
def test_a_job_names_no_file_elsewhere(tmp_path: Path, file: str) -> None:
    with pytest.raises(ValueError, match="which is not in it"):
        within(tmp_path, file)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"loss": float("nan")}, "loss Input should be a finite number"),
        ({"steps": "many"}, "steps Input should be a valid integer"),
        ({"weights": {}}, "weights Input should be a valid array"),
        ({"job": 7}, "job Input should be a valid string"),
        ({"weights": []}, "its weights cannot be read"),
    ],
)
def test_a_damaged_result_is_told(tmp_path: Path, changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        unpack(job(tmp_path / "job", adapter(), **changed), tmp_path / "out")


@pytest.mark.parametrize("content", [b"[]", b"null", b"[" * 9000, b"\xff", b"", b'{"format": 2}'])
def test_what_is_no_job_is_told_with_its_file(tmp_path: Path, content: bytes) -> None:
    folder = job(tmp_path / "job", adapter())
    (folder / JOB).write_bytes(content)
    with pytest.raises(InputError, match=r"job\.json: "):
        unpack(folder, tmp_path / "out")


def test_weights_that_are_no_adapter_are_refused(tmp_path: Path) -> None:
    import torch

    name = "base_model.model.layers.0.q_proj.lora_"
    cases = {
        "holds values that are no finite numbers": adapter(
            **{f"{name}A.weight": torch.full((RANK, 4), torch.nan)}
        ),
        "not of rank 2": adapter(**{f"{name}A.weight": torch.ones(9, 4)}),
        "its weights are not pairs": adapter(other=torch.ones(1)),
        "its weights cannot be read": b"\x80\x04pickled",
    }
    for number, (problem, weights) in enumerate(cases.items()):
        with pytest.raises(InputError, match=problem):
            unpack(job(tmp_path / f"job{number}", weights), tmp_path / "out")


def test_a_merged_model_does_not_take_the_place_of_its_base(tmp_path: Path) -> None:
    base = open_llama(tmp_path / "base")
    folder = tmp_path / "adapter"
    unpack(job(tmp_path / "job", adapter()), folder)
    for out in (base, folder):
        before = {one.name: one.read_bytes() for one in out.iterdir()}
        with pytest.raises(InputError, match="is the adapter or its base; give another folder"):
            write_merged(str(base), folder, out)
        assert {one.name: one.read_bytes() for one in out.iterdir()} == before


@pytest.mark.parametrize("purpose", [PLANS, SLOTS])
def test_the_packaged_adapters_are_adapters(purpose: str) -> None:
    base = {PLANS: packages.PLANNER, SLOTS: packages.INSTRUCT}[purpose]
    folder = packaged_adapter(base, purpose)
    assert folder is not None
    card, weights = read_adapter(folder)
    assert len(weights) % 2 == 0
    assert card.rank > 0
