"""Recorded sessions as lessons: what a line, a pause, a failure or a loop costs, and what it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.events import Event, JsonLines
from ctrag.agents.session.lessons import LONGEST, PAUSE, Lessons, lessons_of
from ctrag.agents.session.recording import is_recording, read_recordings
from ctrag.agents.session.tool_session import ToolSession

FIND = CatalogueTool("find", "Find an order", "shop")
CANCEL = CatalogueTool("cancel", "Cancel an order", "shop")
CHANGES = {"annotations": {"readOnlyHint": False, "idempotentHint": False}}
REFUND = CatalogueTool("refund", "Give money back", "shop", mcp=CHANGES)


class Recorder:
    """A session with a clock of its own, which writes to a file."""

    def __init__(self, path: Path, content: bool = True, begins: float = 1000.0) -> None:
        self.now = begins
        record = JsonLines(path, content=content)
        self.session = ToolSession("s1", record=record, clock=lambda: self.now)

    def search(self, text: str, *tools: CatalogueTool) -> "Recorder":
        self.now += 1
        self.session.found(text, tools)
        return self

    def call(self, *tools: CatalogueTool, error: str | None = None) -> "Recorder":
        for number, tool in enumerate(tools):
            self.now += 1
            self.session.finished(tool.id, {"at": f"{self.now} {number}"}, error=error)
        return self


def taught(*paths: Path) -> Lessons:
    return lessons_of(read_recordings(list(paths)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gateway.jsonl"


def test_each_search_stands_for_what_its_task_still_called(path: Path) -> None:
    one = Recorder(path).search("cancel W1", FIND).call(FIND)
    one.search("cancel an order", CANCEL).call(CANCEL, REFUND)
    lessons = taught(path)
    assert [(one.text, one.before, one.calls) for one in lessons.next_tool] == [
        ("cancel W1", (), ("shop/find", "shop/cancel", "shop/refund")),
        ("cancel an order", ("shop/find",), ("shop/cancel", "shop/refund")),
    ]
    assert lessons.learned == {"sessions": 1, "tasks": 1, "searches": 2, "calls": 3}
    assert lessons.left_out == {}


def test_a_search_is_credited_with_what_it_gave_and_was_called_before_the_next(path: Path) -> None:
    one = Recorder(path).search("cancel W1", FIND, CANCEL).call(FIND)
    one.search("refund", REFUND).call(CANCEL, REFUND).search("thanks", FIND)
    lessons = taught(path)
    assert [(one.text, one.used, one.found) for one in lessons.searches] == [
        ("cancel W1", ("shop/find",), ("shop/find", "shop/cancel")),
        ("refund", ("shop/refund",), ("shop/refund",)),
    ]
    assert lessons.left_out == {"searches without a call": 1}


def test_a_pause_ends_a_task_and_a_long_call_is_no_pause(path: Path) -> None:
    one = Recorder(path).search("find W1", FIND)
    one.now += 2 * PAUSE
    one.session.finished(FIND.id, {}, seconds=2 * PAUSE)
    one.now += 2 * PAUSE
    one.search("refund W1", REFUND).call(REFUND)
    assert [(one.text, one.before, one.calls) for one in taught(path).next_tool] == [
        ("find W1", (), ("shop/find",)),
        ("refund W1", (), ("shop/refund",)),
    ]
    assert one.session.history == ("shop/refund",)


def test_failures_and_the_repeats_of_a_loop_teach_nothing(path: Path) -> None:
    one = Recorder(path).search("find W1", FIND, REFUND).call(REFUND, error="Timeout").call(FIND)
    for _ in range(4):
        one.now += 1
        one.session.finished(REFUND.id, {"same": 1})
    lessons = taught(path)
    assert lessons.next_tool[0].calls == ("shop/find", "shop/refund")
    assert lessons.left_out == {"repeats of a call in a loop": 3, "failed calls": 1}


def test_damaged_and_foreign_lines_and_copies_cost_only_themselves(path: Path) -> None:
    Recorder(path).search("cancel W1", CANCEL).call(CANCEL)
    whole = taught(path)
    lines = path.read_bytes().splitlines()
    odd = [
        b'{"event": "ctrag.search", "at"',
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 5_000,
        b'{"hello": 1}',
        b"null",
        b'{"event": "ctrag.of.tomorrow", "at": 1.0}',
        b'{"event": "ctrag.search", "at": NaN}',
    ]
    mixed = [line for pair in zip([*lines, *lines], odd, strict=False) for line in pair]
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join([*mixed, *lines]))
    found = taught(path)
    assert found.next_tool == whole.next_tool
    assert found.searches == whole.searches
    assert found.left_out == {
        "copies of lines": 4 + len(lines),
        "damaged lines": 4,
        "lines that are no events": 4,
    }


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"gen_ai.tool.name": 3}, "calls without a usable name"),
        ({"gen_ai.tool.name": "end"}, "calls without a usable name"),
        ({"gen_ai.tool.name": "\\ud83d"}, "calls without a usable name"),
    ],
)
def test_a_call_of_nothing_that_can_be_called_costs_itself(
    path: Path, attributes: dict[str, Any], reason: str
) -> None:
    Recorder(path).search("cancel W1", CANCEL).call(CANCEL)
    row = {"event": "ctrag.tool.call", "at": 1002.5, "session": "s1", "attributes": attributes}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row).replace("\\\\", "\\") + "\n")
    lessons = taught(path)
    assert lessons.next_tool[0].calls == ("shop/cancel",)
    assert lessons.left_out == {reason: 1}


def test_without_words_nothing_is_learned_and_that_is_said(path: Path) -> None:
    Recorder(path, content=False).search("cancel W1", CANCEL).call(CANCEL)
    lessons = taught(path)
    assert (lessons.next_tool, lessons.searches) == ((), ())
    assert lessons.left_out == {"tasks without a search in words": 1, "searches without a call": 1}


def test_sessions_of_a_folder_are_joined_by_name_and_time(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    Recorder(whole).search("cancel W1", FIND).call(FIND, CANCEL)
    lines = whole.read_bytes().splitlines(keepends=True)
    folder = tmp_path / "days"
    folder.mkdir()
    (folder / "a-later.jsonl").write_bytes(b"".join(lines[-1:]))
    (folder / "b-earlier.jsonl").write_bytes(b"".join(lines[:-1]))
    assert taught(folder).next_tool == taught(whole).next_tool


def test_a_name_that_is_opened_again_is_another_session(path: Path) -> None:
    Recorder(path).search("cancel W1", CANCEL).call(CANCEL)
    Recorder(path, begins=1010.0).search("refund W2", REFUND).call(REFUND)
    assert taught(path).learned["sessions"] == 2


def test_a_search_stands_for_a_bounded_number_of_calls(path: Path) -> None:
    Recorder(path).search("find all", FIND).call(*[FIND, CANCEL] * LONGEST)
    assert len(taught(path).next_tool[0].calls) == LONGEST


def test_definitions_that_are_no_tools_are_counted(path: Path) -> None:
    rows = [{"name": "find", "server": "shop", "description": "Find"}, {"name": ""}, 3]
    event = Event(
        event="ctrag.catalogue", at=1.0, session="s1", attributes={"ctrag.definitions": rows}
    )
    JsonLines(path)(event)
    found = read_recordings([path])
    assert [tool.id for tool in found.tools.values()] == ["shop/find"]
    assert found.left_out == {"tools without a usable definition": 2}


def test_other_files_are_no_recordings(tmp_path: Path) -> None:
    other = tmp_path / "queries.jsonl"
    other.write_text(json.dumps({"text": '"event": "ctrag.search"', "tools": []}), encoding="utf-8")
    assert not is_recording(other)
    assert not is_recording(tmp_path)
    with pytest.raises(ValueError, match=r"holds no event of a session; first: queries.jsonl:1: "):
        read_recordings([other])
    with pytest.raises(FileNotFoundError, match="no such recording"):
        read_recordings([tmp_path / "nothing.jsonl"])
