"""The README's Python runs as it stands and prints what its comments say."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_python_prints_what_its_comments_say(
    block: str, monkeypatch: pytest.MonkeyPatch, converted_planner: Path, configure: object
) -> None:
    monkeypatch.chdir(ROOT)
    assert callable(configure)
    configure(planner_model=next((converted_planner / "models").iterdir()), threads=1)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "README.md", "exec"), {})
    promised = re.findall(r"# (.*)", block)
    assert promised
    assert printed.getvalue().splitlines() == promised


def test_every_command_of_the_readme_exists() -> None:
    from typer.main import get_command

    from ctrag.cli.main import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"`(?:\$ )?ctrag ([a-z]+)", README)) | set(
        re.findall(r"^\$ ctrag ([a-z]+)", README, flags=re.MULTILINE)
    )
    assert named
    assert named <= known
