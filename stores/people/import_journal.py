"""What an import replaced, person by person, so that each can undo their own part of it.

An import is a line a person in the journal (`changes`) of every store that it changed, in the same
transaction as its rows. The lines of all its batches share one change id.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stores.people.changes import ImportMark
from stores.people.item_rows import ItemTable, StoredItem, dump_stored
from stores.people.migrations import Connection

IMPORTED = "imported"
"""Marks the journal lines of imports."""
KEPT_IMPORTS = 20
"""Imports of one person that can be undone; what is older is dropped, as the journal would grow
with every synchronization."""

IS_IMPORT = f'{{"{IMPORTED}"%'
"""Pattern of the journal lines of imports."""


def newest(connection: Connection) -> int:
    """The highest change id in a store's journal, 0 when it is empty."""
    row = connection.execute("SELECT max(change_id) FROM changes").fetchone()
    return int(row[0]) if row is not None and row[0] is not None else 0


def record(
    connection: Connection, before: Mapping[str, Mapping[str, Any]], mark: ImportMark
) -> None:
    """Add a line for each person.

    Args:
        connection: A connection inside the transaction of the import.
        before: Person → what the import replaces of theirs, as JSON.
        mark: The import.
    """
    if not before:
        return
    lines = [json.dumps({IMPORTED: True, **one}, ensure_ascii=False) for one in before.values()]
    connection.execute(
        "INSERT INTO changes (persona_id, change_id, happened_at, summary, before) "
        "SELECT unnest($1::VARCHAR[]), $2, $3, $4, unnest($5::VARCHAR[])",
        [list(before), mark.change_id, mark.happened_at, mark.summary, lines],
    )


def oldest_kept(connection: Connection) -> dict[str, int]:
    """Person → id of the oldest import that is kept, of those who have more than are kept."""
    rows = connection.execute(
        "SELECT persona_id, list_sort(list(DISTINCT change_id), 'DESC') AS ids FROM changes "
        "WHERE before LIKE ? GROUP BY persona_id HAVING len(ids) > ?",
        [IS_IMPORT, KEPT_IMPORTS],
    ).fetchall()
    return {person_id: int(ids[KEPT_IMPORTS - 1]) for person_id, ids in rows}


def drop_before(connection: Connection, oldest: Mapping[str, int]) -> None:
    """Drop each person's lines that are older than the given id."""
    for person_id, change_id in oldest.items():
        connection.execute(
            "DELETE FROM changes WHERE persona_id = ? AND change_id < ?", [person_id, change_id]
        )


def replaced_items(
    connection: Connection,
    table: ItemTable,
    added: Iterable[tuple[str, StoredItem]],
    replaced: Sequence[tuple[str, str]],
) -> dict[str, dict[str, Any]]:
    """What an import replaces in one application's store, for `record`.

    Args:
        connection: A connection inside the transaction of the import, before it changed anything.
        table: The store's items.
        added: (person, item) pairs that will be there.
        replaced: (person, item id) pairs that will be dropped before, where they exist.
    """
    touched: dict[str, list[str]] = {}
    for person_id, stored in added:
        touched.setdefault(person_id, []).append(stored.item.id)
    there: dict[str, list[str]] = {}
    if replaced:
        for person_id, item_id in connection.execute(
            "SELECT persona_id, item_id FROM items WHERE (persona_id, item_id) IN "
            "(SELECT unnest($1::VARCHAR[]), unnest($2::VARCHAR[]))",
            [[person for person, _ in replaced], [item for _, item in replaced]],
        ).fetchall():
            there.setdefault(person_id, []).append(item_id)
    return {
        person_id: {
            "items": [
                dump_stored(one)
                for one in (
                    table.select(connection, person_id, there[person_id])
                    if person_id in there
                    else ()
                )
            ],
            "touched": list(
                dict.fromkeys([*touched.get(person_id, ()), *there.get(person_id, ())])
            ),
            "state": {},
        }
        for person_id in touched | there
    }


def forget_item(connection: Connection, person_id: str, item_id: str) -> None:
    """Erase an item from a person's journal: from the lines of imports, and all other lines."""
    lines = connection.execute(
        "SELECT rowid, before FROM changes WHERE persona_id = ?", [person_id]
    ).fetchall()
    for row, text in lines:
        before = json.loads(text)
        if not before.get(IMPORTED):
            connection.execute("DELETE FROM changes WHERE rowid = ?", [row])
        elif item_id in before["touched"]:
            before["touched"].remove(item_id)
            before["items"] = [one for one in before["items"] if one["id"] != item_id]
            connection.execute(
                "UPDATE changes SET before = ? WHERE rowid = ?",
                [json.dumps(before, ensure_ascii=False), row],
            )
