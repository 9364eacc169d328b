"""Commands show what items, catalogues and arguments of others hold; a terminal gets none of it."""

import json
import logging
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.cli.output import clean_libraries

Run = Callable[..., Any]
EVIL = "Lunch\x1b]52;c;cm0gLXJmIH4=\x07\x1b[2J\x1b[8m\u202etxet\x9b31m\u2066"
STEERS = "\x1b\x07\x9b\u202e\u2066\r"


def harmless(ran: Any) -> str:
    """What was printed, in which nothing steers a terminal."""
    said = ran.out + ran.err
    assert not set(STEERS) & set(said)
    return str(said)


def turn(**changed: object) -> str:
    return json.dumps(
        {
            "person": f"ada{EVIL}",
            "text": f"read it{EVIL}\nplan  none()",
            "asked_at": f"2025-04-17T12:00{EVIL}",
            "items": [EVIL],
            "tools": [EVIL],
            "plan": EVIL,
            "confidence": 0.5,
            "status": "done",
            "answer": f"{EVIL}\nsecond line",
            "steps": [{"step": EVIL, "milliseconds": 1.0}],
            **changed,
        }
    )


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_recorded_session(ctrag: Run, tmp_path: Path, options: list[str]) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(turn() + "\n")
    ran = ctrag("session", "show", file, *options)
    said = harmless(ran)
    assert ran.code == 0
    if options:
        assert json.loads(ran.out)[0]["plan"] == EVIL
    else:
        assert "Lunch\\x1b]52;c;" in said
        # What was asked cannot pass as a line that ctrag itself writes.
        assert [one for one in said.splitlines() if one.startswith("plan")] == []


@pytest.mark.parametrize("options", [[], ["--json"], ["--full"], ["--explain"]])
def test_a_catalogue(ctrag: Run, tmp_path: Path, options: list[str]) -> None:
    file = tmp_path / "tools.json"
    tool = {"name": "lunch", "description": f"Book lunch {EVIL}", "parameters": {"type": "object"}}
    file.write_text(json.dumps([tool]))
    ran = ctrag("tools", "search", f"book lunch {EVIL}", "--catalogue", file, "--lexical", *options)
    assert ran.code == 0
    assert "lunch" in harmless(ran)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ask", "hi", "--persona", EVIL], 1),
        (["ask", "hi", "--persona", "ada", "--at", EVIL], 1),
        (["ask", "hi", f"--{EVIL}"], 2),
        ([EVIL], 2),
        (["forget", "--persona", EVIL, "--yes"], 1),
        (["import", f"{EVIL}.ics"], 1),
        (["tools", "search", "x", "--catalogue", EVIL], 1),
        (["tools", "search", "x", "--catalogue", "x", "-k", EVIL], 2),
        (["serve", "mcp", "--http", EVIL], 2),
        (["ask", "hi", "--persona", "x" * 100_000], 1),
    ],
)
def test_an_argument_in_an_error(ctrag: Run, people: Path, arguments: list[str], code: int) -> None:
    ran = ctrag(*arguments)
    said = harmless(ran)
    assert (ran.code, ran.out) == (code, "")
    [line] = said.splitlines()
    assert line.startswith("ctrag: ")
    assert len(line) <= len("ctrag: ") + 300


def test_what_libraries_write_by_themselves(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    last = logging.Handler()
    last.setFormatter(None)
    monkeypatch.setattr(logging, "lastResort", last)
    for holder, name in ((warnings, "formatwarning"), (threading, "excepthook")):
        monkeypatch.setattr(holder, name, getattr(holder, name))
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    clean_libraries()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(EVIL, stacklevel=1)
    one = caught[0]
    said = warnings.formatwarning(str(one.message), one.category, "zone.py", 1)
    said += last.format(logging.LogRecord("x", 40, "", 0, EVIL, None, None))

    def fail() -> None:
        raise KeyError(EVIL, "\u3164")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    told = capsys.readouterr().err
    assert "KeyError" in told
    assert not set(STEERS) & set(said + told)
    assert "Lunch\\x1b]52;c;" in said


def test_numbers_that_json_does_not_have_are_null(ctrag: Run, tmp_path: Path) -> None:
    def strict(name: str) -> None:
        raise AssertionError(name)

    file = tmp_path / "chat.jsonl"
    file.write_text(turn(steps=[{"step": "a", "milliseconds": float("nan")}]) + "\n")
    ran = ctrag("session", "show", file, "--json")
    [told] = json.loads(ran.out, parse_constant=strict)
    assert told["steps"][0]["milliseconds"] is None
    assert told["plan"] == EVIL


@pytest.mark.parametrize(
    "command",
    [
        ("undo",),
        ("export", "--out", "out"),
        ("forget", "--yes"),
        ("import", "a.ics"),
        ("ask", "hi"),
    ],
)
def test_the_id_of_a_person_in_bytes_that_are_no_text(ctrag: Run, command: tuple[str, ...]) -> None:
    ran = ctrag(*command, "--persona", "me\udcff")
    assert (ran.code, ran.err) == (1, "ctrag: --persona: not valid UTF-8\n")
