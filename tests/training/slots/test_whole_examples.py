"""Claims about what is learned of conversations: turns behind the right calls before them."""

import json
from pathlib import Path

import pytest

from stores.people.dataset import fingerprints, load_dataset
from tests.training.conftest import copy_people
from training.slots.whole import whole_examples

NOW = "2025-04-17T12:59"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A person of the packaged ones with a dialogue and a request for two calls."""
    folder = copy_people("train", 1, tmp_path / "data")
    (folder / "queries.jsonl").write_text("", encoding="utf-8")
    dialogue = {
        "query_id": "p001-1",
        "persona_id": "p001",
        "asked_at": NOW,
        "turns": [
            {"text": "what have I still got to do", "plan": {"api": "list_reminders"}},
            {
                "text": "move the grease to five",
                "plan": {
                    "api": "snooze_reminder",
                    "arguments": {
                        "title": "Grease the fifth wheel",
                        "until": "2025-04-17T17:00",
                    },
                },
            },
            {"text": "and play something", "plan": None},
            {"text": "so where is it written", "plan": None},
        ],
        "alone": [
            ["what have I still got to do"],
            ["move Grease the fifth wheel to five"],
            ["play a zarzuela"],
            ["where is Grease the fifth wheel written"],
        ],
    }
    both = {
        "query_id": "p001-2",
        "persona_id": "p001",
        "asked_at": NOW,
        "text": "call Omar and then Nando",
        "plans": [
            {"api": "call_contact", "arguments": {"contact": "Omar Salcedo"}},
            {"api": "call_contact", "arguments": {"contact": "Nando Vidal"}},
        ],
        "alone": ["call Omar", "call Nando"],
    }
    (folder / "dialogues.jsonl").write_text(json.dumps(dialogue) + "\n", encoding="utf-8")
    (folder / "several.jsonl").write_text(json.dumps(both) + "\n", encoding="utf-8")
    return folder


def test_a_turn_is_learned_behind_the_right_calls_before_it_and_what_they_showed(
    data: Path,
) -> None:
    said: list[str] = []
    first, second, last, both = whole_examples([data], frozenset(), said.append)
    assert first.prompt == "Now said: what have I still got to do"
    assert first.answer == "=\n"
    assert second.prompt.startswith("Said: what have I still got to do\nCall: list_reminders()\n")
    assert "Item: reminders: Grease the fifth wheel; " in second.prompt
    assert second.answer == "move Grease the fifth wheel to five\n"
    assert (
        'Call: snooze_reminder(title="Grease the fifth wheel", until="2025-04-17T17:00")\n'
        "Item: reminders: Grease the fifth wheel; 2025-04-17 17:00" in last.prompt
    )
    assert both.prompt == "Now said: call Omar and then Nando"
    assert both.answer == "call Omar\ncall Nando\n"
    assert said == [f"{data}: 4 turns said whole, 1 left out"]


def test_held_out_people_are_left_out(data: Path) -> None:
    assert whole_examples([data], frozenset(fingerprints(data).values())) == []


def test_people_who_only_hold_conversations_are_learned_from_too(data: Path) -> None:
    assert not load_dataset(data).requests
    assert list(fingerprints(data)) == ["p001"]


def test_as_many_lists_as_turns_are_wanted(data: Path) -> None:
    path = data / "dialogues.jsonl"
    raw = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**raw, "alone": raw["alone"][:3]}) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"dialogues\.jsonl:1: alone: 3 lists for 4 turns"):
        whole_examples([data], frozenset())
