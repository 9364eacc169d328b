"""A user's own files become items, the same ones each time."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.assistant import Assistant
from ctrag.assistant.imports.files import personas_from
from ctrag.assistant.planning.plan import Plan
from stores.people.dataset import Persona, write_personas
from stores.people.items import Contact, Item, Person, Profile
from stores.people.stores import ImportReport, Stores

ICS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//test//EN
{events}
END:VCALENDAR
"""


@pytest.fixture(autouse=True)
def bergen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This machine stands in Bergen."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Oslo"
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path / "stores")


def ics(folder: Path, *events: str) -> Path:
    path = folder / "calendar.ics"
    body = "\n".join(f"BEGIN:VEVENT\n{event}\nEND:VEVENT" for event in events)
    path.write_text(ICS.format(events=body).replace("\n", "\r\n"), encoding="utf-8")
    return path


def mbox(folder: Path, *mails: bytes) -> Path:
    path = folder / "mail.mbox"
    path.write_bytes(
        b"".join(b"From x Thu Apr 17 08:00:00 2025\n" + one + b"\n\n" for one in mails)
    )
    return path


def read(path: Path, stores: Stores) -> tuple[Item, ...]:
    [persona] = personas_from(path, "me", "Ada Byron", stores)
    assert persona.person.profile.name == "Ada Byron"
    return persona.items


def bring(path: Path, stores: Stores, person: str | None = "me") -> ImportReport:
    def zeros(owned: Sequence[Any]) -> np.ndarray:
        return np.zeros((len(owned), 3), np.float32)

    return stores.import_personas(personas_from(path, person, None, stores), zeros, "zeros")


MEETING = """UID:a1
SUMMARY: Dock meeting
DTSTART;TZID=America/New_York:20250417T120030
DTEND:20250417T170000Z
LOCATION:Pier 2\\, Bergen
DESCRIPTION:bring\\npapers
ATTENDEE;CN=Omar Salcedo:mailto:omar@example.mx
ATTENDEE:MAILTO:rosa@example.mx"""


def test_an_event_is_read_in_local_time_with_place_notes_and_guests(
    tmp_path: Path, stores: Stores
) -> None:
    [event] = read(ics(tmp_path, MEETING), stores)
    assert event.app == "calendar"
    assert event.id.startswith("me-calendar-")
    assert event.fields == {
        "title": "Dock meeting",
        "start": datetime(2025, 4, 17, 18, 0),
        "end": datetime(2025, 4, 17, 19, 0),
        "location": "Pier 2, Bergen",
        "attendees": ("Omar Salcedo", "rosa@example.mx"),
        "notes": "bring\npapers",
    }


@pytest.mark.parametrize(
    ("times", "start", "end"),
    [
        ("DTSTART:20250417T180000", (17, 18, 0), (17, 19, 0)),
        ("DTSTART:20250417T180000\nDURATION:PT30M", (17, 18, 0), (17, 18, 30)),
        ("DTSTART;VALUE=DATE:20250417", (17, 0, 0), (18, 0, 0)),
        ("DTSTART;VALUE=DATE:20250417\nDTEND;VALUE=DATE:20250419", (17, 0, 0), (19, 0, 0)),
        ("DTSTART:20250417T180000\nDTEND:20250417T170000", (17, 18, 0), (17, 18, 0)),
    ],
    ids=["no end", "duration", "all day without end", "all day", "ends before it begins"],
)
def test_every_event_gets_an_end(
    tmp_path: Path, stores: Stores, times: str, start: tuple[int, ...], end: tuple[int, ...]
) -> None:
    [event] = read(ics(tmp_path, f"UID:a\nSUMMARY:x\n{times}"), stores)
    assert event.fields["start"] == datetime(2025, 4, *start)
    assert event.fields["end"] == datetime(2025, 4, *end)


def test_a_moved_occurrence_is_an_item_of_its_own_and_a_revision_replaces(
    tmp_path: Path, stores: Stores
) -> None:
    series = "UID:a\nSUMMARY:Choir\nDTSTART:20250417T180000"
    moved = "UID:a\nSUMMARY:Choir\nRECURRENCE-ID:20250424T180000\nDTSTART:20250425T180000"
    revised = "UID:a\nSUMMARY:Choir, new room\nDTSTART:20250417T180000"
    items = read(ics(tmp_path, series, moved, revised), stores)
    assert [item.text("title") for item in items] == ["Choir, new room", "Choir"]


def test_events_without_a_readable_time_are_left_out(tmp_path: Path, stores: Stores) -> None:
    good = "SUMMARY:kept\nDTSTART:20250417T180000"
    bad = ["SUMMARY:no time", "SUMMARY:x\nDTSTART:soon"]
    assert [item.text("title") for item in read(ics(tmp_path, *bad, good), stores)] == ["kept"]


