"""`ctrag serve assistant` refuses what cannot be served before it opens any model."""

import sys
from pathlib import Path

import pytest

from ctrag.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["--access", "tokens.yaml"], 2, "are for --http"),
        (["--allow-host", "a.example"], 2, "are for --http"),
        (["--http", "8017"], 2, "must be HOST:PORT"),
        (["--http", "0.0.0.0:8017"], 1, "0.0.0.0 can be reached from outside; give --access"),
        (["--http", "127.0.0.1:8017", "--access", "tokens.yaml"], 1, "tokens: there is none"),
        (["--at", "noon"], 1, "--at:"),
    ],
)
def test_a_wrong_use_is_told_on_one_line(
    arguments: list[str],
    code: int,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tokens.yaml").write_text("tokens: {}", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["ctrag", "serve", "assistant", "--persona", "p", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    out, err = capsys.readouterr()
    assert (left.value.code, out) == (code, "")
    assert problem in err
    assert len(err.splitlines()) == 1
