"""Whether a mail is unread, flagged, sent, or of a kind that is left out unless asked for: as its
headers, its folder, and the name or extras of its file say."""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

from ctrag.assistant.imports.mail.folder_names import folded, spellings
from ctrag.assistant.imports.mail.headers import Headers, decoded_words, one_line

LeavableKind = Literal["spam", "deleted", "drafts", "chats"]
LEAVABLE: tuple[LeavableKind, ...] = ("spam", "deleted", "drafts", "chats")
"""Kinds of mail that are left out unless asked for."""

_MOZILLA_READ, _MOZILLA_FLAGGED, _MOZILLA_EXPUNGED = 0x0001, 0x0004, 0x0008
_MOZILLA2_IMAP_DELETED = 0x0020_0000
_EMLX_READ, _EMLX_DELETED, _EMLX_FLAGGED, _EMLX_DRAFT, _EMLX_JUNK = (
    1 << bit for bit in (0, 1, 4, 6, 24)
)
_JUNK_KEYWORDS = {"junk", "$junk", "spam", "\\junk"}
_MOST_LABELS = 10_000
_ONLY_FOLDERS = "folders of "
"""Before the kind of names that say something of folders only."""


@dataclass(frozen=True, slots=True)
class MailState:
    """What is known about a mail besides what it says."""

    unread: bool | None = None
    """None where nothing says."""
    flagged: bool | None = None
    sent: bool = False
    """Whether the person wrote it."""
    kinds: frozenset[LeavableKind] = frozenset()

    def over(self, other: "MailState") -> "MailState":
        """This state, and what `other` says where this one says nothing."""
        return MailState(
            other.unread if self.unread is None else self.unread,
            other.flagged if self.flagged is None else self.flagged,
            self.sent or other.sent,
            self.kinds | other.kinds,
        )


def of_headers(headers: Headers) -> MailState:
    """What mail programs wrote into the headers."""
    state = MailState()
    for read in (_labels, _mozilla, _status, _marks):
        state = state.over(read(headers))
    return state


def of_folder(path: Iterable[str]) -> MailState:
    """What the names of the folders that a mail is in say: `Sent`, `[Gmail]/Papierkorb`."""
    state = MailState()
    for part in path:
        for name in re.split(r"[./\\]", part):
            kinds = _kinds(spellings(name), folders=True) - {"read", "unread", "flagged"}
            state = state.over(_state_of(kinds))
    return state


def of_flags(flags: Iterable[str]) -> MailState:
    """What IMAP flags and keywords say: `\\Seen`, `\\Flagged`, `$Junk`.

    Args:
        flags: All flags of the mail; without `\\Seen` it is unread.
    """
    known = {one.casefold() for one in flags}
    kinds: set[LeavableKind] = set()
    if "\\deleted" in known:
        kinds.add("deleted")
    if "\\draft" in known:
        kinds.add("drafts")
    if known & _JUNK_KEYWORDS:
        kinds.add("spam")
    return MailState("\\seen" not in known, "\\flagged" in known, kinds=frozenset(kinds))


def of_maildir(name: str, fresh: bool) -> MailState:
    """What the name of a file in a Maildir says: `1795421700.M1.host:2,FS`.

    Args:
        name: The file's name.
        fresh: Whether it is in `new`, where nobody has seen it.
    """
    found = re.search(r"[:;!_-]2,([A-Za-z]*)$", name)
    letters = found[1] if found else ""
    names = {"S": "\\Seen", "F": "\\Flagged", "T": "\\Deleted", "D": "\\Draft"}
    state = of_flags(names[one] for one in letters if one in names)
    return replace(state, unread=True) if fresh else state


def of_emlx(flags: int) -> MailState:
    """What Apple Mail's number of flags says."""
    kinds: set[LeavableKind] = set()
    if flags & _EMLX_DELETED:
        kinds.add("deleted")
    if flags & _EMLX_DRAFT:
        kinds.add("drafts")
    if flags & _EMLX_JUNK:
        kinds.add("spam")
    return MailState(not flags & _EMLX_READ, bool(flags & _EMLX_FLAGGED), kinds=frozenset(kinds))