def test_a_file_with_two_calendars_gives_the_events_of_both(tmp_path: Path, stores: Stores) -> None:
    path = ics(tmp_path, "UID:a\nSUMMARY:one\nDTSTART:20250417T180000")
    path.write_text(path.read_text() + path.read_text().replace("UID:a", "UID:b"))
    assert len(read(path, stores)) == 2


MAIL = b"""From: =?utf-8?q?J=C3=B8rn_Lie?= <jorn@example.no>
To: me@example.no
Subject: =?iso-8859-1?q?F=E6rge?=
  to Bergen
Date: Wed, 16 Apr 2025 12:44:30 -0400
Message-ID: <1@example.no>
Status: RO
Content-Type: text/plain; charset="iso-8859-1"
Content-Transfer-Encoding: quoted-printable

K=E6re Ada,
the ferry leaves at six.
"""


def test_a_mail_is_read_with_decoded_headers_in_local_time(tmp_path: Path, stores: Stores) -> None:
    [mail] = read(mbox(tmp_path, MAIL), stores)
    assert mail.fields == {
        "sender": "Jørn Lie",
        "subject": "Færge to Bergen",
        "body": "Kære Ada,\nthe ferry leaves at six.",
        "received_at": datetime(2025, 4, 16, 18, 44),
        "unread": False,
        "flagged": False,
        "recipients": ("me@example.no",),
    }


PARTS = b"""From: a@example.no
Subject: s
Date: Wed, 16 Apr 2025 12:44:30 +0200
Content-Type: multipart/mixed; boundary=B

--B
Content-Type: text/plain; name="list.txt"
Content-Disposition: attachment; filename="list.txt"

attached
--B
Content-Type: multipart/alternative; boundary=C

--C
Content-Type: text/html

<p>html</p>
--C
Content-Type: text/plain

the text
--C--
--B--
"""


def test_the_plain_part_that_is_no_attachment_is_the_body(tmp_path: Path, stores: Stores) -> None:
    [mail] = read(mbox(tmp_path, PARTS), stores)
    assert (mail.text("sender"), mail.text("body")) == (
        "a@example.no",
        "the text\n\nAttachments: list.txt",
    )
    assert mail.flag("unread")


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        (b"iso-8859-1", b"x-unknown", "body", "Kære Ada,\nthe ferry leaves at six."),
        (b"=?iso-8859-1?q?F=E6rge?=", b"=?x-unknown?q?F?=", "subject", "F to Bergen"),
        (b"=?iso-8859-1?q?F=E6rge?=", b"=?utf-8?q?F=E6?=", "subject", "Fæ to Bergen"),
        (b"=?iso-8859-1?q?F=E6rge?=\n  to Bergen", b"", "subject", "(no subject)"),
        (b"From: =?utf-8?q?J=C3=B8rn_Lie?= <jorn@example.no>", b"X: y", "sender", "unknown"),
    ],
    ids=["body charset", "header charset", "header bytes", "no subject", "no sender"],
)
def test_a_mail_that_cannot_be_read_in_full_is_still_a_mail(
    tmp_path: Path, stores: Stores, old: bytes, new: bytes, field: str, value: str
) -> None:
    [mail] = read(mbox(tmp_path, MAIL.replace(old, new)), stores)
    assert mail.fields[field] == value


@pytest.mark.parametrize("date", [b"", b"soon", b"Wed, 16 Apr 0001 00:00:00 +1400"])
def test_a_mail_without_a_date_has_that_of_the_line_before_it(
    tmp_path: Path, stores: Stores, date: bytes
) -> None:
    undated = MAIL.replace(b"Wed, 16 Apr 2025 12:44:30 -0400", date)
    [mail] = read(mbox(tmp_path, undated), stores)
    assert mail.fields["received_at"] == datetime(2025, 4, 17, 8, 0)


def test_a_copy_of_a_mail_is_the_same_mail(tmp_path: Path, stores: Stores) -> None:
    assert len(read(mbox(tmp_path, MAIL, MAIL), stores)) == 1


def test_an_endless_mail_is_cut(tmp_path: Path, stores: Stores) -> None:
    [mail] = read(mbox(tmp_path, MAIL + b"x" * 100_000), stores)
    assert len(mail.text("body")) == 50_000


VCF = """BEGIN:VCARD
VERSION:3.0
N:Salcedo;Omar
FN:Omar Salcedo
ROLE:dispatcher
TEL;TYPE=CELL:+52 33 5550 1103
TEL;TYPE=HOME:1
EMAIL:omar@example.mx
END:VCARD
BEGIN:VCARD
VERSION:3.0
N:;
FN: Tere Macías
END:VCARD
BEGIN:VCARD
VERSION:3.0
N:;
FN:
END:VCARD
"""


