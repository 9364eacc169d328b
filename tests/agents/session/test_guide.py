"""The guide's example runs as it stands, and its tables are complete."""

import contextlib
import io
import re
from pathlib import Path
from typing import get_args

import pytest

from ctrag.agents.session.events import EventName

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "tool-sessions.md").read_text(encoding="utf-8")


def test_the_example_prints_what_its_comments_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [block] = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "tool-sessions.md", "exec"), {})
    assert printed.getvalue().splitlines() == re.findall(r"^# (.*)", block, flags=re.MULTILINE)


def test_every_event_is_in_the_table() -> None:
    rows = [row.split("|")[1] for row in GUIDE.splitlines() if row.startswith("| `ctrag.")]
    documented = set()
    for row in rows:
        first, *more = re.findall(r"`([a-z_.]+)`", row)
        documented |= {first, *(first.rpartition(".")[0] + one for one in more)}
    assert documented == set(get_args(EventName))
