"""From paths to people with items: any file or folder that ctrag reads, each by what it holds."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile
from zoneinfo import ZoneInfo

from ctrag.assistant.imports.birthdays import birthdays
from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.calls import read_call_table, read_calls
from ctrag.assistant.imports.card_lines import as_utf8, decoded
from ctrag.assistant.imports.cards import read_contacts
from ctrag.assistant.imports.contact_tables import read_contact_table
from ctrag.assistant.imports.evernote import read_evernote
from ctrag.assistant.imports.found import Found, LeftOut, Owner, Version
from ctrag.assistant.imports.histories import read_activity, read_plays, read_tasks
from ctrag.assistant.imports.json_rows import BrokenJsonError, halves_in, rows, without_halves
from ctrag.assistant.imports.kinds import HEAD, READ, Kind, kind_of, other_way
from ctrag.assistant.imports.mails import MailOptions, mails_in
from ctrag.assistant.imports.merging import merged
from ctrag.assistant.imports.notes import read_keep, read_note
from ctrag.assistant.imports.play_tables import read_play_table
from ctrag.assistant.imports.sources import Source, sources_in
from ctrag.assistant.imports.times import local
from ctrag.assistant.imports.zones import machine_zone
from ctrag.errors import CtragError, InputError, NotFound
from stores.compressed import kept
from stores.people.dataset import PERSONAS, Persona, load_dataset
from stores.people.items import Contact, Item, Person, Profile
from stores.people.local_time import zone_of
from stores.people.people_store import UnknownPerson
from stores.people.stores import Stores

Record = Item | Contact | LeftOut | Version


@dataclass(frozen=True, slots=True)
class Place:
    """How far reading has come."""

    name: str
    """The file."""
    size: int
    """Its bytes."""
    share: float
    """How much of it is read, 0 to 1."""


LARGEST = 256 << 20
"""Bytes of a file that has to be read as a whole; mails and histories may be larger."""


def is_dataset(path: Path) -> bool:
    """Whether a path is a data set folder."""
    return path.is_dir() and kept(path / PERSONAS).is_file()


def dataset_people(folder: Path, person_id: str | None) -> list[Persona]:
    """The people of a data set folder: all, or the one of that id.

    Raises:
        ValueError: The folder breaks a rule, or has nobody of that id.
    """
    personas = list(load_dataset(folder).personas)
    if person_id is None:
        return personas
    chosen = [one for one in personas if one.person.person_id == person_id]
    if not chosen:
        raise UnknownPerson(person_id, [one.person.person_id for one in personas])
    return chosen


def records_in(
    path: Path, owner: Owner, mail: MailOptions | None = None
) -> Iterator[tuple[Place, Record]]:
    """What the files under a path hold, one by one, each with its place.

    A file that cannot be read costs only itself: it is among what was left out.

    Raises:
        FileNotFoundError: There is no such path.
    """
    if not path.exists():
        raise NotFound(2, "no such file or folder", str(path))
    for source in sources_in(path):
        if isinstance(source, LeftOut):
            yield Place(source.what, 0, 1.0), source
            continue
        try:
            for share, record in _records(source, owner, mail):
                yield Place(source.name, source.size, share), _from(record, source)
        except Exception as error:  # whatever a file does to its reader, the others are read
            why = _why(error)
            left = LeftOut("file", source.name, why or "it cannot be read", source.name)
            yield Place(source.name, source.size, 1.0), left


def size_of(path: Path) -> int:
    """Bytes of the files under a path, those in archives unpacked."""
    return sum(one.size for one in sources_in(path) if isinstance(one, Source))


def personas_from(
    source: Path, person_id: str | None, name: str | None, stores: Stores
) -> list[Persona]:
    """The people of a data set folder or a file, for `Stores.import_personas`.

    Args:
        source: A data set folder, or anything that `records_in` reads.
        person_id: Whose items a file holds; for a folder, which of its people (all when None).
        name: Name of a person whom the stores do not know yet.
        stores: Stores that may already know the person.

    Raises:
        ValueError: The source breaks a rule, or the person of a file is not given.
    """
    if is_dataset(source):
        return dataset_people(source, person_id)
    if person_id is None:
        raise InputError("--persona: a file needs the id of the person it belongs to")
    if stores.exists() and person_id in stores.people():
        person = stores.person(person_id)
    else:
        person = new_person(person_id, name, machine_zone().key)
    found = Found()
    for _, record in records_in(source, owner_of(person)):
        if isinstance(record, LeftOut):
            if record.kind == "file" and record.lost:
                raise InputError(f"{source}: {record.why}")
        elif isinstance(record, Contact):
            found.contacts.append(record)
        elif isinstance(record, Item):
            found.items.append(record)
    told = merged(person, replace(person, contacts=tuple(found.contacts)))
    return [Persona(told, once(found.items))]


def once(items: Iterable[Item]) -> tuple[Item, ...]:
    """Each id once, the first: another is a copy."""
    kept_items: dict[str, Item] = {}
    for item in items:
        kept_items.setdefault(item.id, item)
    return tuple(kept_items.values())


def new_person(person_id: str, name: str | None, zone: str) -> Person:
    """Somebody whom the stores do not know yet."""
    now = datetime.now(ZoneInfo(zone)).replace(second=0, microsecond=0, tzinfo=None)
    return Person(person_id, now, Profile(name or person_id, timezone=zone))


def owner_of(person: Person) -> Owner:
    """Whose files are read: in the person's zone, or the machine's where they have none."""
    zone = zone_of(person.profile.timezone) or machine_zone()
    now = datetime.now(zone).replace(second=0, microsecond=0, tzinfo=None)
    name = person.profile.name.casefold()
    mine = [one for one in person.contacts if one.name.casefold() == name]
    addresses = tuple(mail for one in mine for mail in one.all_emails())
    return Owner(person.person_id, zone, now, addresses)


def _why(error: Exception) -> str:
    told = getattr(error, "strerror", None) or str(error)
    known = (CtragError, ValueError, OSError, EOFError, BadZipFile, zlib.error)
    if not isinstance(error, known):
        told = f"internal error: {type(error).__name__}: {told}"
    return " ".join(told.split())[:200]


def _records(
    source: Source, owner: Owner, mail: MailOptions | None
) -> Iterator[tuple[float, Record]]:
    if source.folder is not None:
        for record in mails_in(source.folder, owner, options=mail):
            yield 0.0, record
        return
    with source.open() as file:
        head = file.read(HEAD)
        kind = kind_of(head, source.name)
        if kind == "mail":
            file.seek(0)
            changed = None if source.modified is None else local(source.modified, owner)
            for record in mails_in(file, owner, name=source.name, options=mail, changed=changed):
                yield _share(file, source), record
            return
        found = _found(kind, head, file, source, owner)
    records: list[Record] = [*found.records(), *birthdays(tuple(found.contacts), owner)]
    for number, one in enumerate(records, start=1):
        yield number / len(records), one


def _share(file: BinaryIO, source: Source) -> float:
    try:
        return min(1.0, file.tell() / max(1, source.size))
    except (OSError, ValueError):  # closed, or none that tells
        return 0.0


def _found(kind: Kind | None, head: bytes, file: BinaryIO, source: Source, owner: Owner) -> Found:
    if kind is None or other_way(head, source.name):
        return Found(left_out=[_unread(source, head)])
    if kind == "archive":
        why = "an archive too deep inside of others, or too large: unpack it and import the folder"
        return Found(left_out=[LeftOut("file", source.name, why)])
    if kind in ("music", "activity"):
        file.seek(0)
        return _history(kind, file, owner)
    if source.size > LARGEST:
        return Found(left_out=[LeftOut("file", source.name, f"larger than {LARGEST >> 20} MB")])
    return _read(kind, head + file.read(), source, owner)


def _read(kind: Kind, data: bytes, source: Source, owner: Owner) -> Found:
    match kind:
        case "calendar":
            return read_calendar(data, owner)
        case "contacts":
            return read_contacts(data, owner)
        case "contact table":
            return read_contact_table(data, owner)
        case "calls":
            return read_calls(data, owner)
        case "call table":
            return read_call_table(data, owner)
        case "music table":
            return read_play_table(data, owner)
        case "keep":
            return read_keep(_object(data), source.name, owner)
        case "evernote":
            return read_evernote(data, owner)
        case "tasks":
            return read_tasks(_object(data), owner)
        case _:
            modified = None if source.modified is None else local(source.modified, owner)
            return read_note(data, source.name, modified, owner)


def _history(kind: Kind, file: BinaryIO, owner: Owner) -> Found:
    broken: list[str] = []

    def entries() -> Iterator[dict[str, object]]:
        try:
            yield from map(dict, rows(file))
        except BrokenJsonError as error:
            broken.append(str(error))

    found = (read_plays if kind == "music" else read_activity)(entries(), owner)
    lost = "song" if kind == "music" else "search"
    for why in broken:
        found.left_out.append(LeftOut(lost, "the rest of the file", why))
    return found


def _object(data: bytes) -> dict[str, object]:
    import json

    text = decoded(as_utf8(data))
    try:
        read = json.loads(text)
    except RecursionError:
        raise InputError("it is nested too deep") from None
    if halves_in(text):
        read = without_halves(read)
    if not isinstance(read, dict):
        raise InputError("it is no JSON object")
    return read


def _unread(source: Source, head: bytes) -> LeftOut:
    if way := other_way(head, source.name):
        return LeftOut("file", source.name, way)
    if source.size == 0:
        return LeftOut("file", source.name, "it is empty", lost=source.named)
    return LeftOut("file", source.name, f"no file that ctrag reads ({READ})", lost=source.named)


def _from(record: Record, source: Source) -> Record:
    if isinstance(record, LeftOut) and not record.source:
        return replace(record, source=source.name)
    return record
