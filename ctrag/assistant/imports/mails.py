"""A person's mails: one message, or all in a file or folder, as any mail program keeps them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from ctrag.assistant.imports.found import Found, LeftOut, Owner, Version
from ctrag.assistant.imports.mail.boxes import MailFile, kept_mails, mail_file, mails_of_file
from ctrag.assistant.imports.mail.invitations import events_of
from ctrag.assistant.imports.mail.mbox import RawMail
from ctrag.assistant.imports.mail.message import read_one
from ctrag.assistant.imports.mail.options import MailOptions
from ctrag.assistant.imports.mail.state import MailState, of_flags, of_folder
from stores.people.items import Item

__all__ = [
    "MailFile",
    "MailOptions",
    "MailState",
    "mail_file",
    "mails_in",
    "of_flags",
    "of_folder",
    "read_mail",
]


def read_mail(
    message: bytes,
    owner: Owner,
    *,
    options: MailOptions | None = None,
    state: MailState | None = None,
    kept: datetime | None = None,
) -> Found:
    """One message as a mail, and the events that it invites to.

    Args:
        message: The message as it was sent.
        owner: Whose it is.
        options: Which kinds of mail are wanted and how much of each; None for the defaults.
        state: What is known of it besides: `of_flags` of a server, `of_folder` of its folders.
        kept: When it was received, on the person's clock, in case it does not say.
    """
    read = read_one(
        RawMail(message), owner, options or MailOptions(), state or MailState(), kept=kept
    )
    found = Found([read.item] if read.item else [], left_out=read.left_out)
    return _with_events(found, read.calendars, owner)


def mails_in(
    source: Path | BinaryIO,
    owner: Owner,
    *,
    name: str = "",
    options: MailOptions | None = None,
    changed: datetime | None = None,
) -> Iterator[Item | LeftOut | Version]:
    """The mails in a file or folder one by one, then the events that they invite to.

    A file may be an mbox of any name, an .eml or an .emlx; a folder may be a Maildir, one of
    Apple Mail or Thunderbird, or hold any of these. Copies of a mail are given once. Mails are
    read as they are asked for: memory does not grow with the file.

    Args:
        source: The file's or folder's path, or a file open for reading bytes.
        owner: Whose mails they are.
        name: The file's path in its archive, where `source` is an open file: says its kind
            and the folder that its mails were in.
        options: Which kinds of mail are wanted and how much of each; None for the defaults.
        changed: The open file's time on the person's clock, for mails that say none.
    """
    options = options or MailOptions()
    before: datetime | None = None  # when the mail before it was received
    seen: set[str] = set()
    calendars: dict[bytes, None] = {}
    if isinstance(source, Path):
        found = kept_mails(source, owner)
    else:
        found = mails_of_file(source, name, changed)
    for one in found:
        if isinstance(one, LeftOut):
            yield one
            continue
        last = before if one.one_of_many else None
        read = read_one(one.raw, owner, options, one.state, one.place, one.kept, last)
        if read.item is not None and read.item.id in seen:
            continue
        for left in read.left_out:
            yield replace(left, source=one.source)
        if read.item is not None:
            before = _received(read.item)
            seen.add(read.item.id)
            yield read.item
        calendars.update(dict.fromkeys(read.calendars))
    events = _with_events(Found(), list(calendars), owner)
    yield from events.left_out
    yield from events.versions
    yield from events.items


def _received(item: Item) -> datetime | None:
    at = item.fields["received_at"]
    return at if isinstance(at, datetime) else None


def _with_events(found: Found, calendars: list[bytes], owner: Owner) -> Found:
    if calendars:
        events = events_of(calendars, owner)
        found.items += events.items
        found.left_out += events.left_out
        found.versions += events.versions
    return found
