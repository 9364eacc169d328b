"""One application's store: items with usage and vectors, outbox, state, journal.

Every query names the person; there is no way to ask for items across people.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stores import migrations
from stores.database import READ_PATIENCE, WRITE_PATIENCE, reading, writing
from stores.garbage import without_collection
from stores.items import Item, Usage, Value
from stores.migrations import Connection
from stores.spec import AppSpec

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item and the vector of its text; None when it has to be made (again)."""

    item: Item
    vector: Vector | None = None


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
    """All that one API call changes in one store; applied whole or not at all."""

    summary: str
    put: Sequence[StoredItem] = ()
    """Items to add, or to replace where the id exists."""
    remove: Sequence[str] = ()
    outbox: Sequence[OutboxEntry] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    """Named values to set, JSON."""


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """A journal line: what was changed, and when."""

    change_id: int
    """Nanoseconds since the epoch; grows over all stores."""
    app: str
    happened_at: datetime
    summary: str


class AppStore:
    """The store of one application in one generation of files."""

    def __init__(
        self,
        path: Path,
        app: AppSpec,
        patience: float = WRITE_PATIENCE,
        read_patience: float = READ_PATIENCE,
    ) -> None:
        self.path = path
        self.app = app
        self._patience = patience
        self._read_patience = read_patience
        self._columns = [
            "item_id",
            *(f'"{one.name}"' for one in app.fields),
            "opens_30d",
            "last_opened",
            "usual_hours",
            "usual_place",
            "content_hash",
            "vector",
        ]

    def create(self) -> None:
        """Make the file and its tables; existing ones are brought up to date."""
        if self.path.exists():
            with self._writing() as connection:
                migrations.migrate(connection, self.app)
            return
        fresh = self.path.with_name(self.path.name + ".fresh")
        fresh.unlink(missing_ok=True)
        with writing(fresh, self.app.name, self._patience, create=True) as connection:
            migrations.migrate(connection, self.app)
        fresh.replace(self.path)

    def pending(self) -> list[str]:
        """Names of schema steps that this file lacks."""
        with self._reading() as connection:
            return [step.name for step in migrations.pending(connection)]

    def signature(self) -> tuple[int, ...]:
        """Changes whenever the file may have changed; reads no data."""
        found: list[int] = []
        for path in (self.path, self.path.with_name(self.path.name + ".wal")):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            found += [status.st_mtime_ns, status.st_size, status.st_ino]
        return tuple(found)

    def items(self, person_id: str) -> list[StoredItem]:
        """All items of one person, in the order in which they were stored."""
        with self._reading() as connection:
            return self._select(connection, person_id)

    def content_hashes(self, person_ids: Sequence[str]) -> dict[tuple[str, str], str]:
        """(person, item) → `content_hash` of what is stored; how an import sees what is new."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT persona_id, item_id, content_hash FROM items "
                "WHERE persona_id IN (SELECT unnest(?::VARCHAR[]))",
                [list(person_ids)],
            ).fetchall()
        return {(person, item): digest for person, item, digest in rows}

    def state(self, person_id: str, name: str) -> Any:
        """A named value of one person (JSON), or None."""
        with self._reading() as connection:
            return self._state(connection, person_id, name)

    def outbox(self, person_id: str) -> list[OutboxRow]:
        """What one person's assistant sent or started, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT change_id, happened_at, kind, recipient, content, item_id FROM outbox "
                "WHERE persona_id = ? ORDER BY change_id, rowid",
                [person_id],
            ).fetchall()
        return [
            OutboxRow(change, at, OutboxEntry(kind, recipient, json.loads(content), item))
            for change, at, kind, recipient, content, item in rows
        ]

    def apply(self, person_id: str, change: Change, change_id: int, at: datetime) -> None:
        """Carry out `change` in one transaction, outbox rows and journal line included.

        Raises:
            ValueError: The change breaks a rule; nothing was changed.
        """
        put = [stored.item.id for stored in change.put]
        if len(set(put)) < len(put):
            raise ValueError(f"put: an item id appears twice in {put}")
        for stored in change.put:
            if stored.item.app != self.app.name:
                raise ValueError(
                    f"put: item {stored.item.id!r} is of {stored.item.app}, not of {self.app.name}"
                )
        touched = [*put, *change.remove]
        with self._writing() as connection:
            before = {
                "items": [
                    _dump_stored(stored) for stored in self._select(connection, person_id, touched)
                ],
                "touched": touched,
                "state": {name: self._state(connection, person_id, name) for name in change.state},
            }
            self._delete(connection, person_id, touched)
            self._insert(connection, [(person_id, stored) for stored in change.put])
            for name, content in change.state.items():
                self._set_state(connection, person_id, name, content)
            for entry in change.outbox:
                connection.execute(
                    "INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [
                        person_id,
                        change_id,
                        at,
                        entry.kind,
                        entry.recipient,
                        json.dumps(entry.content, ensure_ascii=False),
                        entry.item_id,
                    ],
                )
            connection.execute(
                "INSERT INTO changes VALUES (?, ?, ?, ?, ?)",
                [person_id, change_id, at, change.summary, json.dumps(before, ensure_ascii=False)],
            )

    def last_change(self, person_id: str) -> ChangeRecord | None:
        """The newest journal line of one person, or None."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT change_id, happened_at, summary FROM changes WHERE persona_id = ? "
                "ORDER BY change_id DESC LIMIT 1",
                [person_id],
            ).fetchone()
        return None if row is None else ChangeRecord(row[0], self.app.name, row[1], row[2])

    def changed_since(self, change_id: int) -> str | None:
        """Who made the newest change after `change_id`, or None if nobody did."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT persona_id FROM changes WHERE change_id > ? "
                "ORDER BY change_id DESC LIMIT 1",
                [change_id],
            ).fetchone()
        return None if row is None else str(row[0])

    def revert(self, person_id: str, change_id: int) -> None:
        """Put back what was there before the change, and take it out of outbox and journal.

        Raises:
            ValueError: The journal has no such change.
        """
        with self._writing() as connection:
            row = connection.execute(
                "SELECT before FROM changes WHERE persona_id = ? AND change_id = ?",
                [person_id, change_id],
            ).fetchone()
            if row is None:
                raise ValueError(f"change_id: the {self.app.name} store has no change {change_id}")
            before = json.loads(row[0])
            self._delete(connection, person_id, before["touched"])
            self._insert(
                connection, [(person_id, self._load_stored(one)) for one in before["items"]]
            )
            for name, content in before["state"].items():
                self._set_state(connection, person_id, name, content)
            for table in ("outbox", "changes"):
                connection.execute(
                    f"DELETE FROM {table} WHERE persona_id = ? AND change_id = ?",
                    [person_id, change_id],
                )

    def load(
        self,
        rows: Iterable[tuple[str, StoredItem]],
        replaced: Sequence[tuple[str, str]],
        restated: Sequence[str] = (),
    ) -> None:
        """Bulk import in one transaction.

        Args:
            rows: (person, item) pairs to add, those of one person together.
            replaced: (person, item id) pairs to drop before.
            restated: People about whom something changed that their items' wording may hold:
                vectors of the items that stay are dropped, to be made again.
        """
        with self._writing() as connection:
            if replaced:
                connection.execute(
                    "DELETE FROM items WHERE (persona_id, item_id) IN "
                    "(SELECT unnest($1::VARCHAR[]), unnest($2::VARCHAR[]))",
                    [[person for person, _ in replaced], [item for _, item in replaced]],
                )
            if restated:
                connection.execute(
                    "UPDATE items SET vector = NULL "
                    "WHERE persona_id IN (SELECT unnest(?::VARCHAR[]))",
                    [list(restated)],
                )
            self._insert(connection, rows)

    def forget(self, person_id: str, item_id: str | None = None) -> int:
        """Drop one item, or all that the store knows of a person, journal and outbox included.

        An item that was deleted before counts while the journal still holds it.

        Returns:
            How many items were dropped.
        """
        with self._writing() as connection:
            if item_id is None:
                found = self._count(connection, person_id)
                for table in ("items", "outbox", "state", "changes"):
                    connection.execute(f"DELETE FROM {table} WHERE persona_id = ?", [person_id])
                return found
            journal = connection.execute(
                "SELECT before FROM changes WHERE persona_id = ?", [person_id]
            ).fetchall()
            known = self._count(connection, person_id, item_id) > 0 or any(
                item_id in json.loads(before)["touched"] for (before,) in journal
            )
            if known:
                self._delete(connection, person_id, [item_id])
                # The journal holds earlier versions of items: they must go as well.
                connection.execute("DELETE FROM changes WHERE persona_id = ?", [person_id])
                connection.execute(
                    "DELETE FROM outbox WHERE persona_id = ? AND item_id = ?", [person_id, item_id]
                )
            return int(known)

    def _count(self, connection: Connection, person_id: str, item_id: str | None = None) -> int:
        row = connection.execute(
            "SELECT count(*) FROM items WHERE persona_id = $1 AND coalesce(item_id = $2, TRUE)",
            [person_id, item_id],
        ).fetchone()
        return 0 if row is None else int(row[0])

    def _reading(self) -> AbstractContextManager[Connection]:
        return reading(self.path, self.app.name, self._read_patience)

    def _writing(self) -> AbstractContextManager[Connection]:
        return writing(self.path, self.app.name, self._patience)

    def _select(
        self, connection: Connection, person_id: str, ids: Sequence[str] | None = None
    ) -> list[StoredItem]:
        query = f"SELECT {', '.join(self._columns)} FROM items WHERE persona_id = ?"
        parameters: list[Any] = [person_id]
        if ids is not None:
            query += " AND list_contains(?::VARCHAR[], item_id)"
            parameters.append(list(ids))
        names = [one.name for one in self.app.fields]
        stop = 1 + len(names)
        with without_collection():
            rows = connection.execute(query + " ORDER BY rowid", parameters).fetchall()
            return [
                StoredItem(
                    Item(
                        id=row[0],
                        app=self.app.name,
                        fields={
                            name: tuple(value) if isinstance(value, list) else value
                            for name, value in zip(names, row[1:stop], strict=True)
                        },
                        usage=Usage(
                            row[stop], row[stop + 1], tuple(row[stop + 2] or ()), row[stop + 3]
                        ),
                    ),
                    None if row[-1] is None else np.frombuffer(row[-1], dtype=np.float32),
                )
                for row in rows
            ]

    def _delete(self, connection: Connection, person_id: str, ids: Sequence[str]) -> None:
        connection.execute(
            "DELETE FROM items WHERE persona_id = ? AND list_contains(?::VARCHAR[], item_id)",
            [person_id, list(ids)],
        )

    def _insert(self, connection: Connection, rows: Iterable[tuple[str, StoredItem]]) -> None:
        """Insert rows column-wise, which DuckDB does about ten times faster than row by row."""
        types = [
            "VARCHAR",
            "VARCHAR",
            *(one.sql_type for one in self.app.fields),
            "BIGINT",
            "TIMESTAMP",
            "INTEGER[]",
            "VARCHAR",
            "VARCHAR",
            "BLOB",
        ]
        unnested = ", ".join(f"unnest(${i}::{kind}[])" for i, kind in enumerate(types, start=1))
        remaining = iter(rows)
        while part := list(islice(remaining, 10_000)):
            columns: list[list[Any]] = [
                list(column) for column in zip(*map(self._row, part), strict=True)
            ]
            connection.execute(
                f"INSERT INTO items (persona_id, {', '.join(self._columns)}) SELECT {unnested}",
                columns,
            )

    def _row(self, owned: tuple[str, StoredItem]) -> list[Any]:
        person_id, stored = owned
        item, usage = stored.item, stored.item.usage
        unknown = item.fields.keys() - {one.name for one in self.app.fields}
        if unknown:
            raise ValueError(f"{item.id}: {self.app.name} has no field {min(unknown)!r}")
        values = [item.fields.get(one.name) for one in self.app.fields]
        return [
            person_id,
            item.id,
            *(list(value) if isinstance(value, tuple) else value for value in values),
            usage.opens_30d,
            usage.last_opened,
            list(usage.usual_hours),
            usage.usual_place,
            content_hash(item),
            None if stored.vector is None else stored.vector.astype(np.float32).tobytes(),
        ]

    def _state(self, connection: Connection, person_id: str, name: str) -> Any:
        row = connection.execute(
            "SELECT content FROM state WHERE persona_id = ? AND name = ?", [person_id, name]
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def _set_state(self, connection: Connection, person_id: str, name: str, content: Any) -> None:
        connection.execute("DELETE FROM state WHERE persona_id = ? AND name = ?", [person_id, name])
        if content is not None:
            connection.execute(
                "INSERT INTO state VALUES (?, ?, ?)",
                [person_id, name, json.dumps(content, ensure_ascii=False)],
            )

    def _load_stored(self, dumped: Mapping[str, Any]) -> StoredItem:
        fields: dict[str, Value] = {}
        for one in self.app.fields:
            value = dumped["fields"].get(one.name)
            if one.type == "datetime" and value is not None:
                value = datetime.fromisoformat(value)
            fields[one.name] = tuple(value) if isinstance(value, list) else value
        opens, opened, hours, place = dumped["usage"]
        usage = Usage(
            opens, None if opened is None else datetime.fromisoformat(opened), tuple(hours), place
        )
        vector = dumped["vector"]
        return StoredItem(
            Item(dumped["id"], self.app.name, fields, usage),
            None if vector is None else np.frombuffer(bytes.fromhex(vector), dtype=np.float32),
        )


def content_hash(item: Item) -> str:
    """Digest of everything an item says, usage included; equal items have equal digests."""
    return hashlib.blake2b(
        json.dumps(_dump_item(item), sort_keys=True, ensure_ascii=False).encode(), digest_size=12
    ).hexdigest()


def _dump_stored(stored: StoredItem) -> dict[str, Any]:
    vector = None if stored.vector is None else stored.vector.tobytes().hex()
    return {**_dump_item(stored.item), "vector": vector}


def _dump_item(item: Item) -> dict[str, Any]:
    usage = item.usage
    return {
        "id": item.id,
        "fields": {name: _dump_value(value) for name, value in item.fields.items()},
        "usage": [
            usage.opens_30d,
            _dump_value(usage.last_opened),
            list(usage.usual_hours),
            usage.usual_place,
        ],
    }


def _dump_value(value: Value) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()  # to the microsecond: what is undone must come back exactly
    return list(value) if isinstance(value, tuple) else value
