"""Of several versions of an event the newest counts, whatever file or import brings it first."""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from ctrag.assistant.imports.calendar_versions import OLDER, says_anew
from ctrag.assistant.imports.found import LeftOut, Version
from ctrag.assistant.imports.series import uid_of
from stores.database import StoreUnavailable
from stores.people.items import Item
from stores.people.stores import Stores

Verdict = Literal["take", "older", "copy"]
_WAS_GONE = "an older version: it was cancelled or declined since"
_MOVED_HERE = re.compile(r"(-\d{8}T\d{4})+\Z")
"""What a series that the person moved has behind its identity (`apps.repeating.moved`)."""
_UNNUMBERED = (0, "")


class Noted:
    """What the stores know of versions, and what this import is to add to it."""

    def __init__(self, stores: Stores, person_id: str) -> None:
        self._stores = stores
        self._person_id = person_id
        self.changed: dict[str, Any] = {}
        """Item id → what is known from now on, None for nothing: to be stored."""

    def get(self, item_id: str) -> dict[str, Any]:
        """What is known of an item's version."""
        found = self.rows.get(item_id)
        return dict(found) if found else {}

    def update(self, item_id: str, **values: Any) -> None:
        """Know these of it; None drops a value."""
        before = self.get(item_id)
        after = {name: one for name, one in (before | values).items() if one is not None}
        if after != before:
            self.rows[item_id] = after
            self.changed[item_id] = after or None

    @cached_property
    def rows(self) -> dict[str, dict[str, Any]]:
        """All of it, by item id."""
        if not self._stores.exists():
            return {}
        try:
            return self._stores.versions(self._person_id)
        except StoreUnavailable:  # told by the import itself
            return {}


class Superseding:
    """The versions that one import hears of, beside those that are stored."""

    def __init__(self, stores: Stores, person_id: str, noted: Noted) -> None:
        self._stores = stores
        self._person_id = person_id
        self._noted = noted
        self._stored: dict[str, dict[str, tuple[str, datetime | None]]] | None = None
        self._here: set[str] = set()  # whose version was taken in this import
        self._last: dict[str, Verdict] = {}
        self._changed: dict[str, set[str]] = {}  # series → changed occurrences
        for item_id, row in noted.rows.items():
            if of := row.get("of"):
                self._changed.setdefault(of, set()).add(item_id)
        self._verdicts: dict[str, Verdict] = {}  # on items

    def hear(self, one: Version) -> tuple[set[str], LeftOut | None]:
        """Decide on a version; what is gone with it, and what is to be told where it is older."""
        verdict = self._verdict(one)
        again = one.id in self._here
        self._last[one.id] = verdict
        self._verdicts |= dict.fromkeys(one.items, verdict)
        if verdict != "take":
            why = _WAS_GONE if self._noted.get(one.id).get("gone") else OLDER
            left = LeftOut(one.kind, one.what, why, on_purpose=True)
            return set(), left if verdict == "older" and not one.gone else None
        self._here.add(one.id)
        gone = self._parts_gone(one) - set(one.items)
        if one.of:
            self._changed.setdefault(one.of, set()).add(one.id)
        known = self._noted.get(one.id)
        if one.gone or one.of or known or one.number != _UNNUMBERED:
            sequence, stamp = one.number
            self._noted.update(
                one.id, sequence=sequence, stamp=stamp, gone=one.gone or None, of=one.of or None
            )
        told = again and not one.gone
        return gone, LeftOut(one.kind, one.what, OLDER, on_purpose=True) if told else None

    def verdict(self, item: Item) -> Verdict | None:
        """What becomes of an item; None where it has no versions."""
        return self._verdicts.get(item.id)

    def took(self, item: Item) -> None:
        """The item will be stored."""
        self._add(item)

    def _verdict(self, one: Version) -> Verdict:
        if one.of and not (one.with_series and self._last.get(one.of) in ("take", "copy")):
            series = _number(self._noted.get(one.of))
            if series is not None and says_anew(series, one.number):
                return "older"
        known = self._noted.get(one.id)
        number = _number(known) or (_UNNUMBERED if one.id in self._here else None)
        if number is None or one.number > number:
            return "take"
        if one.number < number:
            return "older"
        again = one.id in self._here
        if one.gone:
            return "take"
        if known.get("gone"):  # what says no version may come again, the next time
            return "older" if again or number != _UNNUMBERED else "take"
        return "copy" if again else "take"

    def _parts_gone(self, one: Version) -> set[str]:
        """Ids of what is, or may be, stored of it and is not said any more."""
        found = {one.id: None} | dict(self._occurrences(one.uid) if one.uid else ())
        if one.of:
            return set(found)
        if not one.uid:
            return set(found)
        gone = set()
        changed = self._changed.pop(one.id, set())
        for item_id in found.keys() | changed:
            number = _number(self._noted.get(item_id)) if item_id in changed else None
            unnumbered = number == one.number == _UNNUMBERED
            if number is not None and not unnumbered and not says_anew(one.number, number):
                self._verdicts[item_id] = "older"  # a newer change of this occurrence stays
                self._changed.setdefault(one.id, set()).add(item_id)
                continue
            if number is not None:
                self._noted.update(item_id, sequence=None, stamp=None, gone=None, of=None)
            start = found.get(item_id)
            if one.gone or one.since is None or start is None or start >= one.since:
                gone.add(item_id)
        return gone

    def _occurrences(self, uid: str) -> Iterator[tuple[str, datetime | None]]:
        """(id, start) of the stored occurrences of a series, those that were moved here too."""
        for item_id, (own, start) in self._by_stem().get(_stem(uid), {}).items():
            if own == uid or own.startswith(f"{uid}-"):
                yield item_id, start

    def _by_stem(self) -> dict[str, dict[str, tuple[str, datetime | None]]]:
        """Stem of the identity → id → (identity, start) of each stored occurrence of a series."""
        if self._stored is None:
            self._stored = {}
            if self._stores.exists() and self._person_id in self._stores.people():
                for stored in self._stores.items(self._person_id).items:
                    self._add(stored.item)
        return self._stored

    def _add(self, item: Item) -> None:
        uid = uid_of(item)
        if uid:
            self._by_stem().setdefault(_stem(uid), {})[item.id] = (uid, item.time("start"))


def _number(row: dict[str, Any]) -> tuple[int, str] | None:
    return (int(row["sequence"]), str(row["stamp"])) if "sequence" in row else None


def _stem(uid: str) -> str:
    return _MOVED_HERE.sub("", uid)
