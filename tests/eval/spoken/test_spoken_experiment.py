"""Claims about the experiment on strangers' requests, on three made-up ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag import Assistant
from ctrag.assistant.planning.embedded import EmbeddedPlanner
from eval.spoken.run import METHOD, run_spoken, table
from stores.compressed import read_kept
from synth.reference import split_folder

ACCEPT = {"kept_entities": ["person", "topic"], "ignored_words": ["the"]}
ROWS: list[dict[str, Any]] = [
    {
        "query_id": "a",
        "text": "remind me to water the ferns tomorrow at nine",
        "intent": "alarm_set",
        "apis": ["create_reminder"],
        "entities": [{"type": "topic", "text": "the ferns"}, {"type": "date", "text": "tomorrow"}],
    },
    {"query_id": "b", "text": "hello you", "intent": "greet", "apis": None, "entities": []},
    {
        "query_id": "c",
        "text": "turn the kitchen lights down a bit",
        "intent": "lights",
        "apis": [],
        "entities": [],
    },
    {
        "query_id": "d",
        "text": "who was the first king of norway",
        "intent": "facts",
        "apis": ["google_search"],
        "entities": [{"type": "topic", "text": "first king of norway"}],
    },
]
MEASURES = {"requests", "api", "kept", "both", "sure", "sure_right"}


@pytest.fixture(autouse=True)
def one_planner(converted_planner: Path, configure: Callable[..., None]) -> None:
    folder = next((converted_planner / "models").iterdir())
    configure(planner_model=folder, threads=1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "spoken"
    folder.mkdir()
    (folder / "accept.json").write_text(json.dumps(ACCEPT), encoding="utf-8")
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    (folder / "dev.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_the_figures_are_of_the_requests_whose_apis_are_known(data: Path) -> None:
    experiment = run_spoken(data)
    figures: Any = experiment.figures[METHOD]
    assert set(figures) == MEASURES
    assert figures["requests"] == 3
    assert 0 <= figures["both"] <= figures["api"] <= 100
    extra: Any = experiment.extra
    assert extra["people"] == ["p007", "p204"]
    assert list(extra["intents"]) == ["alarm_set", "facts", "lights"]
    for key in ("api", "both", "sure"):
        whole = sum(one[key] for one in extra["intents"].values()) / 3
        assert figures[key] == pytest.approx(whole, abs=0.01)
    assert extra["coverage"]["100"] == figures["both"]
    intervals: Any = experiment.intervals[METHOD]
    assert {"api", "both", "sure"} <= set(intervals)
    low, high = intervals["api"]
    assert low <= figures["api"] <= high
    shown = table(experiment)
    assert [row[:2] for row in shown.rows] == [
        ["all", "3"],
        ["alarm_set", "1"],
        ["facts", "1"],
        ["lights", "1"],
    ]
    assert shown.notes[0].startswith("3 of 3 requests, asked by 2 people in turn")


def test_a_plan_is_the_one_that_the_assistant_gives(data: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    run_spoken(data, resume=rows)
    found = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert [one["query_id"] for one in found] == ["a", "c", "d"]
    texts = {row["query_id"]: row["text"] for row in ROWS}
    for person, of_person in (("p007", ("a", "d")), ("p204", ("c",))):
        assistant = Assistant.open(split_folder("dev"), person)
        for one in found:
            if one["query_id"] in of_person:
                answer = assistant.ask(texts[one["query_id"]])
                assert one["text"] == str(answer.plan)
                assert one["confidence"] == pytest.approx(answer.confidence, abs=1e-3)


def test_a_stopped_run_goes_on_where_it_stopped(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.jsonl"
    first = run_spoken(data, limit=2, resume=rows)
    planned = []
    plan = EmbeddedPlanner.plan
    monkeypatch.setattr(EmbeddedPlanner, "plan", lambda *args: planned.append(1) or plan(*args))
    again = run_spoken(data, limit=2, resume=rows)
    assert (planned, again.figures) == ([], first.figures)
    assert run_spoken(data, resume=rows).extra["requests_to_score"] == 3
    assert len(planned) == 1


def test_everybody_of_a_given_folder_asks(data: Path, tmp_path: Path) -> None:
    people = tmp_path / "people"
    people.mkdir()
    lines = read_kept(split_folder("dev") / "personas.jsonl").decode().splitlines()
    (people / "personas.jsonl").write_text(lines[1] + "\n", encoding="utf-8")
    (people / "queries.jsonl").write_text("", encoding="utf-8")
    experiment = run_spoken(data, people=people, limit=1)
    assert experiment.extra["people"] == [json.loads(lines[1])["persona_id"]]
    assert experiment.settings["people"] == str(people)
