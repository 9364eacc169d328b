"""What the person changed here stays when a file says again what it said before."""

from functools import cached_property

from ctrag.assistant.imports.superseding import Noted
from stores.people.item_rows import content_hash
from stores.people.items import Item
from stores.people.stores import Stores

_MOST = 8
"""Contents of one item that are known for as replaced."""


class ChangedHere:
    """The items of one person that calls changed.

    The journal knows them for a while; then what they replaced, as hashes beside the versions.
    """

    def __init__(self, stores: Stores, person_id: str, noted: Noted) -> None:
        self._stores = stores
        self._person_id = person_id
        self._noted = noted

    def keeps(self, item: Item) -> bool:
        """Whether the item is what the person has changed; if it says something new, it counts."""
        known = self._replaced.get(item.id)
        if not known:
            return False
        stored = self._stored.get(item.id)
        if stored is None or stored == content_hash(item):
            return False
        if content_hash(item) in known:
            return True
        del self._replaced[item.id]
        self._noted.update(item.id, replaced=None, settled=self._calls.get(item.id))
        return False

    @cached_property
    def _replaced(self) -> dict[str, list[str]]:
        """Item id → hashes of what the person's changes replaced."""
        if not self._stores.exists() or self._person_id not in self._stores.people():
            return {}
        for one in self._stores.touched(self._person_id):
            row = self._noted.get(one.item_id)
            new = [
                content_hash(item)
                for change_id, item in one.replaced
                if change_id > row.get("settled", 0)
            ]
            if new:
                known = list(dict.fromkeys([*row.get("replaced", ()), *new]))
                self._noted.update(one.item_id, replaced=known[-_MOST:])
        rows = self._noted.rows.items()
        return {item_id: list(row["replaced"]) for item_id, row in rows if row.get("replaced")}

    @cached_property
    def _calls(self) -> dict[str, int]:
        found = self._stores.touched(self._person_id)
        return {one.item_id: one.record.change_id for one in found}

    @cached_property
    def _stored(self) -> dict[str, str]:
        """Item id → hash of what is stored, of the items that were changed."""
        return {
            one.item.id: content_hash(one.item)
            for one in self._stores.items(self._person_id).items
            if one.item.id in self._replaced
        }