def test_cards_with_a_name_become_contacts(tmp_path: Path, stores: Stores) -> None:
    path = tmp_path / "contacts.VCF"
    path.write_text(VCF, encoding="utf-8")
    [persona] = personas_from(path, "me", None, stores)
    assert persona == Persona(
        Person(
            "me",
            persona.person.now,
            Profile("me", timezone="Europe/Oslo"),
            (
                Contact(
                    "Omar Salcedo",
                    phone="+52 33 5550 1103",
                    email="omar@example.mx",
                    phones=("+52 33 5550 1103", "1"),
                    emails=("omar@example.mx",),
                    title="dispatcher",
                ),
                Contact("Tere Macías"),
            ),
        ),
        (),
    )


def test_a_changed_card_is_the_same_contact_and_the_others_stay(
    tmp_path: Path, stores: Stores
) -> None:
    path = tmp_path / "contacts.vcf"
    path.write_text(VCF, encoding="utf-8")
    bring(path, stores)
    path.write_text(VCF.replace("1103", "9999").replace("Tere Mac", "Ann Mac"), encoding="utf-8")
    bring(path, stores)
    contacts = {one.name: one.phone for one in stores.person("me").contacts}
    assert contacts == {
        "Omar Salcedo": "+52 33 5550 9999",
        "Tere Macías": None,
        "Ann Macías": None,
    }


@pytest.mark.parametrize("kind", ["ics", "mbox", "vcf"])
def test_the_same_file_again_changes_nothing(tmp_path: Path, stores: Stores, kind: str) -> None:
    if kind == "ics":
        path = ics(tmp_path, MEETING, "SUMMARY:no uid\nDTSTART:20250417T180000")
    elif kind == "mbox":
        path = mbox(tmp_path, MAIL, MAIL.replace(b"Message-ID: <1@example.no>\n", b""))
    else:
        path = tmp_path / "c.vcf"
        path.write_text(VCF, encoding="utf-8")
    assert bring(path, stores).anything
    before = stores.signature()
    assert not bring(path, stores).anything
    assert stores.signature() == before


@pytest.fixture
def people(tmp_path: Path) -> Path:
    folder = tmp_path / "people"
    folder.mkdir()
    write_personas(
        folder,
        [
            Persona(Person(one, datetime(2025, 4, 17), Profile(one.title())), ())
            for one in ("ada", "ben")
        ],
    )
    return folder


def test_a_data_set_folder_brings_everybody_or_one(people: Path, stores: Stores) -> None:
    assert bring(people, stores, "ben").people == 1
    assert stores.people() == ["ben"]
    assert bring(people, stores, None).people == 1
    assert set(stores.people()) == {"ada", "ben"}


def test_somebody_who_is_not_in_the_folder_is_unknown(people: Path, stores: Stores) -> None:
    with pytest.raises(ValueError, match="persona: 'eve' is unknown; known: ada, ben"):
        personas_from(people, "eve", None, stores)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.ics", b"", "it is empty"),
        ("a.ics", b"hello", "no file that ctrag reads"),
        ("a.ics", b"\xff\xfe\x00", "no file that ctrag reads"),
        ("a.mbox", b"hello\n", "no file that ctrag reads"),
        ("a.dat", b"hello", "no file that ctrag reads"),
        ("a.json", b'{"isTrashed": ', "Expecting value"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_named(
    tmp_path: Path, stores: Stores, name: str, content: bytes, problem: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=problem) as caught:
        personas_from(path, "me", None, stores)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_file_needs_to_be_somebodys(tmp_path: Path, stores: Stores) -> None:
    with pytest.raises(ValueError, match="--persona: a file needs the id of the person"):
        personas_from(ics(tmp_path, MEETING), None, None, stores)


def test_a_missing_file_is_named(tmp_path: Path, stores: Stores) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.ics"):
        personas_from(tmp_path / "none.ics", "me", None, stores)


def test_the_assistant_finds_an_imported_event(
    tmp_path: Path, stores: Stores, through_endpoint: Any
) -> None:
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.models.encoder import load_encoder

    dentist = MEETING.replace(" Dock meeting", "Dentist").replace("a1", "a2")
    path = ics(tmp_path, MEETING, dentist.replace("20250417", "20250418"))
    encoder = load_encoder()
    stores.import_personas(
        personas_from(path, "me", "Ada Byron", stores),
        lambda owned: encode_items(encoder, list(owned)),
        encoder.name,
    )
    through_endpoint.answers = ['get_event(title="Dentist")']
    assistant = Assistant.open(stores.root, "me", planner="openai")
    answer = assistant.ask("when is my dentist", datetime(2025, 4, 17, 9, 0), run=True)
    assert answer.items[0].item.text("title") == "Dentist"
    assert answer.plan == Plan("get_event", {"title": "Dentist"})
    assert answer.result is not None
    assert "2025-04-18" in answer.result.answer or "tomorrow" in answer.result.answer
    assert replace(answer, trace=None).unavailable == {}  # type: ignore[arg-type]
