"""A killed run resumes: nothing is lost, duplicated or paid for twice."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.synth.conftest import KEY, Model

CODE = "from ctrag.cli.main import main; main()"
PEOPLE = 3


def started(
    model: Model, home: Path, out: Path, cache: Path, *more: str, people: int = PEOPLE
) -> "subprocess.Popen[str]":
    """`ctrag synth dataset` in a separate process."""
    options = ["--personas", str(people), "--provider", "openai", "--json", *more]
    options += ["--out", str(out), "--cache", str(cache)]
    return subprocess.Popen(
        [sys.executable, "-c", CODE, "synth", "dataset", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "CTRAG_OPENAI_BASE_URL": model.url,
            "CTRAG_OPENAI_MODEL": "toy",
            "CTRAG_OPENAI_API_KEY": KEY,
            "CTRAG_OPENAI_CONCURRENCY": "3",
            "CTRAG_OPENAI_PRICE_PROMPT": "1",
            "CTRAG_OPENAI_PRICE_COMPLETION": "2",
        },
    )


def written(out: Path) -> dict[str, str]:
    """Every file of a data set, by its path."""
    return {
        str(path.relative_to(out)): path.read_text(encoding="utf-8")
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def complaints(errors: str) -> str:
    """What was said on stderr besides how far the work is."""
    far = re.compile(r"(going on after )?[\d,]+ of [\d,]+ people\n")
    return far.sub("", errors)


@pytest.mark.slow
def test_a_rerun_after_a_kill_gives_the_same_as_one_run(model: Model, tmp_path: Path) -> None:
    whole = started(model, tmp_path, tmp_path / "whole", tmp_path / "whole-cache")
    output, errors = whole.communicate(timeout=300)
    assert (whole.returncode, complaints(errors)) == (0, "")
    questions = len(model.asked)

    enough = threading.Event()
    model.heard = lambda count: enough.set() if count >= questions + questions // 2 else None
    model.pause = 0.01
    killed = started(model, tmp_path, tmp_path / "out", tmp_path / "cache")
    assert enough.wait(300)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    assert not (tmp_path / "out" / "train").exists()
    lost = len(model.asked) - questions

    model.pause = 0.0
    again = started(model, tmp_path, tmp_path / "out", tmp_path / "cache")
    resumed, errors = again.communicate(timeout=300)
    assert (again.returncode, complaints(errors)) == (0, "")
    assert written(tmp_path / "out") == written(tmp_path / "whole")
    rerun = json.loads(resumed)["spent"]
    assert rerun["from_cache"] > 0
    assert rerun["questions"] + rerun["from_cache"] == questions
    # Only questions in flight when the process died are asked again: one per worker.
    open_then = lost + rerun["questions"] - questions
    assert 0 <= open_then <= 3

    first = json.loads(output)
    assert (first["personas"], first["spent"]["questions"]) == (PEOPLE, questions)
    ids = [
        json.loads(line)["query_id"]
        for name, text in written(tmp_path / "out").items()
        if name.endswith("queries.jsonl")
        for line in text.splitlines()
    ]
    assert len(ids) == first["requests"] > 0
    assert max(Counter(ids).values()) == 1


@pytest.mark.slow
def test_a_run_out_of_budget_ends_with_one_line_and_can_be_resumed(
    model: Model, tmp_path: Path
) -> None:
    out, cache = tmp_path / "out", tmp_path / "cache"
    short = started(model, tmp_path, out, cache, "--max-cost", "0.02", people=1)
    output, errors = short.communicate(timeout=300)
    assert (short.returncode, output) == (1, "")
    errors = complaints(errors)
    assert errors.startswith("ctrag: stopped before passing --max-cost 0.02: ")
    assert errors.count("\n") == 1
    assert "run the same command again to go on" in errors
    assert not (out / "train").exists()
    asked = len(model.asked)
    assert 0 < asked * (2000 * 1 + 500 * 2) / 1e6 <= 0.02

    rest = started(model, tmp_path, out, cache, "--max-cost", "10", people=1)
    output, errors = rest.communicate(timeout=300)
    assert (rest.returncode, complaints(errors)) == (0, "")
    spent = json.loads(output)["spent"]
    assert (spent["from_cache"], spent["questions"]) == (asked, len(model.asked) - asked)
