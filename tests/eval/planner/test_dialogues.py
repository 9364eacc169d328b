"""Scores of dialogues and of requests for several calls, and their files."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from eval.planner.dialogues import Scored, Verdict, figures, renamed, stand_ins
from stores.people.dataset import Persona
from stores.people.dialogues import load_dialogues, load_several
from stores.people.items import LabelledPlan, Person, Profile
from stores.people.local_time import parse_local_time

AT = "2025-04-17T12:00"
ADA = Persona(Person("ada", parse_local_time(AT), Profile(name="Ada Quist")), ())


def label(api: str, **arguments: str) -> LabelledPlan:
    return LabelledPlan(api, arguments)


def scored(person: str, *right: bool) -> Scored:
    return Scored(
        person, person, tuple(Verdict(one, one, (Plan("pause_music"),), 0.5) for one in right)
    )


def test_a_dialogue_is_right_when_all_its_turns_are() -> None:
    found = figures([scored("ada", True, True), scored("bob", False, True)], [])
    assert found["later_turns"]["right"] == 100
    assert found["whole_dialogues"]["right"] == 50
    assert "several" not in found


def test_a_single_call_stands_in_for_the_one_with_its_purpose() -> None:
    plans = (label("cancel_event", title="Crane"), label("notify_attendees", title="Crane"))
    mail, other = label("send_mail", to="Omar"), label("cancel_event", title="Crane check")
    assert stand_ins(plans, (mail, other), Toolbox.packaged()) == [[other], [mail]]


def test_what_the_assistant_made_goes_by_the_name_it_gave() -> None:
    made = {"lock the gate": "Lock gate"}
    assert renamed(label("delete_reminder", title="Lock the gate"), made) == label(
        "delete_reminder", title="Lock gate"
    )
    assert renamed(None, made) is None


def written(folder: Path, name: str, **row: Any) -> Path:
    row = {"query_id": "a1", "persona_id": "ada", "asked_at": AT} | row
    (folder / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    return folder


def test_a_dialogue_is_read_with_its_labels(tmp_path: Path) -> None:
    turns = [
        {"text": "call Omar", "plan": {"api": "redial_last_call"}, "also": []},
        {"text": "order a pizza", "plan": None},
    ]
    [one] = load_dialogues(written(tmp_path, "dialogues.jsonl", turns=turns), {"ada": ADA})
    assert [turn.text for turn in one.turns] == ["call Omar", "order a pizza"]
    assert one.turns[1].plan is None
    assert load_several(tmp_path, {"ada": ADA}) == []


def test_a_request_for_one_call_is_not_one_for_several(tmp_path: Path) -> None:
    folder = written(tmp_path, "several.jsonl", text="x", plans=[{"api": "pause_music"}])
    with pytest.raises(ValueError, match=r"several\.jsonl:1: plans"):
        load_several(folder, {"ada": ADA})


def test_a_dialogue_of_somebody_unknown_is_refused(tmp_path: Path) -> None:
    turns = [{"text": "a", "plan": None}, {"text": "b", "plan": None}]
    folder = written(tmp_path, "dialogues.jsonl", turns=turns, persona_id="eve")
    with pytest.raises(ValueError, match=r"dialogues\.jsonl:1: persona_id: 'eve'"):
        load_dialogues(folder, {"ada": ADA})
