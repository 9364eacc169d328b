"""Whose is whose, through the entry point: undo, forget, doctor, rights."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

PLANTED = {
    "UID": "ZEBRAUID",
    "SUMMARY": "Meet QUOKKATITLE",
    "DESCRIPTION": "about NARWHALNOTE",
    "LOCATION": "TAPIRPLACE",
}
WORDS = ("QUOKKATITLE", "NARWHALNOTE", "TAPIRPLACE", "CARACALNAME", "HOATZINOWNER", "5550123456")


@pytest.fixture
def calendar(tmp_path: Path) -> Path:
    path = tmp_path / "source" / "c.ics"
    path.parent.mkdir()
    event = [f"{name}:{value}" for name, value in PLANTED.items()]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", *event]
    lines += ["DTSTART:20261201T100000", "END:VEVENT", "END:VCALENDAR", ""]
    path.write_text("\r\n".join(lines))
    return path


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    path = tmp_path / "source-v.vcf"
    path.write_text(
        "BEGIN:VCARD\r\nVERSION:3.0\r\nN:CARACALNAME;X;;;\r\nFN:X CARACALNAME\r\n"
        "TEL:5550123456\r\nEND:VCARD\r\n"
    )
    return path


@pytest.fixture
def me(ctrag: Run, home: Path, calendar: Path, cards: Path) -> Path:
    """Stores of a person with an event and a contact; where all that ctrag writes is."""
    for path in (calendar, cards):
        assert ctrag("import", path, "--persona", "me", "--name", "HOATZINOWNER").code == 0
    return home


def holding(folder: Path, *words: str) -> set[str]:
    """The words that are in any byte of a file under `folder`."""
    every = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return {word for word in words if word.encode() in every}


def newest(home: Path) -> Path:
    """The current generation of the own stores."""
    return max(path for path in (home / "stores").iterdir() if path.is_dir())


def conversation(path: Path, person: str, *said: str) -> None:
    from ctrag.assistant.record import RecordedTurn, append_turn

    for text in said:
        turn = RecordedTurn(
            person=person,
            text=text,
            asked_at="2026-11-26T12:00",
            items=[],
            tools=[],
            plan="none()",
            confidence=0.5,
            status=None,
            answer=text,
            steps=[],
        )
        append_turn(path, turn)


def test_undo_leaves_what_somebody_else_imported(
    ctrag: Run, me: Path, calendar: Path, tmp_path: Path
) -> None:
    ctrag("import", calendar, "--persona", "you", "--name", "You")
    assert ctrag("undo", "--persona", "me").out.startswith("Taken back: import of")
    assert "1 items" in ctrag("export", "--persona", "you", "--out", tmp_path / "y").out
    ctrag("undo", "--persona", "me")
    ran = ctrag("undo", "--persona", "me")
    assert (ran.code, ran.out) == (1, "")
    assert "persona: 'me' is unknown; known: ada, you" in ran.err


def test_forgetting_leaves_no_byte_in_stores_caches_exports_and_records(
    ctrag: Run, me: Path, tmp_path: Path
) -> None:
    from ctrag.assistant.open import open_stores
    from ctrag.assistant.written import note
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings

    out, record = me / "exported", me / "talk.jsonl"
    ctrag("export", "--persona", "me", "--out", out)
    open_stores(out, "me", load_encoder(settings().encoder))  # what `ask --data` does
    conversation(record, "me", "where is TAPIRPLACE")
    conversation(record, "you", "nothing of theirs")
    note("record", record, "me")
    cache = settings().cache
    assert holding(cache / "datasets", *WORDS) == set(WORDS)
    asked = ctrag("forget", "--persona", "me")
    assert f"in {out}, in {record}? (no terminal" in asked.err
    ran = ctrag("forget", "--persona", "me", "--yes")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "1 item, the profile and 1 contact erased"
    assert holding(me, *WORDS) | holding(cache / "datasets", *WORDS) == set()
    assert not out.exists()
    assert "nothing of theirs" in record.read_text()
    again = ctrag("forget", "--persona", "me", "--yes")
    assert (again.code, again.out) == (1, "")


def test_an_export_can_be_kept_and_is_named(ctrag: Run, me: Path) -> None:
    out = me / "exported"
    ctrag("export", "--persona", "me", "--out", out)
    ran = ctrag("forget", "--persona", "me", "--yes", "--keep-exports")
    assert f"kept, and still holds it: {out}" in ran.out
    assert holding(out, *WORDS) == set(WORDS)


def test_one_item_is_forgotten_everywhere(ctrag: Run, me: Path) -> None:
    out = me / "exported"
    ctrag("export", "--persona", "me", "--out", out)
    [item] = json.loads((out / "personas.jsonl").read_text())["apps"]["calendar"]
    ran = ctrag("forget", "--persona", "me", "--item", item["id"], "--yes")
    assert ran.out.splitlines() == ["1 item erased", f"erased from: {out}"]
    assert holding(me, "QUOKKATITLE", "NARWHALNOTE", "TAPIRPLACE") == set()
    assert holding(me, "CARACALNAME") == {"CARACALNAME"}


def test_one_contact_is_forgotten_everywhere(ctrag: Run, me: Path) -> None:
    out, record = me / "exported", me / "talk.jsonl"
    from ctrag.assistant.written import note

    ctrag("export", "--persona", "me", "--out", out)
    conversation(record, "me", "call X CARACALNAME", "what is on tomorrow")
    note("record", record, "me")
    ran = ctrag("forget", "--persona", "me", "--contact", "x caracalname", "--yes")
    assert ran.out.splitlines()[0] == "1 contact erased"
    assert holding(me, "CARACALNAME", "5550123456") == set()
    assert "what is on tomorrow" in record.read_text()
    assert holding(me, "QUOKKATITLE") == {"QUOKKATITLE"}
    missing = ctrag("forget", "--persona", "me", "--contact", "Nobody", "--yes")
    assert "contact: 'me' has no contact 'Nobody'" in missing.err


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[" * 99_999, b'[{"kind": 1}]', b"null", None]
)
def test_notes_that_cannot_be_read_hide_no_export(
    ctrag: Run, me: Path, content: bytes | None
) -> None:
    out, notes = me / "exported", me / "written.json"
    ctrag("export", "--persona", "me", "--out", out)
    notes.unlink()
    notes.mkdir() if content is None else notes.write_bytes(content)
    refused = ctrag("export", "--persona", "me", "--out", me / "other")
    assert (refused.code, "written.json: cannot be read" in refused.err) == (1, True)
    ran = ctrag("forget", "--persona", "me", "--yes")
    assert (ran.code, ran.out.splitlines()[0]) == (3, "1 item, the profile and 1 contact erased")
    assert "could not be erased: " in ran.out
    assert "delete those, then this file" in ran.out
    assert notes.exists()  # nor is it forgotten that something may be left
    assert holding(me / "stores", *WORDS) == set()


@pytest.mark.parametrize(
    "row",
    [
        "1",
        "[" * 99_999,
        "{",
        '{"persona_id": "me", "apps": 1}',
        '{"persona_id": "me", "apps": [1]}',
    ],
)
def test_a_damaged_export_is_named_and_the_rest_is_erased(ctrag: Run, me: Path, row: str) -> None:
    out = me / "exported"
    ctrag("export", "--persona", "me", "--out", out)
    (out / "personas.jsonl").write_text(f"{row}\n")
    ran = ctrag("forget", "--persona", "me", "--contact", "X CARACALNAME", "--yes")
    assert (ran.code, ran.out.splitlines()[0]) == (3, "1 contact erased")
    assert f"could not be erased: {out}: " in ran.out
    assert holding(me / "stores", "CARACALNAME") == set()


def test_separators_of_lines_inside_texts_end_no_line(ctrag: Run, me: Path) -> None:
    from ctrag.assistant.written import note

    out, record = me / "exported", me / "talk.jsonl"
    ctrag("export", "--persona", "me", "--out", out)
    people = out / "personas.jsonl"
    theirs = json.dumps({"persona_id": "you", "note": "one\u2028two\x85three"}, ensure_ascii=False)
    people.write_text(f"{people.read_text()}{theirs}\n")
    conversation(record, "you", "theirs\u2028stays\x85whole")
    conversation(record, "me", "call\u2028X CARACALNAME", "what is on")
    note("record", record, "me")
    ran = ctrag("forget", "--persona", "me", "--contact", "X CARACALNAME", "--yes")
    assert (ran.code, holding(me, "CARACALNAME")) == (0, set())
    said = [json.loads(line)["text"] for line in record.read_text().split("\n") if line]
    assert said == ["theirs\u2028stays\x85whole", "what is on"]
    assert ctrag("forget", "--persona", "me", "--yes").code == 0
    assert people.read_text() == f"{theirs}\n"
    assert "theirs" in record.read_text()


def test_the_page_of_a_record_goes_with_any_part_of_it(ctrag: Run, me: Path) -> None:
    record, page = me / "talk.jsonl", me / "talk.html"
    conversation(record, "me", "call X CARACALNAME & co")
    assert ctrag("session", "show", record, "--web").code == 0
    assert "CARACALNAME" in page.read_text()
    ctrag("forget", "--persona", "me", "--contact", "X CARACALNAME", "--yes")
    assert not page.exists()


def test_a_damaged_store_is_named_by_forget_and_dropped_by_doctor(ctrag: Run, me: Path) -> None:
    (newest(me) / "notes.duckdb").write_bytes(b"QUOKKATITLE" * 3000)
    ran = ctrag("forget", "--persona", "me", "--yes")
    assert ran.code == 3
    assert "the notes store is damaged" in ran.out
    assert "`ctrag doctor --drop notes` deletes it" in ran.out
    assert ctrag("doctor").code == 3
    assert ctrag("doctor", "--drop", "notes").code == 0
    assert holding(me, *WORDS) == set()


def test_doctor_tells_what_is_lost_and_returns_to_the_last_good_files(ctrag: Run, me: Path) -> None:
    assert ctrag("doctor").out == f"{me / 'stores'}: all is well\n"
    (newest(me) / "calendar.duckdb").write_bytes(b"")
    told = ctrag("doctor", "--json")
    assert told.code == 3
    [found] = told.json["found"]
    assert (found["name"], found["lost"].split(" since")[0]) == (
        "calendar",
        "all items of calendar",
    )
    ran = ctrag("doctor", "--repair")
    assert ran.code == 0
    assert ran.out.startswith("mended: calendar: ")
    assert holding(me, "QUOKKATITLE") == {"QUOKKATITLE"}


def test_damaged_own_stores_do_not_stop_packaged_people(ctrag: Run, me: Path) -> None:
    from ctrag.cli.options import folder_of
    from synth.reference import split_folder

    (newest(me) / "people.duckdb").write_bytes(b"junk" * 3000)
    assert folder_of("p007", None) == split_folder("dev")
    ran = ctrag("ask", "what is on", "--persona", "me")
    assert ran.code == 1
    assert "the people store is damaged" in ran.err


def test_a_copy_of_a_data_sets_person_is_renewed_by_reset(
    home: Path, people: Path, ctrag: Run
) -> None:
    from ctrag.assistant.open import open_stores
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.people.changes import Change

    encoder = load_encoder(settings().encoder)
    opened = open_stores(people, "ada", encoder)
    now = opened.stores.person("ada").now
    opened.stores.apply("ada", "notes", Change("Deleted a note.", remove=["ada-n2"]), now)
    assert len(open_stores(people, "ada", encoder).stores.items("ada").items) == 5
    assert len(open_stores(people, "ada", encoder, reset=True).stores.items("ada").items) == 6
    ctrag("import", people)
    ran = ctrag("ask", "hello", "--persona", "ada", "--reset")
    assert "--reset: " in ran.err
    assert "is a stores folder, not a copy of a data set" in ran.err


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_stores_exports_and_records_are_the_owners_alone_whatever_the_umask(
    open_umask: None, ctrag: Run, me: Path
) -> None:
    ctrag("export", "--persona", "me", "--out", me / "exported")
    conversation(me / "talk.jsonl", "me", "hello")
    paths = [path for path in me.rglob("*") if path.name != me.name]
    assert {path.stat().st_mode & 0o777 for path in paths if path.is_dir()} == {0o700}
    modes = {path: path.stat().st_mode & 0o777 for path in paths if path.is_file()}
    assert {path.name: mode for path, mode in modes.items() if mode != 0o600} == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "--persona", "me", "--out", "{file}/out"),
        ("chat", "--persona", "me", "--record", "{file}/talk.jsonl"),
        ("chat", "--persona", "me", "--record", "{folder}"),
        ("eval", "context", "--data", "nowhere", "--out", "{file}/figures.json"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(
    ctrag: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str]
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("ctrag.assistant.assistant.Assistant.open", never)
    monkeypatch.setattr("ctrag.cli.data.stores_with", never)
    file = tmp_path / "file"
    file.write_text("in the way")
    places = {"file": file, "folder": tmp_path}
    ran = ctrag(*(one.format(**places) for one in arguments))
    assert (ran.code, ran.out) == (1, "")
    assert "File exists" in ran.err or "Is a directory" in ran.err


def test_a_calendar_by_address_needs_a_person_and_a_web_address(ctrag: Run, home: Path) -> None:
    ran = ctrag("import", "--url", "https://x.example/c.ics")
    assert "--persona: a calendar needs the id" in ran.err
    ran = ctrag("import", "--url", "file:///etc/passwd", "--persona", "me")
    assert (ran.code, ran.out) == (1, "")
    assert "url: must begin with https:// or webcal://" in ran.err
    assert ctrag("import").code == 2
    ran = ctrag("sync", "--persona", "me")
    assert "no accounts file; docs/sync.md shows one" in ran.err
