"""Mailboxes as items."""

import mailbox
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime
from pathlib import Path
from typing import BinaryIO, Literal

from ctrag.assistant.imports.calendars import _local
from ctrag.assistant.imports.found import LeftOut, Owner, item_id
from ctrag.errors import InputError
from stores.people.items import Item

_LONGEST_BODY = 4000
MailFile = Literal["mbox", "eml", "emlx"]


@dataclass(frozen=True, slots=True)
class MailOptions:
    """What a person may choose when mails are read."""

    also: frozenset[str] = frozenset()


def mail_file(head: bytes, name: str = "") -> MailFile | None:
    """What kind of file of mails it is."""
    return "mbox" if re.match(rb"\s*From .*\r?\n[\w-]+:", head) else None


def mails_in(
    source: Path | BinaryIO, owner: Owner, *, name: str = "", options: MailOptions | None = None
) -> Iterator[Item | LeftOut]:
    """The mails in a file."""
    if isinstance(source, Path):
        yield from _mails(source, owner.person_id)
        return
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(source.read())
        copy.flush()
        yield from _mails(Path(copy.name), owner.person_id)


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
                id=item_id(person_id, "mail", str(uid)),
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
