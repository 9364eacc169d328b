"""Claims about notes on long work: a log has one in ten seconds, a short command none."""

import sys
import time

import pytest

from ctrag.cli import output
from ctrag.cli.output import progress


def test_without_a_terminal_a_note_is_written_every_ten_seconds_beginning_with_the_tenth(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "_noted", 100.0)
    for second in range(35):
        monkeypatch.setattr(time, "monotonic", lambda now=second: 100.0 + now)
        progress(f"step {second} of 35")
    said = capsys.readouterr()
    assert said.err.splitlines() == ["step 10 of 35", "step 20 of 35", "step 30 of 35"]
    assert said.out == ""


def test_on_a_terminal_every_note_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for step in range(3):
        progress(f"step {step} of 3")
    assert capsys.readouterr().err.splitlines() == ["step 0 of 3", "step 1 of 3", "step 2 of 3"]