def _labels(headers: Headers) -> MailState:
    """Gmail's labels, as its export writes them: encoded, in the person's language."""
    values = headers.all("x-gmail-labels")
    if not values:
        return MailState()
    text = one_line(decoded_words(",".join(values)))
    try:
        rows = list(csv.reader([text], skipinitialspace=True))
    except csv.Error:
        rows = [text.split(",")]
    kinds = _kinds(map(folded, rows[0][:_MOST_LABELS])) if rows else set()
    return replace(_state_of(kinds), unread="unread" in kinds, flagged="flagged" in kinds)


def _mozilla(headers: Headers) -> MailState:
    status = _number(headers.raw("x-mozilla-status"))
    if status is None:
        return MailState()
    second = _number(headers.raw("x-mozilla-status2")) or 0
    kinds: set[LeavableKind] = set()
    if status & _MOZILLA_EXPUNGED or second & _MOZILLA2_IMAP_DELETED:
        kinds.add("deleted")
    if _JUNK_KEYWORDS & set(headers.raw("x-mozilla-keys").casefold().split()):
        kinds.add("spam")
    return MailState(
        not status & _MOZILLA_READ, bool(status & _MOZILLA_FLAGGED), kinds=frozenset(kinds)
    )


def _status(headers: Headers) -> MailState:
    """What mutt, pine and mail servers write."""
    status, more = headers.raw("status"), headers.raw("x-status")
    keywords = set(headers.raw("x-keywords").casefold().split())
    kinds: set[LeavableKind] = set()
    if "D" in status + more:
        kinds.add("deleted")
    if "T" in more:
        kinds.add("drafts")
    if keywords & _JUNK_KEYWORDS:
        kinds.add("spam")
    flagged = "F" in status + more or bool(keywords & {"\\flagged", "$flagged"})
    known = bool(re.fullmatch(r"[A-Z ]{1,8}", status.strip()))
    return MailState(
        "R" not in status if known else None,
        flagged if flagged or more else None,
        kinds=frozenset(kinds),
    )


def _marks(headers: Headers) -> MailState:
    """Marks of filters, and of programs that keep drafts as files."""
    kinds: set[LeavableKind] = set()
    filters = (headers.raw("x-spam-flag"), headers.raw("x-spam-status"))
    filtered = any(said.strip().casefold().startswith("yes") for said in filters)
    if filtered and not headers.raw("x-gmail-labels"):
        kinds.add("spam")
    apple = headers.raw("x-uniform-type-identifier").strip().casefold() == "com.apple.mail-draft"
    if apple or headers.raw("x-unsent").strip() == "1":
        kinds.add("drafts")
    return MailState(kinds=frozenset(kinds))


def _state_of(kinds: set[str]) -> MailState:
    return MailState(
        sent="sent" in kinds, kinds=frozenset(kind for kind in LEAVABLE if kind in kinds)
    )


def _kinds(names: Iterable[str], *, folders: bool = False) -> set[str]:
    known = _words(folders)
    return {known[name] for name in names if name in known}


@cache
def _words(folders: bool) -> dict[str, str]:
    """Name of a folder or label → what its mails are.

    Args:
        folders: Whether of folders: some of their names are for labels too common a word.
    """
    text = files("ctrag.assistant.imports.mail").joinpath("words.yaml").read_text("utf-8")
    known: dict[str, str] = {}
    for kind, names in yaml.safe_load(text).items():
        plain = kind.removeprefix(_ONLY_FOLDERS)
        if folders or plain == kind:
            known.update((folded(str(name)), plain) for name in names)
    return known


def _number(text: str) -> int | None:
    try:
        return int(text.strip()[:16], 16)
    except ValueError:
        return None
