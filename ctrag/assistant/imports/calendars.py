"""Calendars (.ics): events, with all occurrences of repeating ones, to-dos and journals.

Each component is read apart. What a calendar has in several versions is read in its newest one.
"""

from collections.abc import Sequence
from dataclasses import replace

from ctrag.assistant.imports.calendar_lines import Component, components
from ctrag.assistant.imports.calendar_records import SHOWN, CalendarRecords
from ctrag.assistant.imports.calendar_text import (
    NO_TITLE,
    declined_by,
    has_inner_files,
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
)
from ctrag.assistant.imports.calendar_todos import comes_again, done_alone, due_of, reason_of
from ctrag.assistant.imports.calendar_versions import (
    NO_EVENTS,
    OLDER,
    cancelled,
    for_the_future,
    groups,
    method_of,
    version_of,
)
from ctrag.assistant.imports.found import Found, Owner
from ctrag.assistant.imports.rules import day_of
from ctrag.assistant.imports.series import Series, utc
from ctrag.assistant.imports.zones import Zones
from ctrag.errors import InputError
from stores.people.items import Item, Value

_REMINDERS, _JOURNAL = "Reminders", "Journal"
"""List of to-dos and folder of journals of a calendar without a name."""
_REPEATING = ("RRULE", "RDATE", "EXDATE", "EXRULE")
_NEVER = "it has no occurrence from last year to the year after next"


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


