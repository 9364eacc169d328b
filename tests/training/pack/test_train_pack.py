"""Claims about training jobs in a folder: they run alone, go on, and come back whole."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.models.lora import load_card
from eval.core.examples import RankingExample
from tests.models.open_llama import open_llama
from training.core.tuning import CHECKPOINT
from training.pack.base_model import causal_model
from training.pack.given import Given
from training.pack.job import JOB, RESULT, main
from training.pack.read import unpack
from training.pack.slices import blocks_of, cut, joined
from training.pack.write import pack_adapter
from training.planner.examples import MixSettings, lessons
from training.planner.train import PlannerSettings, planner_rows, train_planner

SOURCE = {
    "command": "toy", "data": "toy", "data_sha256": "hash", "people": [], "seed": 1, "versions": {},
}  # fmt: skip
QUICK = PlannerSettings(
    rank=4,
    alpha=8,
    threads=1,
    save_every=2,
    mix=MixSettings(together=3, no_tools=1.0),
    longest=4000,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_llama(tmp_path_factory.mktemp("base") / "open_llama")


@pytest.fixture(scope="module")
def taught(examples: list[RankingExample]) -> Any:
    return lessons(examples, [one.relevance for one in examples])[:18]


@pytest.fixture(scope="module")
def packed(taught: Any, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("packed") / "job"
    rows = planner_rows(taught, QUICK)
    pack_adapter("planner", rows, str(base), QUICK, out, SOURCE, {"requests": 18.0})
    return out


@pytest.fixture
def job(packed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(packed, tmp_path / "job")


def weights(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(str(folder / "adapter_model.safetensors"))


def test_a_job_gives_the_adapter_that_training_here_gives(
    job: Path, taught: Any, base: Path, tmp_path: Path
) -> None:
    assert main(job, ["--device", "cpu"]) == 0
    card = unpack(job, tmp_path / "there")
    here = train_planner(taught, str(base), QUICK, tmp_path / "here", SOURCE)
    one, two = weights(tmp_path / "here"), weights(tmp_path / "there")
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert load_card(tmp_path / "there") == card
    for name in ("steps", "last_loss", "requests"):
        wanted = 18.0 if name == "requests" else here.figures["training"][name]
        assert card.figures["training"][name] == wanted


def test_a_job_killed_in_the_middle_goes_on_to_the_same_weights(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import training.core.steps as module

    class Killed(Exception):
        pass

    saved = module.save

    def kill(*given: Any) -> None:
        saved(*given)
        raise Killed

    whole = shutil.copytree(packed, tmp_path / "whole")
    cut_off = shutil.copytree(packed, tmp_path / "cut")
    main(whole, ["--device", "cpu"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "save", kill)
        with pytest.raises(Killed):
            main(cut_off, ["--device", "cpu"])
    assert (cut_off / "results" / CHECKPOINT).exists()
    with pytest.raises(ValueError, match=r"no result; run `python .*run.py`, which goes on"):
        unpack(cut_off, tmp_path / "early")
    capsys.readouterr()
    main(cut_off, ["--device", "cpu"])
    assert not (cut_off / "results" / CHECKPOINT).exists()
    unpack(whole, tmp_path / "a")
    unpack(cut_off, tmp_path / "b")
    one, two = weights(tmp_path / "a"), weights(tmp_path / "b")
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_a_try_of_a_few_steps_leaves_results_of_its_own(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(job, ["--device", "cpu", "--limit", "2"]) == 0
    done = (job / "results-limit-2" / RESULT).read_bytes()
    capsys.readouterr()
    assert main(job, ["--device", "cpu", "--limit", "2"]) == 0
    assert "is done already; --fresh trains anew" in capsys.readouterr().out
    assert (job / "results-limit-2" / RESULT).read_bytes() == done
    assert not (job / "results" / RESULT).exists()
    card = unpack(job, tmp_path / "try", "results-limit-2")
    assert card.figures["training"]["steps"] == 2
    assert card.settings["limit"] == 2


@pytest.mark.slow
def test_a_job_needs_nothing_of_this_repository(job: Path, tmp_path: Path) -> None:
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
    assert "1 steps of" in ran.stdout
    assert (job / "results-limit-1" / RESULT).exists()


def test_what_changed_on_the_way_is_named(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(job, ["--device", "cpu", "--limit", "1"])
    [part] = (job / "results-limit-1").glob("adapter-*")
    content = bytearray(part.read_bytes())
    content[-1] ^= 1
    part.write_bytes(content)
    with pytest.raises(ValueError, match=r"adapter-000: has sha256 .*; copy the folder again"):
        unpack(job, tmp_path / "out", "results-limit-1")
    part.unlink()
    with pytest.raises(ValueError, match="adapter-000: is missing; copy the whole folder"):
        unpack(job, tmp_path / "out", "results-limit-1")
    assert not (tmp_path / "out").exists()

    rows = job / "rows-000.npz"
    rows.write_bytes(rows.read_bytes()[:-10])
    assert main(job, ["--device", "cpu"]) == 1
    assert "rows-000.npz: has sha256" in capsys.readouterr().err


def test_weights_that_changed_on_the_way_are_not_trained_on(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [part] = (job / "base").glob("weights-*")
    part.write_bytes(part.read_bytes()[:-1] + b"\0")
    assert main(job, ["--device", "cpu"]) == 1
    assert "weights-000: has sha256" in capsys.readouterr().err


def test_the_results_of_another_job_are_refused(job: Path, tmp_path: Path) -> None:
    main(job, ["--device", "cpu", "--limit", "1"])
    content = json.loads((job / JOB).read_text(encoding="utf-8"))
    (job / JOB).write_text(json.dumps(content | {"base": "another"}), encoding="utf-8")
    with pytest.raises(ValueError, match="is the result of another job"):
        unpack(job, tmp_path / "out", "results-limit-1")


def test_a_folder_in_use_is_not_packed_into(taught: Any, base: Path, job: Path) -> None:
    rows = planner_rows(taught, QUICK)
    with pytest.raises(ValueError, match=r"--out: .* is not empty"):
        pack_adapter("planner", rows, str(base), QUICK, job, SOURCE, {})


def test_a_device_that_is_not_here_is_one_line(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(job, ["--device", "cuda:7"]) == 1
    assert "--device cuda:7: torch" in capsys.readouterr().err


def test_slices_are_no_larger_than_asked_and_join_to_the_file(tmp_path: Path) -> None:
    whole = bytes(range(256)) * 10
    (tmp_path / "whole").write_bytes(whole)
    slices = cut(blocks_of(tmp_path / "whole"), tmp_path, "part", 1000)
    assert [one["bytes"] for one in slices] == [1000, 1000, 560]
    assert b"".join(joined(slices, tmp_path)) == whole


def test_a_base_model_in_eight_bits_is_half_as_large_and_nearly_the_same(
    taught: Any, base: Path, packed: Path, tmp_path: Path
) -> None:
    rows = planner_rows(taught, QUICK)
    small = tmp_path / "small"
    content = pack_adapter("planner", rows, str(base), QUICK, small, SOURCE, {}, bits=8)
    whole = json.loads((packed / JOB).read_text(encoding="utf-8"))
    sizes = [sum(part["bytes"] for part in one["weights"]) for one in (content, whole)]
    assert sizes[0] < 0.6 * sizes[1]
    states = [causal_model(given(one)).state_dict() for one in (small, packed)]
    assert states[0].keys() == states[1].keys()
    for name, one in states[1].items():
        furthest = (states[0][name].float() - one.float()).abs().max()
        assert furthest <= one.float().abs().max() / 100, name
    assert main(small, ["--device", "cpu", "--limit", "2"]) == 0
    assert unpack(small, tmp_path / "out", "results-limit-2").settings["bits"] == 8


def given(folder: Path) -> Given:
    """A packed job as its runner sees it."""
    content = json.loads((folder / JOB).read_text(encoding="utf-8"))
    return Given(folder, content, "cpu", None, folder / "none", False, print)
