"""An item as a row of its application's table, and as JSON for the journal."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stores.errors import InputError
from stores.gc_pause import gc_paused
from stores.people.app_spec import AppSpec
from stores.people.items import Item, Usage, Value
from stores.people.migrations import Connection

Vector = NDArray[np.float32]

_ADDED_LATER = {"mail": ("recipients",)}
"""Application → fields that it got after items had been stored."""


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item and the vector of its text; None when it has to be made (again)."""

    item: Item
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class ItemTable:
    """The table `items` of one application's store, on a connection that the caller opened."""

    app: AppSpec

    @property
    def columns(self) -> dict[str, str]:
        """Column → its type, both as in SQL; whose item it is (`persona_id`) left out."""
        return {
            "item_id": "VARCHAR",
            **{f'"{one.name}"': one.sql_type for one in self.app.fields},
            "opens_30d": "BIGINT",
            "last_opened": "TIMESTAMP",
            "usual_hours": "INTEGER[]",
            "usual_place": "VARCHAR",
            "content_hash": "VARCHAR",
            "vector": "BLOB",
        }

    def select(
        self, connection: Connection, person_id: str, ids: Sequence[str] | None = None
    ) -> list[StoredItem]:
        """One person's items in stored order: those of `ids`, or all when None."""
        query = f"SELECT {', '.join(self.columns)} FROM items WHERE persona_id = ?"
        parameters: list[Any] = [person_id]
        if ids is not None:
            query += " AND list_contains(?::VARCHAR[], item_id)"
            parameters.append(list(ids))
        names = [one.name for one in self.app.fields]
        sparse = {one.name for one in self.app.fields if one.sparse}
        stop = 1 + len(names)
        with gc_paused():
            rows = connection.execute(query + " ORDER BY rowid", parameters).fetchall()
            return [
                StoredItem(
                    Item(
                        id=row[0],
                        app=self.app.name,
                        fields={
                            name: tuple(value) if isinstance(value, list) else value
                            for name, value in zip(names, row[1:stop], strict=True)
                            if value or name not in sparse
                        },
                        usage=Usage(
                            row[stop], row[stop + 1], tuple(row[stop + 2] or ()), row[stop + 3]
                        ),
                    ),
                    None if row[-1] is None else np.frombuffer(row[-1], dtype=np.float32),
                )
                for row in rows
            ]

    def count(self, connection: Connection, person_id: str, item_id: str | None = None) -> int:
        """How many items one person has; with `item_id`, whether they have that one: 0 or 1."""
        row = connection.execute(
            "SELECT count(*) FROM items WHERE persona_id = $1 AND coalesce(item_id = $2, TRUE)",
            [person_id, item_id],
        ).fetchone()
        return 0 if row is None else int(row[0])

    def delete(self, connection: Connection, person_id: str, ids: Sequence[str]) -> None:
        """Drop one person's items of these ids; an id that they do not have is passed over."""
        connection.execute(
            "DELETE FROM items WHERE persona_id = ? AND list_contains(?::VARCHAR[], item_id)",
            [person_id, list(ids)],
        )

    def insert(self, connection: Connection, rows: Iterable[tuple[str, StoredItem]]) -> None:
        """Add (person, item) pairs.

        Column-wise, which DuckDB does about ten times faster than row by row.

        Raises:
            ValueError: An item has a field that the application lacks.
        """
        types = ["VARCHAR", *self.columns.values()]
        unnested = ", ".join(f"unnest(${i}::{kind}[])" for i, kind in enumerate(types, start=1))
        remaining = iter(rows)
        while part := list(islice(remaining, 10_000)):
            columns: list[list[Any]] = [
                list(column) for column in zip(*map(self._row, part), strict=True)
            ]
            connection.execute(
                f"INSERT INTO items (persona_id, {', '.join(self.columns)}) SELECT {unnested}",
                columns,
            )

    def _row(self, owned: tuple[str, StoredItem]) -> list[Any]:
        person_id, stored = owned
        item, usage = stored.item, stored.item.usage
        unknown = item.fields.keys() - {one.name for one in self.app.fields}
        if unknown:
            raise InputError(f"{item.id}: {self.app.name} has no field {min(unknown)!r}")
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


def content_hash(item: Item) -> str:
    """Digest of an item's content, usage included; equal items have equal digests.

    An item without a field that its application got later has the digest that it had before.
    """
    dumped = _dump_item(item)
    for name in _ADDED_LATER.get(item.app, ()):
        if dumped["fields"].get(name) is None:
            dumped["fields"].pop(name, None)
    return hashlib.blake2b(
        json.dumps(dumped, sort_keys=True, ensure_ascii=False).encode(), digest_size=12
    ).hexdigest()


def dump_stored(stored: StoredItem) -> dict[str, Any]:
    """An item and its vector (hexadecimal) as the journal keeps them, in JSON."""
    vector = None if stored.vector is None else stored.vector.tobytes().hex()
    return {**_dump_item(stored.item), "vector": vector}


def load_stored(app: AppSpec, dumped: Mapping[str, Any]) -> StoredItem:
    """What `dump_stored` made of an item of `app`, exactly."""
    fields: dict[str, Value] = {}
    for one in app.fields:
        value = dumped["fields"].get(one.name)
        if one.sparse and not value:
            continue
        if one.type == "datetime" and value is not None:
            value = datetime.fromisoformat(value)
        fields[one.name] = tuple(value) if isinstance(value, list) else value
    opens, opened, hours, place = dumped["usage"]
    usage = Usage(
        opens, None if opened is None else datetime.fromisoformat(opened), tuple(hours), place
    )
    vector = dumped["vector"]
    return StoredItem(
        Item(dumped["id"], app.name, fields, usage),
        None if vector is None else np.frombuffer(bytes.fromhex(vector), dtype=np.float32),
    )


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