class _Reader(CalendarRecords):
    """Reads the components of one file for one owner."""

    def __init__(self, owner: Owner, found: list[Component]) -> None:
        super().__init__(owner, found)
        self._now = utc(owner.now, owner.zone)
        self._said: tuple[Component, tuple[str, str | None, tuple[str, ...], str | None]] | None
        self._said = None

    def read(self, uid: str, group: list[Component]) -> None:
        """One event, to-do or journal: all its components."""
        kind, zones = group[0].kind, self._zones(group[0])
        zones.unknown.clear()
        if kind == "VFREEBUSY":
            self._leave(group[0], "free or busy time without an event", on_purpose=True)
        elif kind == "VEVENT":
            self._event(uid, group)
        elif kind == "VTODO":
            self._task(uid, group)
        else:
            for one in self._newest(group, self._key):
                self._tried(one, self._journal, uid + self._key(one))
        if zones.unknown:
            names = ", ".join(sorted(zones.unknown))[:SHOWN]
            why = f"its time zone is unknown ({names}): its times are taken as {zones.fallback}"
            self._leave(group[0], why, lost=False)

    def _event(self, uid: str, group: list[Component]) -> None:
        events = [one for one in group if method_of(one) not in NO_EVENTS]
        for one in group if events else ():
            if method_of(one) in NO_EVENTS:  # it says nothing of the event that it answers
                self._unwanted(one)
        parts = self._newest(events or group, self._key)
        master = next((one for one in parts if one.first("RECURRENCE-ID") is None), None)
        again = [one for one in parts if one is not master]
        if master is None:
            for one in again:
                self._single(one, uid)
            return
        if self._unwanted(master):
            self._gone(master, uid, uid)
            return
        later = [one for one in again if for_the_future(one) and not cancelled(one)]
        single = [one for one in again if one not in later]
        try:
            series = self._series(uid, master, single, later)
        except (ValueError, OverflowError) as error:
            self._leave(master, reason_of(error))
            series = None
        if series is None or not series.repeats:
            if series is not None:
                master = self._changed(master, single, series)
                self._alone(master, uid)
            for one in single:
                if one is not master:
                    self._single(one, uid, with_series=True)
            return
        # An occurrence that was changed and then taken out of the series is gone.
        single = [one for one in single if self._key(one) not in series.without]
        text = series.text()
        try:
            occurrences = series.occurrences(self._now)
        except Exception as error:  # whatever the library makes of a rule: only this one is lost
            self._leave(
                master, f"its repetition cannot be worked out ({reason_of(error)})", lost=False
            )
            self._alone(master, uid)
            occurrences = []
        else:
            if not occurrences and not single:
                self._leave(master, _NEVER, on_purpose=True)
            ids = [self._id("calendar", uid + found.key) for found in occurrences]
            since = None if series.since is None else local(series.since, self._owner.zone)
            self._version(master, uid, ids, uid=uid, since=since)
        for one in single:
            self._single(one, uid, text, with_series=True)
        for found in occurrences:
            fields = self._fields(found.source, found.start, found.end, series.zones)
            self._keep(self._id("calendar", uid + found.key), fields, text)

    def _changed(self, master: Component, single: list[Component], series: Series) -> Component:
        """What does not repeat: itself, or what it was changed to as if it did."""
        for one in single:
            line = one.first("RECURRENCE-ID")
            if line is None or version_of(one) < version_of(master):
                continue
            when = moment_of(line, series.own_zones)
            if series.key_of(when) in (
                series.key_of(series.start),
                stamp(day_of(series.start, None)),
            ):
                self._leave(master, OLDER, on_purpose=True)
                return one
        return master

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

    def _alone(self, one: Component, uid: str) -> None:
        """An event that does not repeat."""
        if self._unwanted(one):
            self._gone(one, uid, uid)
        elif self._tried(one, self._once, uid):
            self._version(one, uid, [self._id("calendar", uid)], uid=uid)

    def _single(
        self, one: Component, uid: str, repeats: str = "", *, with_series: bool = False
    ) -> None:
        """An occurrence that was changed or cancelled."""
        about = uid + self._key(one)
        if self._unwanted(one):
            self._gone(one, about, "", of=uid, with_series=with_series)
        elif self._tried(one, lambda part, key: self._once(part, key, repeats), about):
            self._version(
                one, about, [self._id("calendar", about)], of=uid, with_series=with_series
            )

    def _once(self, one: Component, uid: str, repeats: str = "") -> None:
        zones = self._zones(one)
        start, end = span_of(one, zones)
        fields = self._fields(one, start, end, zones)
        self._keep(self._id("calendar", uid), fields, repeats)

    def _fields(self, one: Component, start: Moment, end: Moment, zones: Zones) -> dict[str, Value]:
        began = local(start, self._owner.zone)
        if self._said is None or self._said[0] is not one:  # once for all occurrences
            self._check(one, zones)
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

    def _check(self, one: Component, zones: Zones) -> None:
        """Say what of the event is not kept."""
        try:
            check_end(one, zones)
        except ValueError as error:
            self._leave(one, f"its end is left out: {error}", lost=False)
        if has_inner_files(one):
            self._leave(one, "files inside of it are not kept", lost=False)

    def _keep(self, key: str, fields: dict[str, Value], repeats: str = "") -> None:
        self._items[key] = Item(key, "calendar", fields | ({"repeats": repeats} if repeats else {}))

    def _task(self, uid: str, group: list[Component]) -> None:
        """A to-do: the series, or the only one, and what became of single times."""
        zones = self._zones(group[0])
        parts = self._newest(group, lambda one: self._key(one) or done_alone(one, group, zones))
        master = next((one for one in parts if not self._key(one) and comes_again(one)), None)
        but = []
        for one in parts:
            key = self._key(one) or (done_alone(one, group, zones) if one is not master else "")
            but += [key] if key else []
            if one is not master:
                self._tried(one, self._todo, uid + key)
        if master is not None:
            self._tried(master, lambda one, about: self._todo(one, about, but), uid)

    def _todo(self, one: Component, uid: str, but: Sequence[str] = ()) -> None:
        if one.text("STATUS").upper() == "CANCELLED":
            self._leave(one, "cancelled", on_purpose=True)
            self._gone(one, uid)
            return
        due = due_of(one, self._zones(one), self._now, but)
        if due.why:
            self._leave(one, f"only its first time is kept: {due.why}", lost=False)
        title, notes = title_of(one), notes_of(one)
        if title == NO_TITLE and notes:
            title, _, notes = notes.partition("\n")
            title, notes = title[:SHOWN], title[SHOWN:] + notes
        fields: dict[str, Value] = {
            "title": title,
            "due": None if due.moment is None else local(due.moment, self._owner.zone),
            "list": self._name(one) or _REMINDERS,
            "done": due.done,
        }
        if title == NO_TITLE and due.moment is None:
            raise InputError("it has neither a title nor a time")
        if notes:
            self._leave(one, "reminders have no notes: these are not kept", lost=False)
        key = self._id("reminders", uid)
        self._items[key] = Item(key, "reminders", fields)
        self._version(one, uid, [key])

    def _journal(self, one: Component, uid: str) -> None:
        texts = (plain(line.text) for line in one.all("DESCRIPTION"))  # a journal may have several
        title, body = title_of(one), "\n".join(filter(None, texts)) or plain(one.text("X-ALT-DESC"))
        if title == NO_TITLE:
            title = body.strip().partition("\n")[0][:SHOWN] or title
        if one.text("STATUS").upper() == "CANCELLED":
            self._leave(one, "cancelled", on_purpose=True)
            self._gone(one, uid)
            return
        if title == NO_TITLE:
            raise InputError("it says nothing")
        line = one.first("DTSTART", "LAST-MODIFIED", "CREATED", "DTSTAMP")
        when = self._owner.now
        if line is not None:
            when = local(moment_of(line, self._zones(one)), self._owner.zone)
        key = self._id("notes", uid)
        fields: dict[str, Value] = {
            "title": title,
            "body": body,
            "folder": self._name(one) or _JOURNAL,
            "modified_at": when,
        }
        self._items[key] = Item(key, "notes", fields)
        self._version(one, uid, [key])

    def _unwanted(self, one: Component) -> bool:
        """Whether the event does not take place, or is none of the owner's; then it is told."""
        if cancelled(one):
            self._leave(one, "cancelled", on_purpose=True)
        elif method_of(one) in NO_EVENTS:
            why = "an answer to an invitation, not an event"
            self._leave(one, why, on_purpose=True)
        elif declined_by(one, self._owner.addresses):
            self._leave(one, "you declined it", on_purpose=True)
        else:
            return False
        return True
