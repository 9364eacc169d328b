"""What a file is, told by its content; its name decides where two kinds look alike."""

import re
from pathlib import PurePosixPath
from typing import Literal

from ctrag.assistant.imports.calls import is_calls
from ctrag.assistant.imports.card_lines import as_utf8
from ctrag.assistant.imports.contact_tables import is_contacts
from ctrag.assistant.imports.mail.boxes import NOTES
from ctrag.assistant.imports.mails import mail_file
from ctrag.assistant.imports.play_tables import is_bare_plays, is_plays
from ctrag.assistant.imports.tables import headings, holds_secrets

Kind = Literal[
    "archive",
    "calendar",
    "contacts",
    "contact table",
    "mail",
    "calls",
    "call table",
    "note",
    "keep",
    "evernote",
    "tasks",
    "activity",
    "music",
    "music table",
]
HEAD = 1 << 16
"""Bytes of a file by which its kind is told."""
READ = "calendars, address books, mails, notes, call logs, searches and music histories"

_OTHER_WAYS = {
    b"!BDN": "Outlook's data file: export mails, calendar and contacts from Outlook, or turn it "
    "into mailboxes with `readpst -D -o FOLDER FILE` (libpst), and import the folder",
    b"SQLite format 3\0": "a database of an application: export from the application, and import "
    "what it writes",
    b"\xcf\xad\x12\xfe": "Outlook Express's folder: open it in Thunderbird with the add-on "
    "ImportExportTools NG, export the folder as mbox, and import that",
}
_BY_NAME = {
    (
        b"\xd0\xcf\x11\xe0",
        ".msg",
    ): "a mail as Outlook saves it: open it in Outlook or Thunderbird and "
    "save it as .eml, or turn it into one with `msgconvert FILE` (Email::Outlook::Message)",
    (b"// <!-- <mdb:mork", ".mab"): "Thunderbird's old address book: export it there as vCard",
    (b"", ".ldif"): "an address book as LDIF: export it as vCard or CSV instead",
    (b"", ".wab"): "Windows' address book: export it there as CSV or vCard",
}
"""(first bytes, ending) of files whose bytes alone say too little."""
_OLM = (
    "Outlook for Mac's archive: drag the mail folders out of Outlook (each becomes an .mbox), "
    "export calendars as .ics and contacts as .vcf, and import those"
)
_PACKED = {
    b"\x1f\x8b": (".gz", ".tgz"),
    b"BZh": (".bz2", ".tbz", ".tbz2"),
    b"\xfd7zXZ\0": (".xz", ".txz"),
    b"\x28\xb5\x2f\xfd": (".zst",),
    b"7z\xbc\xaf\x27\x1c": (".7z",),
    b"Rar!\x1a\x07": (".rar",),
}
"""First bytes of archives that are not zip, and their endings."""
_UNPACK = (
    "an archive that is not zip: unpack it (`tar xf FILE` for .tgz) and import the folder, or "
    "order Takeout as .zip"
)
_SECRETS = "a list of passwords: these are never stored"
_PAGES = "activity as a page to look at: order it from Takeout again, as JSON (Multiple formats)"
_MESSAGES = "text messages: no application here keeps them; docs/own-app.md says how to add one"
_BEGIN = re.compile(
    rb"(?:\A|[\r\n])[ \t]*BEGIN[ \t]*:[ \t]*"
    rb"(VCALENDAR|VEVENT|VTODO|VJOURNAL|VCARD)[ \t]*(?:[\r\n]|\Z)",
    re.I,
)
_NO_NOTES = {"labels.txt", "readme.txt", "license.txt", "licence.txt", "copying.txt"}
"""Texts beside other files: Google Keep's list of labels, what programs say of themselves."""
_CHAT = re.compile(
    rb"(?:\xe2\x80\x8e)?\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}[:.]\d\d[^\]\n]{0,12}(?:\]| -) "
)
"""Begins the lines of WhatsApp's exported chats."""
_FRONT = re.compile(rb"\A---[ \t]*\r?\n(?:[^\n]*\n){0,60}?---[ \t]*\r?\n")


def other_way(head: bytes, name: str) -> str | None:
    """What to do with a file that is known and not read; None for any other."""
    if name.casefold().endswith(".olm"):
        return _OLM
    if re.match(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?(?:<\?[^>]*>\s*)*<smses\b", head, re.S):
        return _MESSAGES
    if b'class="mdl-grid"' in head or b'class="outer-cell' in head:
        return _PAGES
    suffix = PurePosixPath(name.casefold()).suffix
    if suffix == ".txt" and _CHAT.match(as_utf8(head)):
        return _MESSAGES
    if suffix == ".tar" or any(
        head.startswith(begin) and suffix in endings for begin, endings in _PACKED.items()
    ):
        return _UNPACK
    text = b"" if suffix in NOTES else as_utf8(head)
    if b"\0" not in text[:4096] and holds_secrets(headings(text)):
        return _SECRETS
    for (begin, ending), why in _BY_NAME.items():
        if head.startswith(begin) and name.casefold().endswith(ending):
            return why
    return next((why for begin, why in _OTHER_WAYS.items() if head.startswith(begin)), None)


def kind_of(head: bytes, name: str) -> Kind | None:
    """The kind of a file; None where ctrag does not read it.

    Args:
        head: Its first `HEAD` bytes.
        name: Its path.
    """
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        inside = head[:200]
        return None if b"mimetype" in inside or b"[Content_Types]" in inside else "archive"
    if mail_file(head, name) is not None:
        return "mail"
    text = as_utf8(head)
    begun = _BEGIN.search(text)
    suffix = PurePosixPath(name.casefold()).suffix
    if suffix in NOTES and not (begun and not text[: begun.start()].strip()):
        return "note"  # which may quote anything, and begin with a link or a picture
    if b"\0" in text[: begun.start() if begun else 4096]:
        return None
    if begun:
        return "contacts" if begun[1].upper() == b"VCARD" else "calendar"
    kind = _by_content(head, text)
    if kind is None and suffix == ".txt" and text.strip():
        return None if PurePosixPath(name.casefold()).name in _NO_NOTES else "note"
    return kind


def _by_content(head: bytes, text: bytes) -> Kind | None:
    """The kind of what is neither a mail, a calendar nor a card."""
    start = text.lstrip()
    if start[:1] in (b"[", b"{"):
        return _json(start)
    if start.startswith(b"<"):
        if b"<en-export" in start[:4096]:
            return "evernote"
        return "calls" if b"<calls" in start[:4096] else None
    if _FRONT.match(text):
        return "note"
    columns = headings(head)
    if holds_secrets(columns):
        return None
    if is_calls(columns):
        return "call table"
    if is_plays(columns) or is_bare_plays(head):
        return "music table"
    return "contact table" if is_contacts(columns) else None


def _json(start: bytes) -> Kind | None:
    if b'"track_metadata"' in start and b'"listened_at"' in start:
        return "music"
    if start.startswith(b"{"):
        if b"tasks#taskLists" in start[:4096]:
            return "tasks"
        return "keep" if b'"isTrashed"' in start or b'"userEditedTimestampUsec"' in start else None
    if re.search(rb'"(?:trackName|master_metadata_track_name|episode_name)"', start):
        return "music"
    return "activity" if b'"header"' in start and b'"time"' in start else None
