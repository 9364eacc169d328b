"""Where mail programs keep mails: files of many, files of one, and folders of both."""

import os
import plistlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal
from xml.parsers.expat import ExpatError

from ctrag.assistant.imports.found import LeftOut, Owner
from ctrag.assistant.imports.mail.charset import clean
from ctrag.assistant.imports.mail.mbox import (
    MMDF,
    RawMail,
    is_separator,
    messages,
    mmdf_messages,
    one_message,
)
from ctrag.assistant.imports.mail.parts import with_plain_line_ends
from ctrag.assistant.imports.mail.proton import of_file_beside
from ctrag.assistant.imports.mail.state import MailState, of_emlx, of_folder, of_maildir

MailFile = Literal["mbox", "mmdf", "eml", "emlx"]
_HEAD = 8_000
_LONGEST_LIST = 1_000_000
_LENGTH = re.compile(rb"(?:\xef\xbb\xbf)?\s*(\d{1,12})[ \t]*\r?\n")
_HEADER = re.compile(rb"^([A-Za-z][A-Za-z0-9-]{1,60})[ \t]*:", re.MULTILINE)
_OF_MAILS = {
    *(b"from", b"to", b"subject", b"date", b"received", b"message-id", b"return-path"),
    *(b"mime-version", b"delivered-to", b"sender", b"reply-to", b"cc", b"content-type"),
}
_SENT_BY = {b"received", b"message-id", b"return-path", b"mime-version", b"delivered-to"}
"""Headers that programs write and people do not."""
NOTES = {".md", ".markdown", ".mdown", ".mkd"}
"""Endings of notes."""
_ENDINGS = re.compile(r"\.(mbox|mbx|sbd|eml|emlx|txt|imapmbox|mail)$", re.IGNORECASE)
_MAILDIR_TIME = re.compile(r"(\d{9,10})[.,]")


@dataclass(frozen=True, slots=True)
class Kept:
    """One message where it was found."""

    raw: RawMail
    state: MailState
    """What its file and folders say of it."""
    place: str
    """To name it by."""
    source: str
    """Name of its file."""
    kept: datetime | None = None
    """The time of its file, on the person's clock."""
    one_of_many: bool = False
    """Whether the file holds others, so that its time says little of this one."""


def mail_file(head: bytes, name: str = "") -> MailFile | None:
    """What kind of file of mails it is, by its first bytes; None for another.

    Args:
        head: The first bytes of the file, a few thousand.
        name: Its name, which decides between a text and a mail where the bytes do not.
    """
    begin = with_plain_line_ends(head[:_HEAD]).removeprefix(b"\xef\xbb\xbf").lstrip(b"\n")
    first, _, rest = begin.partition(b"\n")
    ending = PurePosixPath(name.casefold()).suffix
    if first == MMDF:
        return "mmdf"
    if first.startswith(b"From ") and (is_separator(first + b"\n") or _HEADER.match(rest)):
        return "mbox"
    if re.fullmatch(rb"\d{1,12}[ \t]*", first) and (ending == ".emlx" or _is_mail(rest)):
        return "emlx" if _HEADER.match(rest) else None
    if _is_note(begin, ending):
        return None
    if _is_mail(begin) or (ending == ".eml" and _HEADER.match(begin)):
        return "eml"
    return None


def kept_mails(path: Path, owner: Owner) -> Iterator[Kept | LeftOut]:
    """All messages of a file, or of a folder and the folders in it."""
    if not path.is_dir():
        yield from _of_path(path, clean(path.name), (path.name,), owner)
        return
    for folder, folders, names in os.walk(path):
        here = Path(folder)
        folders.sort()
        inside = (path.name, *here.relative_to(path).parts)
        if "cur" in folders and ("new" in folders or "tmp" in folders):
            folders[:] = [one for one in folders if one not in ("cur", "new", "tmp")]
            yield from _of_maildir(here, inside, owner)
        for name in sorted(names):
            file = here / name
            if not name.startswith(".") and file.is_file() and not file.is_symlink():
                shown = clean(str(file.relative_to(path)))
                yield from _of_path(file, shown, (*inside, name), owner, sought=False)


def mails_of_file(
    file: BinaryIO, name: str, changed: datetime | None = None
) -> Iterator[Kept | LeftOut]:
    """All messages of an open file; `name` is its path, for its kind and its folder, `changed` its
    time on the person's clock."""
    head = file.read(_HEAD)
    file.seek(0)
    kind = mail_file(head, name)
    yield from _of_file(file, kind, name, tuple(PurePosixPath(name).parts), changed)


