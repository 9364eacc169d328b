"""The file of `--session`: every key is checked, and a mistake names file and key."""

from pathlib import Path

import pytest
import yaml

from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.guard import GuardSettings
from ctrag.agents.session.searches import OverlapSettings
from ctrag.agents.session.settings import SessionSettings
from ctrag.agents.session.tool_session import ToolSession


def written(folder: Path, value: object) -> Path:
    path = folder / "session.yaml"
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    return path


def test_a_file_says_how_tools_are_bound_and_what_a_loop_is(tmp_path: Path) -> None:
    value = {
        "binding": {"capacity": 12, "ttl": 60, "pins": 2, "hot_after": 3, "cache_stable": True},
        "guard": {"repeats": 5, "exempt": ["jobs/poll"], "guidance": {"web/get": "Stop."}},
        "overlap": {"ratio": 0.9},
        "ignored": {"web/get": ["request_id"]},
        "warm": 0,
        "preload": 2,
    }
    made = SessionSettings.from_file(written(tmp_path, value))
    assert made.binding == BindingSettings(12, 60.0, 2, 3, True)
    assert made.guard == GuardSettings(
        repeats=5, exempt=frozenset({"jobs/poll"}), guidance={"web/get": "Stop."}
    )
    assert made.overlap == OverlapSettings(ratio=0.9)
    assert (made.warm, made.preload) == (0, 2)
    ignoring = made.whole_guard.normalisers["web/get"]
    assert ignoring({"request_id": 7, "url": "a"}) == {"url": "a"}


def test_what_a_file_leaves_out_is_as_sessions_are_without_one(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("", encoding="utf-8")
    made = SessionSettings.from_file(path)
    assert made == SessionSettings()
    assert (made.binding, made.whole_guard) == (BindingSettings(), GuardSettings())
    made = SessionSettings.from_file(written(tmp_path, {"binding": {"ttl": 60}, "preload": 2}))
    assert made.binding == BindingSettings(ttl=60.0)
    assert made.binding.capacity == ToolSession().manager.settings.capacity
    assert made.whole_guard == GuardSettings()
    assert (made.overlap, made.warm, made.preload) == (OverlapSettings(), 3, 2)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"colour": 1}, "colour: Extra inputs"),
        ({"binding": {"colour": 1}}, r"binding\.colour: Unexpected keyword"),
        ({"guard": {"colour": 1}}, r"guard\.colour: Unexpected keyword"),
        ({"overlap": {"colour": 1}}, r"overlap\.colour: Unexpected keyword"),
        ({"binding": {"capacity": 0}}, "binding: capacity: must be at least 1, not 0"),
        ({"guard": {"seconds": 0}}, "guard: seconds: must be above 0"),
        (
            {"guard": {"normalisers": {"a": "b"}}},
            r"guard\.normalisers\.a: Input should be callable",
        ),
        ({"ignored": {"a": "b"}}, r"ignored\.a: Input should be a valid list"),
        ({"warm": -1}, "warm: Input should be greater"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(tmp_path: Path, value: object, problem: str) -> None:
    with pytest.raises(ValueError, match=rf"session\.yaml: {problem}"):
        SessionSettings.from_file(written(tmp_path, value))
