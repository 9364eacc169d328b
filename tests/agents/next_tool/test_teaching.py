"""Recordings as demonstrations; sessions teach a model in use, each lesson once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import NextTool, load_demonstrations
from ctrag.agents.next_tool.demonstrations import read_demonstrations
from ctrag.agents.next_tool.observed import read
from ctrag.agents.next_tool.opening import OneText, open_next_tool
from ctrag.agents.next_tool.teaching import KNOWN, SessionTeacher, teach
from ctrag.agents.next_tool.traces import TracePrior
from ctrag.agents.session.events import JsonLines, together
from ctrag.agents.session.lessons import PAUSE, Lesson
from ctrag.agents.session.tool_session import ToolSession

SEARCHES = [("Lock up for the night", ["lock_door"]), ("Now the plants", ["water_plants"])]
LESSON = Lesson("s1/0/1", "s1", "Now the plants", ("water_plants",), ("lock_door",))


def play(name: str, record: Any, at: float = 0.0) -> None:
    session = ToolSession(name, record=record, clock=lambda: at)
    for text, calls in SEARCHES:
        session.found(text, [CatalogueTool(one, "") for one in calls])
        for one in calls:
            session.finished(one, {})


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "gateway.jsonl"
    for number in range(6):
        play(f"s{number}", JsonLines(path), 10 * PAUSE * number)
    return path


@pytest.fixture
def own(next_tool: NextTool, word_bins: Any, tmp_path: Path) -> NextTool:
    next_tool.save(tmp_path / "model")
    return NextTool.load(tmp_path / "model", word_bins)


def test_a_recording_is_read_as_demonstrations_split_by_session(recording: Path) -> None:
    rows = load_demonstrations(recording)
    assert [(one.group, one.text, one.before, one.tools) for one in rows[:2]] == [
        ("s0", "Lock up for the night", (), ("lock_door", "water_plants")),
        ("s0", "Now the plants", ("lock_door",), ("water_plants",)),
    ]
    found = read_demonstrations(recording)
    assert (found.learned["sessions"], found.left_out) == (6, {})


def test_a_recording_without_a_call_says_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    ToolSession("s1", record=JsonLines(path)).found("anything", [])
    with pytest.raises(ValueError, match="no session in it teaches a next tool: 1 tasks without"):
        load_demonstrations(path)


def test_a_chat_is_not_mistaken_for_demonstrations(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(
        json.dumps({"text": "mail Omar", "tools": ["send"], "plan": "none()", "asked_at": "x"})
    )
    with pytest.raises(ValueError, match="is a turn of `ctrag chat --record`"):
        load_demonstrations(path)


def test_each_lesson_of_a_recording_is_learned_once(own: NextTool, word_bins: Any) -> None:
    assert teach(own, [LESSON]) == {"learned": 1}
    assert teach(own, [LESSON]) == {"learned": 0, KNOWN: 1}
    assert own.log is not None
    [line] = read(own.log)
    assert (line.before, line.session) == (("lock_door",), "s1")
    again = NextTool.load(own.log.parent, word_bins)
    assert teach(again, [LESSON]) == {"learned": 0, KNOWN: 1}
    assert len(again.memory) == len(own.memory)


def test_a_model_in_use_learns_what_another_process_has_observed(
    own: NextTool, word_bins: Any
) -> None:
    assert own.log is not None
    other = NextTool.load(own.log.parent, word_bins)
    other.observe("Water the ficus", ["water_plants"])
    assert own.refresh() == 1
    assert own.refresh() == 0
    own.observe("Water the fern", ["water_plants"])
    assert own.refresh() == 0
    assert own.memory.counts.tolist() != other.memory.counts.tolist()
    assert other.refresh() == 1
    assert own.memory.counts.tolist() == other.memory.counts.tolist()


def test_a_teacher_waits_for_a_session_to_end_or_pause(word_bins: Any) -> None:
    model = TracePrior([], OneText(word_bins), ends=True, growing=True)
    assert model.rank("Lock up for the night") == []
    teacher = SessionTeacher(lambda: model)
    play("s1", teacher)
    play("s2", teacher, 1.0)
    assert len(model) == 0
    play("s3", teacher, 5 * PAUSE)
    teacher.close()
    assert (teacher.learned, len(model)) == (6, 6)
    ranked = model.rank("Lock up for the night", ["lock_door"])
    assert ranked[0][0] == "water_plants"
    assert model.rank("Lock up", ["lock_door", "water_plants"])[0][0] == "end"


def test_a_model_that_cannot_learn_costs_a_session_nothing(own: NextTool, tmp_path: Path) -> None:
    own.log = tmp_path / "nowhere" / "observed.jsonl"
    teacher = SessionTeacher(lambda: own)
    play("s1", teacher)
    teacher.close()
    assert (teacher.learned, teacher.left_out) == (0, {"lessons lost to NotFound": 1})


def test_what_is_opened_depends_on_what_is_there(
    own: NextTool, recording: Path, word_bins: Any
) -> None:
    assert own.log is not None
    assert isinstance(open_next_tool(own.log.parent, word_bins), NextTool)
    counted = open_next_tool(recording, word_bins, ["home/water_plants"])
    assert isinstance(counted, TracePrior)
    assert counted.rank("Lock up for the night", ["lock_door"])[0][0] == "home/water_plants"
    assert counted.knows(Lesson("-", "s0", "Lock up for the night", (), ()))


def test_training_on_a_recording_counts_what_was_observed_of_it_once(
    recording: Path, word_bins: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from training.next_tool import train

    monkeypatch.setattr(train, "load_encoder", lambda name: word_bins)
    monkeypatch.setattr(train, "CachedEncoder", lambda encoder, folder: encoder)
    model = train.train_dependency(recording)
    assert (model.card.learned["sessions"], model.card.held_out) == (6, 0)
    model.save(tmp_path / "model")
    own = NextTool.load(tmp_path / "model", word_bins)
    assert teach(own, [LESSON]) == {"learned": 0, KNOWN: 1}
    own.observe("Now the plants", ["water_plants"])
    log = tmp_path / "model" / "observed.jsonl"
    again = train.train_dependency(recording, observed=log)
    assert (again.card.observed, again.card.demonstrations) == (1, 13)


def test_too_few_sessions_to_fit_are_named_with_the_way_out(
    tmp_path: Path, fit_chains: Callable[..., NextTool]
) -> None:
    path = tmp_path / "one.jsonl"
    play("s1", together(JsonLines(path)))
    with pytest.raises(ValueError, match="are of 1 sessions, episodes or requests; at least 4"):
        fit_chains(load_demonstrations(path))
