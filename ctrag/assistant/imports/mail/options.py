"""What a person may choose when mails are read."""

from dataclasses import dataclass, field

from ctrag.assistant.imports.mail.state import LEAVABLE, LeavableKind
from ctrag.errors import InputError
from ctrag.settings import settings


@dataclass(frozen=True, slots=True)
class MailOptions:
    """Which mails are read, and how much of each."""

    also: frozenset[LeavableKind] = frozenset()
    """Kinds that are otherwise left out: `spam`, `deleted`, `drafts`, `chats`."""
    longest_body: int = field(default_factory=lambda: settings().mail_longest_body)
    """Characters of a mail's text that are stored."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.also) - set(LEAVABLE))
        if unknown:
            raise InputError(f"mail: must be of {', '.join(LEAVABLE)}, not {unknown[0]!r}")
