"""The tutorial's commands, run in order in a folder of their own, print what it says."""

import difflib
import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")
pytest.importorskip("mcp_server_time", reason="needs the package mcp-server-time")

ROOT = Path(__file__).parents[1]
FIGURES = re.compile(r"^( +(?:first_pass|lambdamart\w*)) .*$", re.MULTILINE)
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_the_tutorial_shows_is_what_its_commands_print(
    tmp_path: Path,
    with_planner: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from ctrag.cli.main import main
    from ctrag.models.byte_products import fast_bytes
    from ctrag.settings import settings

    console: Any = runpy.run_path(str(ROOT / "docs" / "console.py"))
    folder = tmp_path / "tutorial"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("CTRAG_HOME", str(folder / "home"))
    settings.cache_clear()

    def here(_: Path, command: str) -> str:
        """A command in this process, whose models are open already; servers have their own."""
        program, *arguments = shlex.split(command)
        if program != "ctrag" or arguments[0] == "serve":
            return str(console["run_in"](folder, command))
        monkeypatch.setattr(sys, "argv", ["ctrag", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        assert not left.value.code, f"{command}: {err}"
        return str(console["within"](folder, out))

    run_in_order = console["run_in_order"]
    monkeypatch.setitem(run_in_order.__globals__, "run_in", here)
    shown, now = TUTORIAL, run_in_order(TUTORIAL, folder)
    if not fast_bytes():  # a ranker of seven people hangs on the last digits of vectors
        shown, now = FIGURES.sub(r"\1 …", shown), FIGURES.sub(r"\1 …", now)
    difference = difflib.unified_diff(shown.splitlines(), now.splitlines(), lineterm="")
    assert now == shown, "\n".join(difference)


def test_every_block_of_the_tutorial_is_run() -> None:
    assert TUTORIAL.count("```console") == TUTORIAL.count("<!-- run in order -->")
