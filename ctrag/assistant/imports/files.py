"""A user's own files as items: calendars (.ics), mailboxes (.mbox), address books (.vcf)."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from ctrag.assistant.imports.found import Owner
from ctrag.assistant.imports.mails import mail_file, mails_in
from ctrag.errors import InputError, NotFound
from stores.compressed import kept
from stores.people.dataset import PERSONAS, Persona, load_dataset
from stores.people.items import Contact, Item, Person, Profile
from stores.people.people_store import UnknownPerson
from stores.people.stores import Stores


def personas_from(
    source: Path, person_id: str | None, name: str | None, stores: Stores
) -> list[Persona]:
    """The people of a data set folder or a file, for `Stores.import_personas`.

    Args:
        source: A data set folder, or an .ics, .mbox or .vcf file.
        person_id: Whose items a file holds; for a folder, which of its people (all when None).
        name: Name of a person whom the stores do not know yet.
        stores: Stores that may already know the person.

    Raises:
        ValueError: The source breaks a rule, or the person of a file is not given.
    """
    if source.is_dir() and kept(source / PERSONAS).exists():
        personas = list(load_dataset(source).personas)
        if person_id is None:
            return personas
        chosen = [one for one in personas if one.person.person_id == person_id]
        if not chosen:
            raise UnknownPerson(person_id, [one.person.person_id for one in personas])
        return chosen
    if not source.exists():
        raise NotFound(2, "no such file or folder", str(source))
    if person_id is None:
        raise InputError("--persona: a file needs the id of the person it belongs to")
    person = _person(person_id, name, stores)
    kind = source.suffix.lower()
    if kind == ".vcf":
        return [Persona(_with_contacts(person, _contacts(source)), ())]
    if kind == ".ics":
        return [Persona(person, _once(_events(source, person_id)))]
    if kind == ".mbox" or source.is_dir() or _holds_mails(source):
        return [Persona(person, _once(_mails(source, person)))]
    raise InputError(f"{source}: must be a data set folder or an .ics, .mbox or .vcf file")


def _holds_mails(path: Path) -> bool:
    with path.open("rb") as file:
        return mail_file(file.read(8_000), path.name) is not None


def _person(person_id: str, name: str | None, stores: Stores) -> Person:
    if stores.exists() and person_id in stores.people():
        return stores.person(person_id)
    now = datetime.now().replace(second=0, microsecond=0)
    return Person(person_id, now, Profile(name or person_id))


def _once(items: Iterator[Item]) -> tuple[Item, ...]:
    """Each id once, the last wins: mailboxes contain copies, calendars revisions."""
    return tuple({item.id: item for item in items}.values())


def _with_contacts(person: Person, found: list[Contact]) -> Person:
    new = {contact.name.casefold(): contact for contact in found}
    kept = [one for one in person.contacts if one.name.casefold() not in new]
    return replace(person, contacts=(*kept, *found))


def _contacts(path: Path) -> list[Contact]:
    import vobject

    contacts = []
    try:
        for card in vobject.readComponents(path.read_text(encoding="utf-8-sig")):
            name = str(card.fn.value).strip() if hasattr(card, "fn") else ""
            if not name:
                continue
            contacts.append(
                Contact(
                    name=name,
                    relation=str(card.role.value) if hasattr(card, "role") else "",
                    phone=str(card.tel.value) if hasattr(card, "tel") else None,
                    email=str(card.email.value) if hasattr(card, "email") else None,
                )
            )
    except (vobject.base.VObjectError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a vCard file: {error}") from None
    return contacts


def _events(path: Path, person_id: str) -> Iterator[Item]:
    from icalendar import Calendar

    try:
        calendars = Calendar.from_ical(path.read_bytes(), multiple=True)
    except ValueError as error:
        raise InputError(f"{path}: not an iCalendar file: {error}") from None
    if not calendars:
        raise InputError(f"{path}: not an iCalendar file: it holds no calendar")
    for event in (one for calendar in calendars for one in calendar.walk("VEVENT")):
        title = str(event.get("SUMMARY", "")).strip()
        try:
            start, end = _span(event)
        except (KeyError, ValueError, OverflowError):
            continue  # without a time it cannot be shown on a day
        if not title:
            continue
        listed = event.get("ATTENDEE", [])
        attendees = listed if isinstance(listed, list) else [listed]
        again = event["RECURRENCE-ID"].to_ical().decode() if "RECURRENCE-ID" in event else ""
        uid = f"{event.get('UID', '')}{again}" or f"{start}{title}"
        yield Item(
            id=_id(person_id, "calendar", uid),
            app="calendar",
            fields={
                "title": title,
                "start": start,
                "end": end,
                "location": str(event["LOCATION"]) if event.get("LOCATION") else None,
                "attendees": tuple(_attendee(one) for one in attendees),
                "notes": str(event["DESCRIPTION"]) if event.get("DESCRIPTION") else None,
            },
        )


def _attendee(value: object) -> str:
    parameters = getattr(value, "params", {})
    address = str(value)
    bare = address[7:] if address.casefold().startswith("mailto:") else address
    return str(parameters.get("CN") or bare)


def _span(event: Any) -> tuple[datetime, datetime]:
    """Start and end; without an end a day lasts a day and a meeting an hour."""
    began = event.decoded("DTSTART")
    start = _local(began)
    if "DTEND" in event:
        return start, max(start, _local(event.decoded("DTEND")))
    length = event.decoded("DURATION") if "DURATION" in event else None
    if not isinstance(length, timedelta):
        length = timedelta(hours=1) if isinstance(began, datetime) else timedelta(days=1)
    return start, start + length


def _local(moment: object) -> datetime:
    if isinstance(moment, datetime):
        local = moment if moment.tzinfo is None else moment.astimezone().replace(tzinfo=None)
    elif isinstance(moment, date):
        local = datetime.combine(moment, time())
    else:
        raise InputError(f"{moment!r} is not a time")
    return local.replace(second=0, microsecond=0)


def _mails(path: Path, person: Person) -> Iterator[Item]:
    owner = Owner(
        person.person_id,
        _zone(person),
        datetime.now().replace(microsecond=0),
        tuple(
            one.email for one in person.contacts if one.email and one.name == person.profile.name
        ),
    )
    found = False
    for one in mails_in(path, owner):
        found = True
        if isinstance(one, Item):
            yield one
        elif one.kind == "file":
            raise InputError(f"{path}: not a mailbox: {one.why}")
    if not found and path.is_dir():
        raise InputError(f"{path}: neither a data set folder nor one of mails")


def _zone(person: Person) -> ZoneInfo:
    """The person's zone, else the machine's."""
    place = Path("/etc/localtime").resolve().as_posix().partition("zoneinfo/")[2]
    for name in (person.profile.timezone, os.environ.get("TZ"), place):
        try:
            return ZoneInfo(name or "")
        except (ValueError, OSError, KeyError):
            continue
    return ZoneInfo("UTC")


def _id(person_id: str, app: str, uid: str) -> str:
    return f"{person_id}-{app}-{sha256(uid.encode()).hexdigest()[:10]}"