def _of_path(
    path: Path, shown: str, inside: tuple[str, ...], owner: Owner, sought: bool = True
) -> Iterator[Kept | LeftOut]:
    """The messages of one file; what is no file of mails is passed over unless it was sought."""
    try:
        with path.open("rb") as file:
            kind = mail_file(file.read(_HEAD), path.name)
            if kind is None and not sought:
                return
            file.seek(0)
            changed = _local(path.stat().st_mtime, owner)
            yield from _of_file(file, kind, shown, inside, changed)
    except OSError as error:
        yield LeftOut("file", shown, f"cannot be read: {error.strerror}", shown)


def _of_file(
    file: BinaryIO,
    kind: MailFile | None,
    shown: str,
    inside: tuple[str, ...],
    changed: datetime | None,
) -> Iterator[Kept | LeftOut]:
    # A mail that was dragged out has its subject for a name: only folders and mailboxes say more.
    state = of_folder(_plain(inside if kind in ("mbox", "mmdf") else inside[:-1]))
    if kind is None:
        if file.read(1):
            yield LeftOut("file", shown, "it holds no mails", shown)
    elif kind == "eml":
        yield Kept(one_message(file), of_file_beside(file).over(state), shown, shown, changed)
    elif kind == "emlx":
        yield _emlx(file, state, shown, changed)
    else:
        # Of a mailbox that says nothing of what was read, all is new; Apple's export never does.
        new = MailState(unread=not any(part.endswith(".mbox") for part in inside[:-1]))
        read = mmdf_messages if kind == "mmdf" else messages
        number = 0
        for number, raw in enumerate(read(file), 1):
            yield Kept(raw, state.over(new), f"mail {number}", shown, changed, one_of_many=True)
        if not number:
            yield LeftOut("file", shown, "no mail in it can be told from the others", shown)


def _of_maildir(folder: Path, inside: tuple[str, ...], owner: Owner) -> Iterator[Kept | LeftOut]:
    state = of_folder(_plain(inside))
    for part in ("cur", "new"):
        for path in sorted((folder / part).glob("*")):
            if path.name.startswith(".") or not path.is_file():
                continue
            shown = clean(f"{folder.name}/{part}/{path.name}")
            stamp = _MAILDIR_TIME.match(path.name)
            try:
                when = float(stamp[1]) if stamp else path.stat().st_mtime
                with path.open("rb") as file:
                    raw = one_message(file)
            except OSError as error:
                yield LeftOut("mail", shown, f"cannot be read: {error.strerror}", shown)
                continue
            known = of_maildir(path.name, fresh=part == "new").over(state)
            yield Kept(raw, known, shown, shown, _local(when, owner))


def _emlx(file: BinaryIO, state: MailState, shown: str, changed: datetime | None) -> Kept:
    """A file of Apple Mail: the message's length, the message, and a list of properties."""
    data = file.read()
    begin = _LENGTH.match(data)
    length = int(begin[1]) if begin else len(data)
    start = begin.end() if begin else 0
    raw = one_message(BytesIO(data[start : start + length]))
    try:
        properties = plistlib.loads(data[start + length :][:_LONGEST_LIST].strip())
    except (ValueError, ExpatError, plistlib.InvalidFileException):
        properties = {}
    flags = properties.get("flags") if isinstance(properties, dict) else None
    known = of_emlx(flags) if isinstance(flags, int) else MailState()
    return Kept(raw, known.over(state), shown, shown, changed)


def _is_mail(text: bytes) -> bool:
    """Whether a text begins with headers, two of which only mails have."""
    if not _HEADER.match(text):
        return False
    return len(_names(text) & _OF_MAILS) >= 2


def _is_note(text: bytes, ending: str) -> bool:
    """Whether a text begins with its subject and date as a mail does, and nobody sent it."""
    written = {*_SENT_BY, *(() if ending in NOTES else (b"from", b"sender"))}
    return ending in (*NOTES, ".txt") and not written & _names(text)


def _names(text: bytes) -> set[bytes]:
    """The names of the headers that a text begins with, in small letters."""
    return {name.lower() for name in _HEADER.findall(text.partition(b"\n\n")[0])}


def _plain(parts: tuple[str, ...]) -> list[str]:
    return [_ENDINGS.sub("", part) for part in parts]


def _local(seconds: float, owner: Owner) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).astimezone(owner.zone).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None
