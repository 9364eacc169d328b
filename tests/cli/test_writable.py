"""What cannot be written is said before the work begins, by every command that writes."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from ctrag.cli.writable import file_to_write, folder_to_write

Run = Callable[..., Any]
WRITING = {"out", "record", "telemetry", "html", "report"}


def options() -> list[tuple[str, Any]]:
    """(command, option) of all commands."""
    from ctrag.cli.main import app

    found = []

    def visit(name: str, command: Any) -> None:
        for inner, one in getattr(command, "commands", {}).items():
            visit(f"{name} {inner}".strip(), one)
        if not hasattr(command, "commands"):
            found.extend((name, one) for one in command.params)

    visit("", typer.main.get_command(app))
    return found


def test_every_option_that_names_what_is_written_looks_first() -> None:
    writing = [(name, one) for name, one in options() if one.name in WRITING]
    assert len(writing) > 25
    assert [(name, one.name) for name, one in writing if one.callback is None] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["chat", "--persona", "nobody", "--record", "{file}/chat.jsonl"],
        ["export", "--persona", "nobody", "--out", "{file}"],
        ["export", "--persona", "nobody", "--out", "/proc/ctrag"],
        ["eval", "tools", "--data", "/nowhere", "--out", "{folder}"],
        ["eval", "context", "--data", "/nowhere", "--report", "{file}/page"],
        ["train", "ranker", "--data", "/nowhere", "--out", "{file}"],
        ["synth", "dataset", "--out", "{file}/x"],
        ["serve", "mcp", "--catalogue", "/nowhere", "--record", "/proc/ctrag.jsonl"],
    ],
    ids=" ".join,
)
def test_it_is_told_before_anything_else(ctrag: Run, tmp_path: Path, arguments: list[str]) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    folder = tmp_path / "folder"
    folder.mkdir()
    given = [one.replace("{file}", str(file)).replace("{folder}", str(folder)) for one in arguments]
    ran = ctrag(*given)
    assert (ran.code, ran.out) == (1, "")
    [line] = ran.err.splitlines()
    assert "nobody" not in line
    assert "nowhere" not in line
    assert file.read_text() == "kept"


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "there.txt"
    file.write_text("kept")
    for path in (file, tmp_path / "new.txt", tmp_path / "a" / "b" / "new.txt"):
        assert file_to_write(path) == path
        assert path == file or folder_to_write(path) == path
    assert [one.name for one in tmp_path.iterdir()] == ["there.txt"]
    assert file.read_text() == "kept"
    with pytest.raises(IsADirectoryError, match=os.strerror(errno.EISDIR)):
        file_to_write(tmp_path)
