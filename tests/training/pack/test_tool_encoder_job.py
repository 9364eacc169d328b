"""Claims about the packed job of tool search's encoder."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctrag.errors import InputError
from ctrag.models.tool_encoder import ToolEncoderWeights
from training.pack.job import JOB, RESULT, main
from training.pack.read import unpack
from training.pack.slices import cut, digest
from training.pack.write import pack_tool_encoder
from training.tool_search.encoder import ToolEncoderSettings, train_tool_encoder

pytestmark = pytest.mark.training

QUICK = ToolEncoderSettings(
    layers=1, rank=2, batch=4, near=2, epochs=2, save_seconds=0.0, threads=1
)
ASKED = {
    "rain_now": ["is it wet outside", "do I need an umbrella now"],
    "book_train": ["get me to Oslo by rail", "the night sleeper to Rome"],
    "sum_numbers": ["what do these come to: 3, 4, 5", "total of my column"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = tmp_path_factory.mktemp("tools") / "toy"
    own.mkdir()
    tools = [{"name": name, "description": name.replace("_", " ")} for name in ASKED]
    (own / "tools.json").write_text(json.dumps(tools))
    rows = [
        {"query_id": f"{name}{place}", "text": text, "tools": [name]}
        for name, texts in ASKED.items()
        for place, text in enumerate(texts)
    ]
    (own / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return own


@pytest.fixture(scope="module")
def packed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("packed") / "job"
    pack_tool_encoder([folder], [folder], QUICK, out)
    return out


def test_a_job_gives_the_encoder_that_training_here_gives(
    packed: Path, folder: Path, tmp_path: Path
) -> None:
    job = shutil.copytree(packed, tmp_path / "job")
    assert main(job, ["--device", "cpu", "--threads", "1"]) == 0
    card = unpack(job, tmp_path / "there")
    here = train_tool_encoder([folder], [folder], QUICK, tmp_path / "checkpoints")
    here.save(tmp_path / "here")
    first, second = (ToolEncoderWeights.load(tmp_path / one) for one in ("here", "there"))
    assert first.digest == second.digest
    assert any(np.abs(one).max() > 0 for name, one in first.arrays.items() if name.endswith(".B"))
    assert card.figures == here.card.figures
    assert card.model_dump().items() >= {"tower": QUICK.tower, "layers": 1, "scale": 2.0}.items()
    for part in job.rglob("weights-*"):
        assert part.stat().st_size <= 50_000_000


def test_a_job_learns_changes_further(packed: Path, folder: Path, tmp_path: Path) -> None:
    first = train_tool_encoder([folder], [], replace(QUICK, epochs=1), tmp_path / "one")
    job = tmp_path / "job"
    pack_tool_encoder([folder], [], replace(QUICK, learning_rate=0.0), job, first)
    assert main(job, ["--device", "cpu", "--threads", "1", "--limit", "1"]) == 0
    card = unpack(job, tmp_path / "out", "results-limit-1")
    kept = ToolEncoderWeights.load(tmp_path / "out")
    assert card.before == first.card.command
    for name, one in first.arrays.items():
        assert kept.arrays[name] == pytest.approx(one, abs=1e-3), name


def test_changes_of_another_rank_are_refused_before_packing(folder: Path, tmp_path: Path) -> None:
    first = train_tool_encoder([folder], [], replace(QUICK, epochs=1), tmp_path / "one")
    with pytest.raises(InputError, match="other layers or with another rank"):
        pack_tool_encoder([folder], [], replace(QUICK, rank=3), tmp_path / "job", first)
    assert not (tmp_path / "job").exists()


def test_results_that_are_no_encoder_are_refused(packed: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save

    good = {"0.map.A": torch.ones(2, 4), "0.map.B": torch.ones(3, 2)}
    cases = {
        "its weights are not pairs of A and B": {"0.map.A": torch.ones(2, 4)},
        "not of rank 2": good | {"0.map.B": torch.ones(3, 5)},
        "no finite numbers": good | {"0.map.B": torch.full((3, 2), torch.inf)},
    }
    for number, (problem, weights) in enumerate(cases.items()):
        job = tmp_path / str(number)
        (job / "results").mkdir(parents=True)
        shutil.copy(packed / JOB, job)
        result = {
            "job": digest(job / JOB), "limit": None, "steps": 1, "loss": 0.5, "figures": {},
            "device": "cpu", "seconds": 1.0,
            "weights": cut([save(weights)], job / "results", "adapter", 10_000),
        }  # fmt: skip
        (job / "results" / RESULT).write_text(json.dumps(result))
        with pytest.raises(InputError, match=problem):
            unpack(job, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_tool_encoder_job_needs_nothing_of_this_repository(packed: Path, tmp_path: Path) -> None:
    job = shutil.copytree(packed, tmp_path / "job")
    blocked = (
        "import sys, runpy; sys.argv = ['run.py', '--device', 'cpu', '--limit', '1']\n"
        "sys.modules['ctrag'] = sys.modules['stores'] = sys.modules['eval'] = None\n"
        f"runpy.run_path({str(job / 'run.py')!r}, run_name='__main__')"
    )
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [sys.executable, "-c", blocked], cwd=tmp_path, env=own, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert (job / "results-limit-1" / RESULT).exists()
