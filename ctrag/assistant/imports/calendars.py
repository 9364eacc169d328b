"""Calendars (.ics): events, with all occurrences of repeating ones, to-dos and journals.

Each component is read apart. What a calendar has in several versions is read in its newest one.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo

from ctrag.assistant.imports.calendar_lines import Component, components
from ctrag.assistant.imports.calendar_text import (
    NO_TITLE,
    declined_by,
    notes_of,
    people_of,
    place_of,
    plain,
    title_of,
)
from ctrag.assistant.imports.calendar_times import (
    Moment,
    check_end,
    local,
    moment_of,
    span_of,
    stamp,
    zones_of,
)
from ctrag.assistant.imports.calendar_todos import due_of, reason_of
from ctrag.assistant.imports.calendar_versions import (
    KINDS,
    NO_EVENTS,
    cancelled,
    for_the_future,
    groups,
    newest,
)
from ctrag.assistant.imports.found import Found, LeftOut, Owner, item_id
from ctrag.assistant.imports.series import Series, utc
from ctrag.assistant.imports.zones import Zones, zone_named
from ctrag.errors import InputError
from stores.people.items import Item, Value

_REMINDERS, _JOURNAL = "Reminders", "Journal"
"""List of to-dos and folder of journals of a calendar without a name."""
_REPEATING = ("RRULE", "RDATE", "EXDATE", "EXRULE")
_NEVER = "it has no occurrence from last year to the year after next"
_SHOWN = 60
"""Characters of a title in a report."""


def read_calendar(data: bytes, owner: Owner) -> Found:
    """The events, reminders and notes of an iCalendar file.

    Of a repeating event, those occurrences around `owner.now` that `Rule.span` and `MOST_PAST`
    say, each an event of its own. Times are the clock's in `owner.zone`; a time without a zone is
    in the calendar's (X-WR-TIMEZONE), else in the owner's.

    Raises:
        ValueError: It is no iCalendar file.
    """
    found = components(data)
    if not found:
        raise InputError("not an iCalendar file: it has no line BEGIN:VCALENDAR")
    reader = _Reader(owner, found)
    for uid, group in groups(found).items():
        reader.read(uid, group)
    return reader.result()


class _Reader:
    """Reads the components of one file for one owner."""

    def __init__(self, owner: Owner, found: list[Component]) -> None:
        self._owner = owner
        self._all = found
        self._now = utc(owner.now, owner.zone)
        self._by_zone: dict[str, Zones] = {}
        self._items: dict[str, Item] = {}
        self._left_out: list[LeftOut] = []
        self._said: tuple[Component, tuple[str, str | None, tuple[str, ...], str | None]] | None
        self._said = None

    def result(self) -> Found:
        """What was read."""
        return Found(list(self._items.values()), left_out=self._left_out)

    def read(self, uid: str, group: list[Component]) -> None:
        """One event, to-do or journal: all its components."""
        kind, zones = group[0].kind, self._zones(group[0])
        zones.unknown.clear()
        if kind == "VFREEBUSY":
            self._leave(group[0], "free or busy time without an event", on_purpose=True)
        elif kind == "VEVENT":
            self._event(uid, group)
        else:
            for one in newest(group, self._key):
                self._tried(one, self._todo if kind == "VTODO" else self._journal, uid)
        if zones.unknown:
            names = ", ".join(sorted(zones.unknown))[:_SHOWN]
            why = f"its time zone is unknown ({names}): its times are taken as {zones.fallback}"
            self._leave(group[0], why, lost=False)

    def _event(self, uid: str, group: list[Component]) -> None:
        parts = newest(group, self._key)
        masters = [one for one in parts if one.first("RECURRENCE-ID") is None]
        again = [one for one in parts if one.first("RECURRENCE-ID") is not None]
        if masters and self._unwanted(masters[0]):
            return
        if not masters:
            for one in again:
                self._tried(one, self._single, uid + self._key(one))
            return
        [master] = masters
        later = [one for one in again if for_the_future(one) and not cancelled(one)]
        single = [one for one in again if one not in later]
        try:
            series = self._series(uid, master, single, later)
        except (ValueError, OverflowError) as error:
            self._leave(master, reason_of(error))
            series = None
        if series is None or not series.repeats:
            if series is not None:
                self._tried(master, self._single, uid)
            for one in single:
                self._tried(one, self._single, uid + self._key(one))
            return
        # An occurrence that was changed and then taken out of the series is gone.
        single = [one for one in single if self._key(one) not in series.without]
        text = series.text()
        for one in single:
            if not self._unwanted(one):
                self._tried(
                    one, lambda part, key: self._single(part, key, text), uid + self._key(one)
                )
        try:
            occurrences = series.occurrences(self._now)
        except Exception as error:  # whatever the library makes of a rule: only this one is lost
            self._leave(
                master, f"its repetition cannot be worked out ({reason_of(error)})", lost=False
            )
            self._tried(master, self._single, uid)
            return
        if not occurrences and not single:
            self._leave(master, _NEVER, on_purpose=True)
        for found in occurrences:
            fields = self._fields(found.source, found.start, found.end, series.zones)
            self._keep(item_id(self._owner.person_id, "calendar", uid + found.key), fields, text)

    def _series(
        self, uid: str, master: Component, single: list[Component], later: list[Component]
    ) -> Series | None:
        """The series, or None where its rule cannot be read: its first occurrence is kept then."""
        zones = self._zones(master)
        try:
            series = Series(uid, master, zones, later)
        except InputError as error:
            span_of(master, zones)  # what has no start is left out for that
            self._leave(master, f"only its first time is kept: {error}", lost=False)
            plain_one = replace(
                master,
                properties=[one for one in master.properties if one.name not in _REPEATING],
            )
            series = Series(uid, plain_one, zones)
        for one in single:
            line = one.first("RECURRENCE-ID")
            if line is not None:
                series.but.add(series.key_of(moment_of(line, series.own_zones)))
        return series

    def _single(self, one: Component, uid: str, repeats: str = "") -> None:
        if not self._unwanted(one):
            zones = self._zones(one)
            start, end = span_of(one, zones)
            fields = self._fields(one, start, end, zones)
            self._keep(item_id(self._owner.person_id, "calendar", uid), fields, repeats)

    def _fields(self, one: Component, start: Moment, end: Moment, zones: Zones) -> dict[str, Value]:
        began = local(start, self._owner.zone)
        if self._said is None or self._said[0] is not one:  # once for all occurrences
            self._check_end(one, zones)
            self._said = one, (title_of(one), place_of(one), people_of(one), notes_of(one))
        title, place, people, notes = self._said[1]
        return {
            "title": title,
            "start": began,
            "end": max(began, local(end, self._owner.zone)),
            "location": place,
            "attendees": people,
            "notes": notes,
        }

    def _check_end(self, one: Component, zones: Zones) -> None:
        try:
            check_end(one, zones)
        except ValueError as error:
            self._leave(one, f"its end is left out: {error}", lost=False)

    def _keep(self, key: str, fields: dict[str, Value], repeats: str = "") -> None:
        self._items[key] = Item(key, "calendar", fields | ({"repeats": repeats} if repeats else {}))

    def _todo(self, one: Component, uid: str) -> None:
        state = one.text("STATUS").upper()
        if state == "CANCELLED":
            self._leave(one, "cancelled", on_purpose=True)
            return
        done = state == "COMPLETED" or one.first("COMPLETED") is not None
        due, why = due_of(one, self._zones(one), self._now, done=done)
        if why:
            self._leave(one, f"only its first time is kept: {why}", lost=False)
        title, notes = title_of(one), notes_of(one)
        if title == NO_TITLE and notes:
            title, _, notes = notes.partition("\n")
            title, notes = title[:_SHOWN], title[_SHOWN:] + notes
        fields: dict[str, Value] = {
            "title": title,
            "due": None if due is None else local(due, self._owner.zone),
            "list": self._name(one) or _REMINDERS,
            "done": done or one.text("PERCENT-COMPLETE") == "100",
        }
        if title == NO_TITLE and due is None:
            raise InputError("it has neither a title nor a time")
        if notes:
            self._leave(one, "reminders have no notes: these are not kept", lost=False)
        key = item_id(self._owner.person_id, "reminders", uid)
        self._items[key] = Item(key, "reminders", fields)

    def _journal(self, one: Component, uid: str) -> None:
        texts = (plain(line.text) for line in one.all("DESCRIPTION"))  # a journal may have several
        title, body = title_of(one), "\n".join(filter(None, texts)) or plain(one.text("X-ALT-DESC"))
        if title == NO_TITLE:
            title = body.strip().partition("\n")[0][:_SHOWN] or title
        if one.text("STATUS").upper() == "CANCELLED":
            self._leave(one, "cancelled", on_purpose=True)
            return
        if title == NO_TITLE:
            raise InputError("it says nothing")
        line = one.first("DTSTART", "LAST-MODIFIED", "CREATED", "DTSTAMP")
        when = self._owner.now
        if line is not None:
            when = local(moment_of(line, self._zones(one)), self._owner.zone)
        key = item_id(self._owner.person_id, "notes", uid)
        fields: dict[str, Value] = {
            "title": title,
            "body": body,
            "folder": self._name(one) or _JOURNAL,
            "modified_at": when,
        }
        self._items[key] = Item(key, "notes", fields)

    def _tried(self, one: Component, read: Callable[[Component, str], None], uid: str) -> None:
        try:
            read(one, uid)
        except (ValueError, OverflowError) as error:
            self._leave(one, reason_of(error))

    def _unwanted(self, one: Component) -> bool:
        """Whether the event does not take place, or is none of the owner's; then it is told."""
        if cancelled(one):
            self._leave(one, "cancelled", on_purpose=True)
        elif one.calendar is not None and one.calendar.text("METHOD").upper() in NO_EVENTS:
            why = "an answer to an invitation, not an event"
            self._leave(one, why, on_purpose=True)
        elif declined_by(one, self._owner.addresses):
            self._leave(one, "you declined it", on_purpose=True)
        else:
            return False
        return True

    def _leave(self, one: Component, why: str, lost: bool = True, on_purpose: bool = False) -> None:
        line = one.first("DTSTART", "DUE")
        title = " ".join(one.text("SUMMARY").split())
        what = title or (line.value.strip() if line is not None else "") or one.text("UID")
        what = what[:_SHOWN] or NO_TITLE
        left = LeftOut(KINDS[one.kind], what, why, lost=lost, on_purpose=on_purpose)
        self._left_out.append(left)

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
