"""Which version of each event is stored, so that an older one never takes its place.

It is noted also of events that are gone: an old invitation does not bring them back. A row says no
word of an event: only ids, numbers and hashes.
"""

import json
from collections.abc import Mapping
from typing import Any

from stores.people.migrations import Connection

TABLE = "versions (persona_id VARCHAR NOT NULL, item_id VARCHAR NOT NULL, content VARCHAR NOT NULL)"


def of_person(connection: Connection, person_id: str) -> dict[str, Any]:
    """Item id → what is noted of it (JSON)."""
    rows = connection.execute(
        "SELECT item_id, content FROM versions WHERE persona_id = ?", [person_id]
    ).fetchall()
    return {item_id: json.loads(content) for item_id, content in rows}


def put(connection: Connection, person_id: str, noted: Mapping[str, Any]) -> None:
    """Note these; None drops what is noted of an item."""
    connection.execute(
        "DELETE FROM versions WHERE persona_id = $1 AND item_id IN (SELECT unnest($2::VARCHAR[]))",
        [person_id, list(noted)],
    )
    there = {item_id: one for item_id, one in noted.items() if one is not None}
    if there:
        connection.execute(
            "INSERT INTO versions SELECT $1, unnest($2::VARCHAR[]), unnest($3::VARCHAR[])",
            [person_id, list(there), [json.dumps(one) for one in there.values()]],
        )


def forget_item(connection: Connection, person_id: str, item_id: str) -> bool:
    """Erase what is noted of one item, from the journal, too; whether anything was."""
    found = of_person(connection, person_id)
    put(connection, person_id, {item_id: None})
    erased = item_id in found
    lines = connection.execute(
        "SELECT rowid, before FROM changes WHERE persona_id = ?", [person_id]
    ).fetchall()
    for number, text in lines:
        before = json.loads(text)
        if item_id in before.get("versions", {}):
            del before["versions"][item_id]
            erased = True
            connection.execute(
                "UPDATE changes SET before = ? WHERE rowid = ?",
                [json.dumps(before, ensure_ascii=False), number],
            )
    return erased
