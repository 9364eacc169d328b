"""What others wrote is shown, not sent, wherever it is printed."""

import ast
import json
import re
import unicodedata
from pathlib import Path

import pytest

from ctrag.text.terminal import LONGEST_MESSAGE, message, visible, visible_json

ROOT = Path(__file__).parents[2]
PRINTERS = {
    "ctrag/agents/server/named_stderr.py",
    "ctrag/cli/output.py",
    "ctrag/text/terminal.py",
    "training/pack/job.py",  # runs where ctrag is not
}
"""Modules that may write to a terminal: all of ctrag's clean what they write."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Lunch?\x1b]52;c;cm0gLXJmIH4=\x07", "Lunch?\\x1b]52;c;cm0gLXJmIH4=\\x07"),
        ("\x1b[2Jgone\x9b31m", "\\x1b[2Jgone\\x9b31m"),
        ("to\u202efdp.exe", "to\\u202efdp.exe"),
        ("a\u2066b\u2069\u200bc\ufeff", "a\\u2066b\\u2069\\u200bc\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("over\rwritten\x00\x7f", "over\\x0dwritten\\x00\\x7f"),
        ("half\ud800", "half\\ud800"),
        (
            "pay\u3164pal\u115f\u2800\u034f\ufff0\uffff",
            "pay\\u3164pal\\u115f\\u2800\\u034f\\ufff0\\uffff",
        ),
        ("e" + "\u0301" * 10, "e" + "\u0301" * 8 + "\\u0301" * 2),
        ("ก" + "\u0e49" * 9 + "ข\u0e49", "ก" + "\u0e49" * 8 + "\\u0e49ข\u0e49"),
        ("Vie\u0323\u0302t, שָׁלוֹם, གྲུབ, ❤\ufe0f", "Vie\u0323\u0302t, שָׁלוֹם, གྲུབ, ❤\ufe0f"),
        ("Çelik, 東京, Ωmega – “so” 🙂", "Çelik, 東京, Ωmega – “so” 🙂"),
        ("two\r\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_what_steers_a_terminal_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(text).encode()


def test_no_character_that_is_unseen_is_let_through() -> None:
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    every = "".join(one for one in map(chr, range(0x110000)) if unicodedata.category(one) in unseen)
    every += "\ue000\U000f0000\U0010fffd and plain text"
    left = {unicodedata.category(one) for one in visible(every, one_line=True)}
    assert left.isdisjoint({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def test_a_place_of_one_line_stays_one_line() -> None:
    assert visible("a\nplan\u2028b\x85c", one_line=True) == "a\\nplan\\u2028b\\x85c"


def test_json_means_the_same_and_steers_nothing() -> None:
    value = {"a\x1b\u202e": "b\x9b\u2028\U000e0041\ud800\u3164" + "\u0301" * 99, "東京": [1, "🙂"]}
    text = visible_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert "東京" in text
    assert visible(text) == text


def test_a_message_is_one_line_of_300_characters_with_its_end() -> None:
    told = message("catalogue: " + "x\n\x1b[2J" * 100_000 + "; give a smaller file")
    assert len(told) <= LONGEST_MESSAGE
    assert told.startswith("catalogue: x \\x1b[2Jx")
    assert told.endswith("; give a smaller file")
    assert visible(told, one_line=True) == told


_PERHAPS = re.compile(r"\bprint\b|\binput\(|typer\.|Console|sys\._*std|traceback|warnings")


def _writes(tree: ast.AST) -> list[str]:
    """Calls that write to a terminal."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            console = name.endswith("Console") and "file=" not in ast.unparse(node)
            if console or name in {"print", "input"} or name.startswith(("typer.echo", "typer.s")):
                found.append(f"{node.lineno}: {name}")
            if name in {"typer.confirm", "typer.prompt", "traceback.print_exc", "warnings.warn"}:
                found.append(f"{node.lineno}: {name}")
        if isinstance(node, ast.Attribute) and node.attr not in {"isatty", "fileno"}:
            stream = ast.unparse(node.value)
            if stream in {"sys.stdout", "sys.stderr", "sys.__stderr__"}:
                found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def test_nothing_is_printed_but_through_the_place_that_cleans() -> None:
    found = {
        str(path.relative_to(ROOT)): _writes(ast.parse(text))
        for package in ("ctrag", "stores", "synth", "eval", "training")
        for path in sorted((ROOT / package).rglob("*.py"))
        if _PERHAPS.search(text := path.read_text(encoding="utf-8"))
    }
    assert set(found) >= PRINTERS
    assert {name: writes for name, writes in found.items() if writes and name not in PRINTERS} == {}
