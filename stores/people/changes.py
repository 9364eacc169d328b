"""Changes by an API call in one store, and their records in outbox and journal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from stores.people.item_rows import StoredItem
from stores.people.items import Item


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """Something that leaves the phone: a mail, a call, a message, music that plays."""

    kind: str
    """`mail`, `message`, `call`, `open_url`, `play`, `pause`, `skip`, `voicemail`, `share`."""
    recipient: str | None
    content: Mapping[str, Any]
    item_id: str | None = None
    """The item that it came from."""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """An outbox entry as it was recorded."""

    change_id: int
    happened_at: datetime
    entry: OutboxEntry


@dataclass(frozen=True, slots=True)
class Change:
    """All that one API call changes in one store; applied atomically."""

    summary: str
    put: Sequence[StoredItem] = ()
    """Items to add, or to replace where the id exists."""
    remove: Sequence[str] = ()
    outbox: Sequence[OutboxEntry] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    """Named values to set, JSON."""


@dataclass(frozen=True, slots=True)
class ImportMark:
    """One import in the journals: all its batches, in all stores, share the id."""

    change_id: int
    """As in `ChangeRecord`."""
    happened_at: datetime
    summary: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo took back."""

    summary: str
    sent: tuple[OutboxEntry, ...] = ()
    """What had left the phone with the change: its records are gone, it itself is not undone."""


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """A journal line."""

    change_id: int
    """Nanoseconds since the epoch; grows over all stores."""
    app: str
    happened_at: datetime
    summary: str


@dataclass(frozen=True, slots=True)
class TouchedItem:
    """An item that a call made, changed or removed, and the newest call that did."""

    item_id: str
    record: ChangeRecord
    before: Item | None
    """The item before that call; None where the call made it."""
    replaced: tuple[tuple[int, Item], ...] = ()
    """Id of each call that changed it, and the item before; the latest last."""
