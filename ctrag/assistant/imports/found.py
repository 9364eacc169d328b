"""What readers of a person's own files are given and give."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from zoneinfo import ZoneInfo

from stores.people.items import Contact, Item


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose file is read, and from where and when they look at it."""

    person_id: str
    zone: ZoneInfo
    """The person's time zone, in which moments are stored and floating times are meant."""
    now: datetime
    """The moment of the import, without a zone, in `zone`."""
    addresses: tuple[str, ...] = ()
    """Mail addresses that are the person's own."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One record that is not stored, or not whole."""

    kind: str
    """`event`, `to-do`, `journal`, `mail`, `contact`, `note`, `search`, `call`, `song`, `file`."""
    what: str
    """Its title, name, or place in the file: enough to find it again."""
    why: str
    source: str = ""
    """Name of the file; filled in by who opens it."""
    lost: bool = True
    """Whether the whole record is left out; False where it is stored without a part."""
    on_purpose: bool = False
    """Whether a record that is left out is none that the person misses: spam, a cancelled event."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a file says of one event, to-do or journal, and how new that is.

    A newer one takes the place of what older ones said, whichever of them is read first.
    """

    id: str
    """The id that it has as an item; of a series, that it would have if it did not repeat."""
    number: tuple[int, str]
    """How often it was changed (SEQUENCE), and when last."""
    items: tuple[str, ...] = ()
    """Ids of what is stored of it."""
    gone: bool = False
    """Whether it is cancelled or declined."""
    kind: str = "event"
    """As in `LeftOut`."""
    what: str = ""
    """Its title."""
    uid: str = ""
    """Of an event: its identity, which its occurrences have in `repeats`."""
    since: datetime | None = None
    """Of a series: before it, occurrences are not worked out; None where all are."""
    of: str = ""
    """Of a changed occurrence: the `id` of its series."""
    with_series: bool = False
    """Of a changed occurrence: whether the file has its series too."""


@dataclass(slots=True)
class Found:
    """Records of one file, in the order of the file."""

    items: list[Item] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    """Of those items that have any; that of a series before those of its changed occurrences."""

    def records(self) -> Iterator["Item | Contact | LeftOut | Version"]:
        """All of it, versions before the items that they are of."""
        yield from self.contacts
        yield from self.versions
        yield from self.items
        yield from self.left_out


def item_id(person_id: str, app: str, uid: str) -> str:
    """The id of an item that has the identity `uid` in its source: the same at every import."""
    return f"{person_id}-{app}-{sha256(uid.encode(errors='surrogatepass')).hexdigest()[:10]}"
