"""One application's store: items with usage and vectors, outbox, state, journal.

Every query names the person; there is no way to ask for items across people.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stores.database import READ_TIMEOUT, WRITE_TIMEOUT, reading, writing
from stores.errors import InputError
from stores.people import import_journal, migrations
from stores.people.app_spec import AppSpec
from stores.people.changes import (
    Change,
    ChangeRecord,
    ImportMark,
    OutboxEntry,
    OutboxRow,
    TouchedItem,
)
from stores.people.item_rows import ItemTable, StoredItem, dump_stored, load_stored
from stores.people.migrations import Connection


class AppStore:
    """The store of one application in one generation of files."""

    def __init__(
        self,
        path: Path,
        app: AppSpec,
        timeout: float = WRITE_TIMEOUT,
        read_timeout: float = READ_TIMEOUT,
    ) -> None:
        self.path = path
        self.app = app
        self._timeout = timeout
        self._read_timeout = read_timeout
        self._table = ItemTable(app)

    def create(self) -> None:
        """Make the file and its tables; existing ones are migrated."""
        if self.path.exists():
            with self._writing() as connection:
                migrations.migrate(connection, self.app)
            return
        fresh = self.path.with_name(self.path.name + ".fresh")
        fresh.unlink(missing_ok=True)
        with writing(fresh, self.app.name, self._timeout, create=True) as connection:
            migrations.migrate(connection, self.app)
        fresh.replace(self.path)

    def pending(self) -> list[str]:
        """Names of schema steps that this file lacks."""
        with self._reading() as connection:
            return [step.name for step in migrations.pending(connection)]

    def check(self) -> None:
        """Read whose items there are; tables that a schema step has yet to make are no damage.

        Raises:
            StoreUnavailable: The file is missing, damaged or locked.
        """
        with self._reading() as connection:
            if all(step.name != "0001_items" for step in migrations.pending(connection)):
                connection.execute("SELECT max(persona_id), max(item_id) FROM items").fetchone()

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
            return self._table.select(connection, person_id)

    def content_hashes(self, person_ids: Sequence[str]) -> dict[tuple[str, str], str]:
        """(person, item) → `content_hash` of the stored item; lets an import find what is new."""
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
            raise InputError(f"put: an item id appears twice in {put}")
        for stored in change.put:
            if stored.item.app != self.app.name:
                raise InputError(
                    f"put: item {stored.item.id!r} is of {stored.item.app}, not of {self.app.name}"
                )
        touched = [*put, *change.remove]
        with self._writing() as connection:
            replaced = self._table.select(connection, person_id, touched)
            before = {
                "items": [dump_stored(stored) for stored in replaced],
                "touched": touched,
                "state": {name: self._state(connection, person_id, name) for name in change.state},
            }
            self._table.delete(connection, person_id, touched)
            self._table.insert(connection, [(person_id, stored) for stored in change.put])
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

    def last_change(self, person_id: str, *, imports: bool = True) -> ChangeRecord | None:
        """The newest journal line of one person, or None; without `imports`, of a call."""
        kind = "" if imports else f"AND NOT before LIKE '{import_journal.IS_IMPORT}' "
        with self._reading() as connection:
            row = connection.execute(
                "SELECT change_id, happened_at, summary FROM changes WHERE persona_id = ? "
                f"{kind}ORDER BY change_id DESC, rowid DESC LIMIT 1",
                [person_id],
            ).fetchone()
        return None if row is None else ChangeRecord(row[0], self.app.name, row[1], row[2])

    def touched(self, person_id: str) -> list[TouchedItem]:
        """The items of one person that calls made, changed or removed, the latest last."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT change_id, happened_at, summary, before FROM changes WHERE persona_id = ? "
                f"AND NOT before LIKE '{import_journal.IS_IMPORT}' ORDER BY change_id, rowid",
                [person_id],
            ).fetchall()
        found: dict[str, TouchedItem] = {}
        for change_id, at, summary, told in rows:
            before = json.loads(told)
            earlier = {
                item.id: item
                for item in (load_stored(self.app, one).item for one in before["items"])
            }
            record = ChangeRecord(change_id, self.app.name, at, summary)
            for item_id in before["touched"]:
                known = found.pop(item_id, None)
                before_it = earlier.get(item_id)
                replaced = () if known is None else known.replaced
                replaced += () if before_it is None else ((change_id, before_it),)
                found[item_id] = TouchedItem(item_id, record, before_it, replaced)
        return list(found.values())

    def newest_change(self) -> int:
        """The highest change id of anybody, 0 when the journal is empty."""
        with self._reading() as connection:
            if any(step.name == "0004_changes" for step in migrations.pending(connection)):
                return 0
            return import_journal.newest(connection)

    def revert(self, person_id: str, change_id: int) -> None:
        """Restore what was there before the change, and remove it from outbox and journal.

        Raises:
            ValueError: The journal has no such change.
        """
        with self._writing() as connection:
            rows = connection.execute(
                "SELECT before FROM changes WHERE persona_id = ? AND change_id = ? "
                "ORDER BY rowid DESC",
                [person_id, change_id],
            ).fetchall()
            if not rows:
                raise InputError(f"change_id: the {self.app.name} store has no change {change_id}")
            for before in (json.loads(row[0]) for row in rows):  # a line for each batch, last first
                self._table.delete(connection, person_id, before["touched"])
                self._table.insert(
                    connection, [(person_id, load_stored(self.app, one)) for one in before["items"]]
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
        mark: ImportMark | None = None,
        oldest: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Bulk import in one transaction.

        Args:
            rows: (person, item) pairs to add, those of one person together.
            replaced: (person, item id) pairs to drop before.
            restated: People with changes that the text of their items may contain: vectors of the
                items that stay are dropped, to be computed again.
            mark: The import in the journal, so that each person can undo their part; None for none.
            oldest: Person → id of their oldest change that can still be undone.
        """
        with self._writing() as connection:
            import_journal.drop_before(connection, oldest)
            added = list(rows)
            if mark is not None:
                before = import_journal.replaced_items(connection, self._table, added, replaced)
                import_journal.record(connection, before, mark)
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
            self._table.insert(connection, added)

    def restate(self, person_id: str) -> None:
        """Drop the vectors of a person's items, whose text has changed with their contacts."""
        with self._writing() as connection:
            connection.execute("UPDATE items SET vector = NULL WHERE persona_id = ?", [person_id])

    def forget(self, person_id: str, item_id: str | None = None) -> int:
        """Delete one item, or everything of a person, journal and outbox included.

        An item that was deleted before, or that belongs to another application now, counts while
        the journal or the outbox still refers to it. The person's journal of this application is
        deleted with an item, because any of its lines may contain an earlier version: earlier
        changes can no longer be undone. Imports can: their lines keep the other items.

        Returns:
            How many items were dropped.
        """
        with self._writing() as connection:
            if item_id is None:
                found = self._table.count(connection, person_id)
                for table in ("items", "outbox", "state", "changes"):
                    connection.execute(f"DELETE FROM {table} WHERE persona_id = ?", [person_id])
                return found
            if not self._holds(connection, person_id, item_id):
                return 0
            self._table.delete(connection, person_id, [item_id])
            import_journal.forget_item(connection, person_id, item_id)
            connection.execute(
                "DELETE FROM outbox WHERE persona_id = ? AND item_id = ?", [person_id, item_id]
            )
            return 1

    def _holds(self, connection: Connection, person_id: str, item_id: str) -> bool:
        """Whether items, outbox or journal refer to the item."""
        sent = connection.execute(
            "SELECT 1 FROM outbox WHERE persona_id = ? AND item_id = ?", [person_id, item_id]
        ).fetchone()
        if sent is not None or self._table.count(connection, person_id, item_id) > 0:
            return True
        journal = connection.execute(
            "SELECT before FROM changes WHERE persona_id = ?", [person_id]
        ).fetchall()
        return any(item_id in json.loads(before)["touched"] for (before,) in journal)

    def _reading(self) -> AbstractContextManager[Connection]:
        return reading(self.path, self.app.name, self._read_timeout)

    def _writing(self) -> AbstractContextManager[Connection]:
        return writing(self.path, self.app.name, self._timeout)

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
