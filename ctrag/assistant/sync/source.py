"""What all kinds of sources tell of their parts: calendars' objects, cards, messages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Literal, Protocol

from ctrag.assistant.imports.card_lines import as_utf8
from ctrag.errors import CtragError

Kind = Literal["calendar", "contacts", "mail"]


class SourceUnavailable(CtragError):
    """A source cannot be read now; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part that is new or changed."""

    key: str
    """Identity in the source, hashed: no word of the part itself."""
    tag: str
    """Changes whenever the part does."""
    kind: Kind
    data: bytes
    flags: tuple[str, ...] = ()
    """Of a message: as the server has them."""
    folder: str = ""
    name: str = ""
    """Of a file: what to call it."""
    unread: str = ""
    """Why it is not read; `data` is what is known of it then: its headers."""


@dataclass(slots=True)
class Fetched:
    """What a source has now beside what was known of it."""

    parts: list[Part] = field(default_factory=list)
    """New or changed ones."""
    keys: set[str] = field(default_factory=set)
    """Keys of all parts that are there now."""
    meta: dict[str, Any] = field(default_factory=dict)
    """What the source wants to be told next time, JSON."""
    unchanged: bool = False
    """The source said that nothing changed; `parts` and `keys` are then empty."""


class Source(Protocol):
    """A source elsewhere."""

    @property
    def name(self) -> str:
        """Identity of the source among those of a person."""

    def fetch(self, tags: Mapping[str, str], meta: Mapping[str, Any]) -> Fetched:
        """What changed there.

        Args:
            tags: Key → tag of the parts that are known.
            meta: `Fetched.meta` of the last time; empty the first time.

        Raises:
            SourceUnavailable: It does not answer, or refuses.
        """


ENDS: Final = {"calendar": b"END:VCALENDAR", "contacts": b"END:VCARD"}


def is_whole(kind: Literal["calendar", "contacts"], data: bytes) -> bool:
    """Whether a file ends as one of its kind does: of one that is cut off, nothing is gone."""
    return as_utf8(data).upper().rstrip(b"\0 \t\r\n\x1a").endswith(ENDS[kind])


def key_of(*names: str) -> str:
    """A part's key: its names in the source, hashed."""
    return sha256("\0".join(names).encode()).hexdigest()[:20]
