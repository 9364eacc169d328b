"""Which changes one turn of a conversation made, so that they are taken back together.

A turn that made one change alone is not kept. The lines hold ids of changes and nothing else.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stores.files import append_private, make_private_folder
from stores.people.changes import Undone
from stores.people.learned import turns_file
from stores.people.usage import keep_taken_back

if TYPE_CHECKING:
    from stores.people.stores import Stores

LINES = 200
"""The newest turns that are read."""


def keep_turn(root: Path, person_id: str, change_ids: Sequence[int]) -> None:
    """Remember that one turn made these changes.

    Args:
        root: Folder of the stores.
        person_id: Whose.
        change_ids: Ids of the changes (`ChangeRecord.change_id`).
    """
    path = turns_file(root, person_id)
    make_private_folder(path.parent)
    append_private(path, json.dumps(list(change_ids)) + "\n")


def turn_of(root: Path, person_id: str, change_id: int) -> frozenset[int]:
    """The changes of the turn that made a change; that one alone where nothing else is known.

    Lines that cannot be read count for nothing.
    """
    path = turns_file(root, person_id)
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else []
    for line in reversed(lines[-LINES:]):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list) and change_id in found:
            return frozenset(one for one in found if isinstance(one, int))
    return frozenset((change_id,))


def take_back(stores: "Stores", person_id: str) -> Iterator[Undone]:
    """Take back the person's last change or import, and what the same turn changed before it.

    Args:
        stores: The person's stores.
        person_id: Whose.

    Yields:
        What was taken back, newest first; each is done when it is yielded.

    Raises:
        UnknownPerson, ValueError, StoreUnavailable: As for `Stores.undo`.
    """
    newest = _newest(stores, person_id)
    yield _undone(stores, person_id, newest)
    if newest is None:
        return
    together = turn_of(stores.root, person_id, newest)
    # The same newest change as before: an import was taken back, which is no part of a turn.
    while (left := _newest(stores, person_id)) in together and left != newest:
        newest = left
        yield _undone(stores, person_id, newest)


def _undone(stores: "Stores", person_id: str, newest: int | None) -> Undone:
    """Undo the last change or import; a record of use says so where it was the newest change."""
    undone = stores.undo(person_id)
    if newest is not None and _newest(stores, person_id) != newest:
        keep_taken_back(stores.root, person_id, [newest])
    return undone


def _newest(stores: "Stores", person_id: str) -> int | None:
    changes = stores.changes(person_id)
    return changes[0].change_id if changes else None
