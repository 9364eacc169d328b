"""Events that the person cancelled here: no import brings them back."""

from functools import cached_property

from stores.database import StoreUnavailable
from stores.people.items import CANCELLED, Item
from stores.people.stores import Stores


class Cancelled:
    """The events of one person that were cancelled here and are not stored any more."""

    def __init__(self, stores: Stores, person_id: str) -> None:
        self._stores = stores
        self._person_id = person_id

    def has(self, item: Item) -> bool:
        """Whether the person cancelled this event, or its series from some time on."""
        if item.app != "calendar" or not self._marks:
            return False
        marked = item.id in self._marks
        if not marked and (repeats := item.text("repeats")):
            from ctrag.assistant.apps.repeating import series_key

            marked = series_key(repeats) in self._marks
        return marked and item.id not in self._stored

    @cached_property
    def _marks(self) -> frozenset[str]:
        if not self._stores.exists() or self._person_id not in self._stores.people():
            return frozenset()
        try:
            found = self._stores.state(self._person_id, "calendar", CANCELLED)
        except (StoreUnavailable, LookupError):  # told by the import itself
            return frozenset()
        return frozenset(map(str, found)) if isinstance(found, list) else frozenset()

    @cached_property
    def _stored(self) -> frozenset[str]:
        return frozenset(one.item.id for one in self._stores.items(self._person_id).items)
