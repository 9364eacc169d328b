"""What has been read of one calendar file, and what all its components are told apart by."""

from collections.abc import Callable
from datetime import datetime, tzinfo

from ctrag.assistant.imports.calendar_lines import Component
from ctrag.assistant.imports.calendar_text import NO_TITLE
from ctrag.assistant.imports.calendar_times import moment_of, stamp, zones_of
from ctrag.assistant.imports.calendar_todos import reason_of
from ctrag.assistant.imports.calendar_versions import (
    KINDS,
    NO_EVENTS,
    OLDER,
    method_of,
    newest,
    version_of,
)
from ctrag.assistant.imports.found import Found, LeftOut, Owner, Version, item_id
from ctrag.assistant.imports.zones import Zones, zone_named
from stores.people.items import Item

SHOWN = 60
"""Characters of a title in a report."""
_APPS = {"VEVENT": "calendar", "VTODO": "reminders", "VJOURNAL": "notes"}


class CalendarRecords:
    """Items, versions and what was left out of one file, for one owner."""

    def __init__(self, owner: Owner, found: list[Component]) -> None:
        self._owner = owner
        self._all = found
        self._by_zone: dict[str, Zones] = {}
        self._items: dict[str, Item] = {}
        self._left_out: list[LeftOut] = []
        self._versions: list[Version] = []

    def result(self) -> Found:
        """What was read."""
        return Found(list(self._items.values()), left_out=self._left_out, versions=self._versions)

    def _tried(self, one: Component, read: Callable[[Component, str], None], uid: str) -> bool:
        try:
            read(one, uid)
        except (ValueError, OverflowError) as error:
            self._leave(one, reason_of(error))
            return False
        return True

    def _newest(self, group: list[Component], key: Callable[[Component], str]) -> list[Component]:
        kept, older = newest(group, key)
        for one in older:
            self._leave(one, OLDER, on_purpose=True)
        return kept

    def _gone(
        self, one: Component, about: str, uid: str = "", of: str = "", with_series: bool = False
    ) -> None:
        """It is cancelled or declined: then what is stored of it goes. An answer says nothing."""
        if method_of(one) not in NO_EVENTS:
            self._version(one, about, [], uid=uid, of=of, with_series=with_series, gone=True)

    def _version(
        self,
        one: Component,
        about: str,
        items: list[str],
        *,
        uid: str = "",
        since: datetime | None = None,
        of: str = "",
        with_series: bool = False,
        gone: bool = False,
    ) -> None:
        app = _APPS[one.kind]
        version = Version(
            self._id(app, about),
            version_of(one),
            tuple(items),
            gone,
            KINDS[one.kind],
            self._title(one),
            uid=uid,
            since=since,
            of=self._id(app, of) if of else "",
            with_series=with_series,
        )
        self._versions.append(version)

    def _id(self, app: str, uid: str) -> str:
        return item_id(self._owner.person_id, app, uid)

    def _leave(self, one: Component, why: str, lost: bool = True, on_purpose: bool = False) -> None:
        left = LeftOut(KINDS[one.kind], self._title(one), why, lost=lost, on_purpose=on_purpose)
        self._left_out.append(left)

    def _title(self, one: Component) -> str:
        """What a report calls it."""
        line = one.first("DTSTART", "DUE")
        title = " ".join(one.text("SUMMARY").split())
        what = title or (line.value.strip() if line is not None else "") or one.text("UID")
        return what[:SHOWN] or NO_TITLE

    def _zones(self, one: Component) -> Zones:
        name = "" if one.calendar is None else one.calendar.text("X-WR-TIMEZONE")
        if name not in self._by_zone:
            fallback: tzinfo = zone_named(name) or self._owner.zone if name else self._owner.zone
            self._by_zone[name] = zones_of(self._all, fallback)
        return self._by_zone[name]

    def _key(self, one: Component) -> str:
        """Which occurrence a component is about; empty for the series or the only one."""
        line = one.first("RECURRENCE-ID")
        if line is None:
            return ""
        try:
            return stamp(moment_of(line, self._zones(one)))
        except (ValueError, OverflowError):
            return line.value.strip()

    def _name(self, one: Component) -> str:
        return "" if one.calendar is None else one.calendar.text("X-WR-CALNAME", "NAME")
