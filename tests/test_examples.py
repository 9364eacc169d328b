"""Every example runs in a process of its own and prints what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def _output(name: str) -> str:
    command = [sys.executable, str(ROOT / "examples" / name)]
    done = subprocess.run(
        command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("search_tools.py", "ada: ['cancel_event']\nbob: []"),
        ("session.py", "refused: 'mail/send_mail' was taken away because"),
        ("prompt.py", "Cancel an event only after naming its date and guests."),
    ],
)
def test_an_example_of_the_bare_core_prints_its_line(name: str, line: str) -> None:
    assert line in _output(name)


def test_the_prompt_leaves_out_the_policy_of_music() -> None:
    assert "louder" not in _output("prompt.py")


@pytest.mark.model
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("ask.py", 'plan: play_voicemail(contact="Mrs Adaora Nwosu")'),
        ("steps.py", "with items: ['play_voicemail'"),
    ],
)
def test_an_example_of_the_assistant_prints_its_line(name: str, line: str) -> None:
    assert line in _output(name)
