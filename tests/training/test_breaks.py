"""Requests put into one breath, and the regression that tells them apart."""

import json
from pathlib import Path

import pytest

from ctrag.assistant.conversation.breaks import Breaks, BreaksCard
from training.breaks.joined import SEVERAL, Breath, breaths
from training.breaks.spoken import marks_of, several_breaths
from training.breaks.train import train_breaks

AT = "2025-04-17T12:00"
SOURCE = {"command": "", "data": "", "data_sha256": "", "seed": 1, "versions": {}}


def asked(number: int, text: str, api: str, **arguments: str) -> dict[str, object]:
    return {
        "query_id": f"q{number}",
        "persona_id": "ada",
        "text": text,
        "kind": "explicit",
        "asked_at": AT,
        "relevant": [],
        "plan": {"api": api, "arguments": arguments},
    }


ROWS = [
    asked(1, "Remind me to buy rope", "create_reminder", title="Buy rope"),
    asked(2, "remind me to lock the gate", "create_reminder", title="Lock the gate"),
    asked(3, "remind me to feed the cat", "create_reminder", title="Feed the cat"),
    asked(4, "Play some jazz please", "play_genre", genre="jazz"),
    asked(5, "tell Omar I'm late", "send_mail", to="Omar", subject="Late", body="I'm late."),
    asked(6, "tell Omar it's off", "send_mail", to="Omar", subject="Off", body="It's off."),
    asked(7, "tell Omar to wait", "send_mail", to="Omar", subject="Wait", body="Please wait."),
]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    ada = {"persona_id": "ada", "now": AT, "profile": {"name": "Ada Quist"}, "apps": {}}
    (tmp_path / "personas.jsonl").write_text(json.dumps(ada) + "\n", encoding="utf-8")
    lines = "".join(json.dumps(one) + "\n" for one in ROWS)
    (tmp_path / "queries.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_marks_are_where_one_request_ends_and_the_next_begins(people: Path) -> None:
    said = breaths([people], [], 60)
    joined = [one for one in said if one.kind == "joined"]
    assert joined
    for one in joined:
        begin, end = one.marks[0]
        assert one.text[begin:end].strip(" .,;-") in (
            "", "and", "then", "and then", "and also", "oh and", "also", "and after that", "plus",
            "and can you", "and please", "but",
        )  # fmt: skip
        assert one.text[:begin]
        assert one.text[end:]
    assert {one.text for one in said if one.kind == "alone"} == {row["text"] for row in ROWS}


def test_the_regression_learns_where_a_request_ends(tmp_path: Path) -> None:
    mark = len("play some jazz")
    said = [
        one
        for person in "abcdef"
        for _ in range(6)
        for one in (
            Breath("play some jazz and find my keys", person, "joined", ((mark, mark + 5),)),
            Breath("add bread and butter", person, "alone"),
        )
    ]
    fitted = train_breaks(said, SOURCE)
    assert fitted.card.figures["cross-validated"] == {"joined": 100.0, "alone": 100.0}
    fitted.save(tmp_path)
    again = Breaks.load(tmp_path)
    assert again == fitted
    assert again.odds("play some jazz", "find my keys", " and ", False) > 0
    assert again.odds("add bread", "butter", " and ", False) < 0


def test_the_card_names_the_people_it_learned_from() -> None:
    card: BreaksCard = Breaks.packaged().card
    assert card.people
    assert card.data.startswith("everyday-people")


@pytest.mark.parametrize(
    ("text", "alone", "parts"),
    [
        (
            "call the bakery and the boat club, then read me the tide table",
            ["call the bakery", "call the boat club", "read me the tide table"],
            ["call the bakery", "the boat club", "read me the tide table"],
        ),
        (
            "tell Ole I'm late, and sorry. The kiln can wait till nine",
            ["tell Ole I'm late, and sorry", "move the kiln reminder to nine"],
            ["tell Ole I'm late, and sorry", "The kiln can wait till nine"],
        ),
        ("buy bread and butter", ["buy flour", "ring the mill"], []),
        ("ring Ole", ["ring Ole", "ring Ida"], []),
    ],
)
def test_requests_end_where_those_said_whole_have_their_words(
    text: str, alone: list[str], parts: list[str]
) -> None:
    marks = marks_of(text, alone)
    assert (Breath(text, "ada", SEVERAL, marks).parts if marks else []) == parts


def test_what_was_said_for_several_calls_is_given_and_its_later_requests_behind_others(
    people: Path,
) -> None:
    said = {
        "query_id": "q9",
        "persona_id": "ada",
        "asked_at": AT,
        "text": "the rope is bought, tick it n the anchor can wait till six",
        "plans": [{"api": "complete_reminder"}, {"api": "snooze_reminder"}],
        "alone": ["the rope is bought, tick it", "the anchor can wait till six"],
    }
    (people / "several.jsonl").write_text(json.dumps(said) + "\n", encoding="utf-8")
    several = several_breaths([people])
    assert [one.parts for one in several] == [
        ["the rope is bought, tick it", "the anchor can wait till six"]
    ]
    found = breaths([people], [], 60, several=several)
    assert [one for one in found if one.kind == SEVERAL] == several
    behind = [one.parts for one in found if one.text.endswith("the anchor can wait till six")]
    assert {first for first, _ in behind if first != "the rope is bought, tick it"}
