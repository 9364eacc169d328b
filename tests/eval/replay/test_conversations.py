"""Calls made again in BFCL's simulated tools."""

from pathlib import Path

import pytest

from eval.instructions.steps import bfcl_folder
from eval.replay.conversations import SimulatedConversation, load_conversations
from eval.replay.simulators import SimulatedCall, Simulation

pytest.importorskip("bfcl_eval", reason="the simulated tools are those of bfcl-eval")
FILES = {"root": {"home": {"type": "directory", "contents": {}}}}


def conversation(*turns: str) -> SimulatedConversation:
    """Calls in files and in a calculator, `;` between two of a turn."""
    calls = tuple(tuple(map(SimulatedCall.of, turn.split("; "))) for turn in turns)
    tools = Simulation(("GorillaFileSystem", "MathAPI"), {"GorillaFileSystem": FILES})
    return SimulatedConversation("files", turns, calls, tools)


def test_calls_that_do_not_touch_each_other_may_come_in_any_order() -> None:
    one = conversation("mkdir(dir_name='a'); add(a=1, b=2)")
    assert one.acceptable() == [[["add"], []]]


def test_a_call_that_needs_what_another_made_waits_for_it() -> None:
    one = conversation("mkdir(dir_name='a'); cd(folder='a'); touch(file_name='b')")
    assert one.acceptable() == [[[], [], []]]


def test_an_order_that_a_later_turn_would_notice_is_not_free() -> None:
    seen = conversation("touch(file_name='b'); echo(content='x', file_name='c'); ls()")
    assert "ls" not in seen.acceptable()[0][0]
    # Another turn's call answers another message: it is never offered instead.
    assert conversation("mkdir(dir_name='a')", "add(a=1, b=2)").acceptable() == [[[]], [[]]]


def test_the_end_state_is_reached_without_looks_and_not_without_changes() -> None:
    one = conversation("ls(); mkdir(dir_name='a')", "cd(folder='a'); touch(file_name='b')")
    assert one.ends_right([False, True, True, True])
    assert not one.ends_right([True, False, True, True])
    assert not one.ends_right([True, True, True, False])


def test_a_call_that_fails_gives_its_error_and_the_others_go_on() -> None:
    one = conversation("add(a=1); mkdir(dir_name='a')")
    failed, _ = one.simulation.replay(one.calls).results
    assert failed.startswith("TypeError: ")
    assert one.ends_right([False, True])


def test_arguments_given_by_place_have_names() -> None:
    one = conversation("mkdir('a'); add(1, b=2)")
    assert [one.simulation.arguments(call) for call in one.calls] == [
        {"dir_name": "a"},
        {"a": 1, "b": 2},
    ]


@pytest.mark.parametrize("text", ["mkdir", "a.b()", "mkdir(dir_name=name)", "mkdir(", "f(**{})"])
def test_what_is_no_call_with_literals_is_refused_and_not_run(text: str) -> None:
    with pytest.raises(ValueError, match="call: must be a name with literals, such as cd"):
        SimulatedCall.of(text)


@pytest.mark.parametrize("tool", ["unknown", "_load_scenario"])
def test_tools_that_no_class_offers_are_refused(tool: str) -> None:
    with pytest.raises(ValueError, match="call: none of GorillaFileSystem, MathAPI has "):
        conversation(f"{tool}()").acceptable()


def test_the_packages_own_conversations_replay_without_an_error() -> None:
    folder = bfcl_folder()
    assert isinstance(folder, Path)
    found = list(load_conversations(folder).values())
    assert len(found) >= 200
    for one in found[::20]:
        results = one.simulation.replay(one.calls).results
        assert not [some for some in results if isinstance(some, dict) and "error" in some]
