"""Sessions as files: what is appended is read back, and a damaged line is named."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.assistant.record import RecordedTurn, append_turn
from ctrag.assistant.trace import Trace
from ctrag.cli.session_file import read_session

TURN = RecordedTurn(
    person="ada",
    text="read me\nthat 😀",
    asked_at="2025-04-17T12:59",
    items=["n1"],
    tools=["read_note"],
    plan='read_note(title="Gate code")',
    confidence=0.25,
    status="done",
    answer="4711\nsecond line",
    steps=[
        {"step": "planner.plan", "inputs": {}, "outputs": {"x": [1, None]}, "milliseconds": 1.5}
    ],
)


def test_turns_come_back_in_order_each_on_its_line(tmp_path: Path) -> None:
    path = tmp_path / "made" / "when missing" / "chat.jsonl"
    turns = [TURN, TURN.model_copy(update={"text": "and?", "status": None, "answer": None})]
    for turn in turns:
        append_turn(path, turn)
    assert list(read_session(path)) == turns
    assert len(path.read_bytes().splitlines()) == 2


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_survives(text: str) -> None:
    turn = TURN.model_copy(update={"text": text, "answer": text})
    assert RecordedTurn.model_validate(json.loads(turn.model_dump_json())) == turn


def test_an_empty_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(f"\n{TURN.model_dump_json()}\n\n", encoding="utf-8")
    assert list(read_session(path)) == [TURN]


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b'"x"', b"{}", b'{"person": "ada"}', b"\xff\xfe", b"null", b"[" * 100_000],
)
def test_a_damaged_line_is_named(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(TURN.model_dump_json().encode() + b"\n" + line + b"\n")
    with pytest.raises(ValueError, match=r"chat\.jsonl:2: not a turn of a session: ") as caught:
        list(read_session(path))
    assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_field_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps({**TURN.model_dump(), "mood": "good"}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"chat\.jsonl:1: not a turn"):
        list(read_session(path))


def test_steps_are_kept_in_order_with_what_went_in_and_out() -> None:
    trace = Trace()
    with trace.step("first", text="a") as step:
        step.outputs = {"n": 1}
    with trace.step("second"):
        pass
    assert [(one.name, one.inputs, one.outputs) for one in trace.steps] == [
        ("first", {"text": "a"}, {"n": 1}),
        ("second", {}, {}),
    ]
    assert all(one.milliseconds >= 0 for one in trace.steps)


def test_a_step_that_raises_is_kept() -> None:
    trace = Trace()
    with pytest.raises(RuntimeError, match="boom"), trace.step("first"):
        raise RuntimeError("boom")
    assert [one.name for one in trace.steps] == ["first"]
