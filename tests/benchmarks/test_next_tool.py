"""The first try that `combined` is held against learns the chains it is shown."""

import re
from pathlib import Path

import pytest

from benchmarks.next_tool import _calls, main


def test_eighty_plain_chains_are_learned(
    chains: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["next_tool", "--data", str(chains)])
    main()
    found = re.fullmatch(
        r"(\d+) steps after the first: top-1 ([\d.]+), top-5 ([\d.]+)\n", capsys.readouterr().out
    )
    assert found
    assert int(found[1]) > 10
    assert 60 < float(found[2]) <= float(found[3]) <= 100


def test_calls_stand_by_last_place_and_as_a_set() -> None:
    numbers = {"a": 0, "b": 1, "c": 2}
    assert _calls((), numbers) == [9]
    assert _calls(("a", "b", "unheard of"), numbers) == [1, 3, 6, 7]
