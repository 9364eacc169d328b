"""What readers of a person's own files are given and give."""

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


@dataclass(slots=True)
class Found:
    """Records of one file, in the order of the file."""

    items: list[Item] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def item_id(person_id: str, app: str, uid: str) -> str:
    """The id of an item that has the identity `uid` in its source: the same at every import."""
    return f"{person_id}-{app}-{sha256(uid.encode(errors='surrogatepass')).hexdigest()[:10]}"
