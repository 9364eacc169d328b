"""What Proton's export keeps of a mail in a file of its own: `ID.metadata.json` beside `ID.eml`."""

import json
from pathlib import Path
from typing import BinaryIO

from ctrag.assistant.imports.mail.state import LeavableKind, MailState

ENDING = ".metadata.json"
_LONGEST = 1_000_000
_KINDS: dict[str, LeavableKind] = {
    **{"1": "drafts", "8": "drafts", "9": "drafts", "12": "drafts"},
    **{"3": "deleted", "4": "spam"},
}
"""Numbers of Proton's own folders; 9 is the outbox, 12 what is to be sent later."""
_SENT = {"2", "7"}
_STARRED = "10"


def of_file_beside(mail: BinaryIO) -> MailState:
    """What is said of an open mail in the file beside it; nothing where there is none."""
    name = getattr(mail, "name", None)  # of a file on a disk its path
    if not isinstance(name, str | Path) or Path(name).suffix.casefold() != ".eml":
        return MailState()
    try:
        with Path(name).with_suffix(ENDING).open("rb") as file:
            read = json.loads(file.read(_LONGEST))
    except (OSError, ValueError, RecursionError):
        return MailState()
    said = read.get("Payload", read) if isinstance(read, dict) else None
    if not isinstance(said, dict):
        return MailState()
    listed = said.get("LabelIDs")
    labels = {str(one) for one in listed} if isinstance(listed, list) else set()
    unread = said.get("Unread")
    return MailState(
        bool(unread) if isinstance(unread, int) else None,
        _STARRED in labels if labels else None,
        bool(labels & _SENT),
        frozenset(kind for label, kind in _KINDS.items() if label in labels),
    )


def is_beside_a_mail(path: Path) -> bool:
    """Whether a file is one that says more of the mail beside it."""
    name = path.name
    return (
        name.casefold().endswith(ENDING) and path.with_name(f"{name[: -len(ENDING)]}.eml").is_file()
    )
