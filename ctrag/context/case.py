"""One candidate beside the others: what the words for its signals are made of."""

import math
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctrag.context import item_text
from ctrag.context.scene import Doubles, Scene
from ctrag.context.signals import SIGNALS
from ctrag.context.view import Floats
from ctrag.context.wordings import counted
from ctrag.context.words import fold
from stores.items import Item
from stores.spec import Role

COLUMN = {signal.name: position for position, signal in enumerate(SIGNALS)}
"""Signal → its column of the table."""


@dataclass(frozen=True, slots=False)
class Case:
    """One candidate beside the others: what reasons are told from."""

    scene: Scene
    row: int
    """Row of the scene."""
    table: Floats
    """(candidates, signals), as `signals.compute` gives it."""

    @cached_property
    def item(self) -> Item:
        """The candidate."""
        return self.scene.view.items[int(self.scene.rows[self.row])]

    def time(self, role: Role) -> datetime | None:
        """The item's first field of that role, `time` or `end`, if it has one."""
        field = item_text.field_of(self.item, role)
        return self.item.time(field) if field else None

    @cached_property
    def siblings(self) -> int:
        """How many candidates its application has, itself included."""
        return int(self._in_app.sum())

    @cached_property
    def your(self) -> str:
        """`your 62 items`; of a large person, `the 310 items looked at`."""
        return self._among(f"{len(self.scene)} items")

    @cached_property
    def your_in_app(self) -> str:
        """`your 12 notes`, likewise."""
        return self._among(counted(self.item.app, self.siblings))

    def value(self, name: str) -> float:
        """A signal's value for this candidate."""
        return float(self.table[self.row, COLUMN[name]])

    def rank(self, name: str, *, in_app: bool = False) -> int:
        """1 + how many candidates (of its application) have a higher value; the last for NaN."""
        if math.isnan(self.value(name)):
            return len(self.scene)
        higher = self._column(name) > self.value(name)
        return 1 + int((higher & self._in_app if in_app else higher).sum())

    def above(self, name: str) -> float:
        """Share of the other candidates that have a lower value."""
        return float((self._column(name) < self.value(name)).sum()) / max(len(self.scene) - 1, 1)

    def person(self, name: str) -> str:
        """Somebody, with the relation to the user if they are a contact: `Lena Meier (coach)`."""
        known = {fold(one.name): one for one in self.scene.view.person.contacts}
        one = known.get(fold(name))
        if one is None:
            return name
        return f"{one.name} ({one.relation})" if one.relation else one.name

    @cached_property
    def _in_app(self) -> NDArray[np.bool_]:
        return np.asarray(self.scene.apps == self.scene.apps[self.row], dtype=bool)

    def _column(self, name: str) -> Doubles:
        return np.asarray(self.table[:, COLUMN[name]], dtype=np.float64)

    def _among(self, counted_items: str) -> str:
        whole = len(self.scene) == len(self.scene.view)
        return f"your {counted_items}" if whole else f"the {counted_items} looked at"
