"""Invitations are text of the mail, and events of the calendar."""

import sys
from types import ModuleType

import pytest

from ctrag.assistant.imports.found import Found, Owner
from ctrag.assistant.imports.mails import read_mail
from stores.people.items import Item
from tests.assistant.imports.mail.conftest import NORA, letter, mbox, read_all


def invitation(
    title: str = "Boat check", method: str = "REQUEST", sequence: int = 0, day: int = 2
) -> str:
    return f"""BEGIN:VCALENDAR
VERSION:2.0
METHOD:{method}
BEGIN:VEVENT
UID:boat-1
SEQUENCE:{sequence}
SUMMARY:{title}
LOCATION:Quay\\, Bergen
DESCRIPTION:Bring the papers.\\nAnd a
  rope.
DTSTART;TZID=Europe/Oslo:202612{day:02}T080000
DTEND;TZID=Europe/Oslo:202612{day:02}T090000
ATTENDEE;PARTSTAT=DECLINED:mailto:per@example.org
END:VEVENT
END:VCALENDAR
"""


def mail_of(calendar: str) -> str:
    return letter(calendar, content_type='text/calendar; charset="utf-8"; method=REQUEST')


def body_of(message: str) -> str:
    return read_mail(message.encode(), NORA).items[0].text("body")


def test_a_mail_that_is_only_an_invitation_says_what_when_and_where() -> None:
    body = body_of(mail_of(invitation()))
    assert body.startswith("Invitation: Boat check, Wed 2 Dec 2026 08:00")
    assert "Quay, Bergen" in body
    assert body.endswith("Bring the papers.\nAnd a rope.")


def test_an_invitation_beside_a_text_adds_its_line() -> None:
    parts = "--b\n\nPlease come.\n--b\nContent-Type: text/calendar\n\n" + invitation() + "--b--\n"
    body = body_of(letter(parts, content_type="multipart/alternative; boundary=b"))
    assert body.startswith("Please come.\n\nInvitation: Boat check, Wed 2 Dec 2026 08:00")


def test_what_became_of_an_invitation_is_said() -> None:
    assert body_of(mail_of(invitation(method="CANCEL"))).startswith("Cancelled: Boat check")
    answer = body_of(mail_of(invitation(method="REPLY"))).partition("\n")[0]
    assert answer.startswith("Answer to the invitation: Boat check")
    assert answer.endswith("declined")


@pytest.mark.parametrize("calendar", ["", "BEGIN:VCALENDAR", "\x00\xff", "BEGIN:VEVENT\n" * 9_000])
def test_a_broken_invitation_is_still_a_mail(calendar: str) -> None:
    assert read_mail(mail_of(calendar).encode(), NORA).items[0].text("subject") == "Quay"


@pytest.fixture
def calendars(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Stands in for the reader of calendars; what it was given to read."""
    given: list[bytes] = []

    def read_calendar(data: bytes, owner: Owner) -> Found:
        given.append(data)
        return Found([Item("nora-calendar-1", "calendar", {"title": "Boat check"})])

    module = ModuleType("ctrag.assistant.imports.calendars")
    module.read_calendar = read_calendar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return given


def test_invitations_of_a_mailbox_are_read_together_after_its_mails(
    calendars: list[bytes],
) -> None:
    newer, older = mail_of(invitation(sequence=1, day=3)), mail_of(invitation(day=2))
    items, _ = read_all(mbox(newer, older, letter("hello")))
    assert [one.app for one in items] == ["mail", "mail", "mail", "calendar"]
    assert calendars[-1].count(b"BEGIN:VCALENDAR") == 2


def test_an_answer_to_an_invitation_is_no_event(calendars: list[bytes]) -> None:
    assert [one.app for one in read_all(mbox(mail_of(invitation(method="REPLY"))))[0]] == ["mail"]
    found = read_mail(mail_of(invitation(method="CANCEL")).encode(), NORA)
    assert [one.app for one in found.items] == ["mail", "calendar"]


def test_one_broken_invitation_costs_no_other(
    calendars: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["ctrag.assistant.imports.calendars"]
    whole = module.read_calendar

    def fails(data: bytes, owner: Owner) -> Found:
        if b"Broken" in data:
            raise ValueError("the reader's own fault")
        found: Found = whole(data, owner)
        return found

    monkeypatch.setattr(module, "read_calendar", fails)
    good, bad = mail_of(invitation()), mail_of(invitation("Broken"))
    items, [left] = read_all(mbox(good, bad))
    assert [one.app for one in items] == ["mail", "mail", "calendar"]
    assert (left.kind, left.what, left.why) == ("event", "Broken", "its calendar cannot be read")


def test_the_file_of_an_invitation_is_an_attachment_with_a_name() -> None:
    part = "--b\nContent-Type: application/ics; name=invite.ics\n\n" + invitation() + "--b--\n"
    message = letter(part, content_type="multipart/mixed; boundary=b")
    assert body_of(message).endswith("Attachments: invite.ics")
