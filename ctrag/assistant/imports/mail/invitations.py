"""Invitations in mails: what they say on a line, and as events of the calendar."""

import importlib
import re
from collections.abc import Sequence
from datetime import datetime

from ctrag.assistant.imports.calendar_versions import NO_EVENTS
from ctrag.assistant.imports.found import Found, LeftOut, Owner
from ctrag.assistant.imports.mail.charset import decoded
from stores.people.items import Item

_BEGIN = b"BEGIN:VCALENDAR"
_LONGEST = 2_000_000
_SAID = {
    "CANCEL": "Cancelled",
    "REPLY": "Answer to the invitation",
    "COUNTER": "Other time proposed",
}
_ANSWERS = {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentative"}


def events_of(calendars: Sequence[bytes], owner: Owner) -> Found:
    """Events of the invitations of one mail or of many; the newest of an event counts."""
    invitations = [
        data.strip()
        for data in calendars
        if _BEGIN in data.upper() and _method(data) not in NO_EVENTS
    ]
    if not invitations:
        return Found()
    # Together, so that an older invitation to the same event does not replace a newer one.
    found = _read(b"\r\n".join(invitations) + b"\r\n", owner)
    if found is not None:
        return found
    found = Found()
    for data in invitations:
        one = _read(data, owner)
        if one is None:
            title = _first_event(data).get("SUMMARY") or "an invitation"
            found.left_out.append(LeftOut("event", title[:100], "its calendar cannot be read"))
        else:
            found.items += one.items
            found.left_out += one.left_out
            found.versions += one.versions
    return found


def line_of(data: bytes, owner: Owner) -> str:
    """An invitation as a line of text: `Invitation: Roof check, Wed 2 Dec 2026 08:00–09:00`."""
    fields = _first_event(data)
    title = fields.get("SUMMARY", "")
    known = _read(data[:_LONGEST], owner)
    event = next((one for one in known.items if one.app == "calendar"), None) if known else None
    when = _when(event) if event is not None else _written_time(fields.get("DTSTART", ""))
    if event is not None:
        title = title or event.text("title")
    parts = [title or "(no title)", when, fields.get("LOCATION", "")]
    if answer := _ANSWERS.get(fields.get("PARTSTAT", "")):
        parts.append(answer if _method(data) == "REPLY" else "")
    head = _SAID.get(_method(data), "Invitation")
    line = f"{head}: {', '.join(filter(None, parts))}"
    return "\n".join(filter(None, (line, fields.get("DESCRIPTION", "").strip())))


def _read(data: bytes, owner: Owner) -> Found | None:
    """What the reader of calendars finds; None where it fails."""
    try:
        module = importlib.import_module("ctrag.assistant.imports.calendars")
        found: Found = module.read_calendar(data, owner)
    except Exception:  # a broken invitation costs its event, not the mail that brings it
        return None
    return found


def _method(data: bytes) -> str:
    found = re.search(rb"^METHOD\s*:\s*([A-Za-z]+)", data[:_LONGEST], re.MULTILINE)
    return found[1].decode("ascii").upper() if found else ""


def _first_event(data: bytes) -> dict[str, str]:
    """Fields of the first event, as text; PARTSTAT of its first guest."""
    text = decoded(re.sub(rb"\r?\n[ \t]", b"", data[:_LONGEST]))
    _, _, event = text.partition("BEGIN:VEVENT")
    fields: dict[str, str] = {}
    for line in event.partition("END:VEVENT")[0].splitlines():
        key, _, value = line.partition(":")
        name, _, parameters = key.partition(";")
        fields.setdefault(name.strip().upper(), _unescaped(value))
        if status := re.search(r"PARTSTAT=([A-Za-z-]+)", parameters):
            fields.setdefault("PARTSTAT", status[1].upper())
    return fields


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], text).strip()


def _when(event: Item) -> str:
    start, end = event.time("start"), event.time("end")
    if start is None:
        return ""
    shown = f"{start:%a} {start.day} {start:%b %Y}"
    if end is None or end <= start:
        return f"{shown} {start:%H:%M}"
    if end.date() == start.date():
        return f"{shown} {start:%H:%M}–{end:%H:%M}"
    if (start.time(), end.time()) == (datetime.min.time(), datetime.min.time()):
        return shown
    return f"{shown} {start:%H:%M} – {end:%a} {end.day} {end:%b %Y %H:%M}"


def _written_time(value: str) -> str:
    """The time as the invitation writes it, where no reader of calendars is at hand."""
    found = re.search(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d))?", value)
    if found is None:
        return ""
    try:
        day = datetime(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return ""
    clock = f" {found[4]}:{found[5]}" if found[4] else ""
    return f"{day:%a} {day.day} {day:%b %Y}{clock}"
