"""The examples run as they stand and print what they are there to show."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BARE = {
    "search_tools": ["ada: air/cancel_flight", "bo: billing/refund", "new: air/seat_map"],
    "session": ["call 3: sent", "call 4: sent; taken away"],
    "prompt": ["tools in full: cancel_order", "# Cancelling"],
}
"""Example → lines of its output that would be other ones if what it shows were broken."""
ASSISTANT = {
    "ask": ["items: p007-p1, p007-m3, p007-c2, p007-s1, p007-c3"],
    "steps": ["first item: p007-p1", "first tool: play_voicemail", "first value: Mrs Adaora Nwosu"],
}


def printed(name: str, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> list[str]:
    patch.chdir(ROOT)
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("name", BARE)
def test_an_example_for_agents_prints_what_it_shows(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(BARE[name]) <= set(printed(name, capsys, monkeypatch))


@pytest.mark.parametrize("name", ASSISTANT)
def test_an_example_of_the_assistant_prints_what_it_shows(
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    with_planner: Path,
) -> None:
    assert set(ASSISTANT[name]) <= set(printed(name, capsys, monkeypatch))


def test_every_example_is_run_and_listed() -> None:
    there = {one.stem for one in (ROOT / "examples").glob("*.py")}
    assert there == {*BARE, *ASSISTANT}
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.py`" in listed for name in there)
