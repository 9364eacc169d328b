"""A user's own files as items: calendars (.ics), mailboxes (.mbox), address books (.vcf)."""

import mailbox
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime
from hashlib import sha256
from pathlib import Path

from ctrag.assistant.imports.found import Owner
from ctrag.errors import InputError, NotFound
from stores.people.dataset import Persona, load_dataset
from stores.people.items import Contact, Item, Person, Profile
from stores.people.local_time import now_in, zone_of
from stores.people.people_store import UnknownPerson
from stores.people.stores import Stores

_LONGEST_BODY = 4000


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
    if source.is_dir():
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
        return [Persona(person, _events(source, person))]
    if kind == ".mbox":
        return [Persona(person, _once(_mails(source, person_id)))]
    raise InputError(f"{source}: must be a data set folder or an .ics, .mbox or .vcf file")


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


def _events(path: Path, person: Person) -> tuple[Item, ...]:
    from ctrag.assistant.imports.calendars import read_calendar
    from ctrag.assistant.imports.zones import machine_zone

    zone = zone_of(person.profile.timezone) or machine_zone()
    now = now_in(person.profile.timezone)
    try:
        return tuple(read_calendar(path.read_bytes(), Owner(person.person_id, zone, now)).items)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _local(moment: object) -> datetime:
    if isinstance(moment, datetime):
        local = moment if moment.tzinfo is None else moment.astimezone().replace(tzinfo=None)
    elif isinstance(moment, date):
        local = datetime.combine(moment, time())
    else:
        raise InputError(f"{moment!r} is not a time")
    return local.replace(second=0, microsecond=0)


def _mails(path: Path, person_id: str) -> Iterator[Item]:
    box = mailbox.mbox(str(path), create=False)
    try:
        if not len(box) and path.stat().st_size:
            raise InputError(f"{path}: not a mailbox: no line begins with 'From '")
        for message in box:
            received = _received(message)
            if received is None:
                continue
            name, address = parseaddr(_header(message, "From"))
            uid = message.get("Message-ID") or f"{received}{_header(message, 'Subject')}"
            yield Item(
                id=_id(person_id, "mail", str(uid)),
                app="mail",
                fields={
                    "sender": name or address or "unknown",
                    "subject": _header(message, "Subject") or "(no subject)",
                    "body": _body(message)[:_LONGEST_BODY],
                    "received_at": received,
                    "unread": "R" not in message.get_flags(),
                    "flagged": "F" in message.get_flags(),
                },
            )
    finally:
        box.close()


def _received(message: Message) -> datetime | None:
    try:
        return _local(parsedate_to_datetime(str(message["Date"])))
    except (TypeError, ValueError, OverflowError):
        return None


def _header(message: Message, name: str) -> str:
    raw = str(message.get(name, ""))
    try:
        text = str(make_header(decode_header(raw)))
    except (LookupError, ValueError, MessageError):  # an unknown charset, or not in that charset
        text = raw
    return " ".join(text.split())


def _body(message: Message) -> str:
    for part in message.walk():
        if part.get_content_type() == "text/plain" and not part.get_filename():
            payload = part.get_payload(decode=True)
            if isinstance(payload, bytes):
                charset = part.get_content_charset() or "utf-8"
                try:
                    return payload.decode(charset, errors="replace").strip()
                except LookupError:
                    return payload.decode("utf-8", errors="replace").strip()
    return ""


def _id(person_id: str, app: str, uid: str) -> str:
    return f"{person_id}-{app}-{sha256(uid.encode()).hexdigest()[:10]}"
