"""What is converted once is whole, or made anew by itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctrag.models import made_folder
from ctrag.models.made_folder import SEAL, drop_damaged, drop_unused, intact, made

WEIGHTS = "weights of a model" * 100


@pytest.fixture(autouse=True)
def another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what was found whole, as a new process does."""
    monkeypatch.setattr(made_folder, "_checked", set())


def fill(folder: Path) -> None:
    (folder / "model.safetensors").write_text(WEIGHTS)
    (folder / "tokens").mkdir()
    (folder / "tokens" / "vocab.txt").write_text("a\nb\n")


def again(target: Path) -> Path:
    made_folder._checked.clear()
    return made(target, fill)


def never(folder: Path) -> None:
    raise AssertionError(f"{folder} is made again")


DAMAGES = {
    "cut": lambda folder: (folder / "model.safetensors").write_text(WEIGHTS[:50]),
    "empty": lambda folder: (folder / "model.safetensors").write_text(""),
    "other bytes": lambda folder: (folder / "model.safetensors").write_text(WEIGHTS.upper()),
    "missing": lambda folder: (folder / "tokens" / "vocab.txt").unlink(),
    "seal": lambda folder: (folder / SEAL).write_text("{"),
    "seal of nothing": lambda folder: (folder / SEAL).write_text("null"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_made_anew_and_said(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = made(tmp_path / "model", fill)
    DAMAGES[damage](target)
    assert again(target) == target
    assert (target / "model.safetensors").read_text() == WEIGHTS
    assert "model is damaged and made anew" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


def test_a_whole_folder_is_not_made_again(tmp_path: Path) -> None:
    target = made(tmp_path / "model", fill)
    made_folder._checked.clear()
    made(target, never)
    os.utime(target / "model.safetensors", (1, 1))  # copied elsewhere and back
    made_folder._checked.clear()
    made(target, never)


def test_a_folder_of_an_earlier_version_is_taken_over(tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.mkdir()
    fill(target)
    made(target, never)
    assert set(json.loads((target / SEAL).read_text())) == {"model.safetensors", "tokens/vocab.txt"}


def test_damage_that_changes_no_time_is_found_by_reading_all(tmp_path: Path) -> None:
    target = made(tmp_path / "model", fill)
    path = target / "model.safetensors"
    before = path.stat()
    path.write_text(WEIGHTS.upper())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert intact(target)
    assert not intact(target, thoroughly=True)
    assert drop_damaged(tmp_path) == [target]
    assert not target.exists()


def test_what_a_killed_process_left_is_removed_and_what_a_running_one_makes_stays(
    tmp_path: Path,
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    (tmp_path / f".model.{dead.pid}").mkdir()
    (tmp_path / f".model.{os.getppid()}").mkdir()
    (tmp_path / ".other").mkdir()
    made(tmp_path / "model", fill)
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {"model", f".model.{os.getppid()}", ".other"}


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        fill(folder)
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        made(tmp_path / "model", fails)
    assert list(tmp_path.iterdir()) == []


def test_pruning_takes_what_was_not_opened_and_nothing_else(tmp_path: Path) -> None:
    old, used = made(tmp_path / "version 1", fill), made(tmp_path / "version 2", fill)
    (tmp_path / "not made here").mkdir()
    made_folder._checked.clear()
    made(used, never)
    assert drop_unused(tmp_path) == [(old, len(WEIGHTS) + 4)]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["not made here", "version 2"]
