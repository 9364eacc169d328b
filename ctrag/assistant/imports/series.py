"""Repeating events: their occurrences, and the text from which further ones are worked out later.

Occurrences are stored as events, each with the text of its series (`repeats`), in iCalendar's own
lines: so the file is not needed when time has moved on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import islice

from ctrag.assistant.imports.calendar_lines import Component, components, quoted
from ctrag.assistant.imports.calendar_times import (
    Moment,
    instant,
    local,
    moment_of,
    moments_of,
    name_of,
    periods_of,
    span_of,
    stamp,
    zones_of,
)
from ctrag.assistant.imports.rules import MOST_FUTURE, MOST_PAST, Rule, day_of, whole_day
from ctrag.assistant.imports.zones import Zones
from ctrag.errors import InputError
from stores.people.items import Item

_MOST_DATES = 1000
"""Single dates (RDATE) of a series that are read."""
_LONGEST_TEXT = 20_000
"""Characters of a stored series; beyond, its exceptions of long ago are dropped."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One of the times at which a series happens."""

    key: str
    """Its identity inside the series: when the rule has it, whatever became of it."""
    start: Moment
    end: Moment
    source: Component
    """The component that describes it."""


@dataclass
class Series:
    """One repeating event."""

    uid: str
    master: Component
    zones: Zones
    later: list[Component] = field(default_factory=list)
    """Components that change an occurrence and all that follow (RANGE=THISANDFUTURE)."""
    but: set[str] = field(default_factory=set)
    """Keys of occurrences that do not happen, or that a component of their own describes; a day's
    key means all of that day."""
    since: datetime | None = field(default=None, init=False)
    """Before it (UTC), `occurrences` had none worked out; None where it had all."""

    def __post_init__(self) -> None:
        self.start, self.end = span_of(self.master, self.zones)
        # Further times without a zone are meant in that of the first.
        self.own_zones = self.zones.within(getattr(self.start, "tzinfo", None))
        periods = periods_of(self.master.all("RDATE"), self.own_zones)[:_MOST_DATES]
        self.dates = [self._alike(one) if self._of_days else one for one, _ in periods]
        self._lengths = {self.key_of(one): length for one, length in periods if length}
        excepted = moments_of(self.master.all("EXDATE"), self.own_zones)
        self.without = frozenset(self.key_of(one) for one in excepted)
        self.but |= self.without
        lines = [line.value for line in self.master.all("RRULE") if line.value.strip()]
        self.rules = [Rule(line, self.start, self.zones) for line in lines[:3]]
        lines = [line.value for line in self.master.all("EXRULE") if line.value.strip()]
        self._excepting = [Rule(line, self.start, self.zones) for line in lines[:3]]

    @property
    def _of_days(self) -> bool:
        return not isinstance(self.start, datetime)

    @property
    def repeats(self) -> bool:
        """Whether it is a series at all."""
        return bool(self.rules or self.dates)

    @property
    def endless(self) -> bool:
        """Whether there always are further occurrences."""
        return any(rule.endless for rule in self.rules)

    def key_of(self, moment: Moment) -> str:
        """The identity of the occurrence that the rules have at `moment`: of an all-day series, or
        where only the day is given, the day."""
        if self._of_days:
            return stamp(whole_day(moment, self.zones.fallback))
        return stamp(moment)

    def occurrences(self, now: datetime) -> list[Occurrence]:
        """Those around `now` (UTC), in order of time; see `Rule.span` and `MOST_PAST`."""
        import recurring_ical_events
        from icalendar import Calendar

        first, middle, last = self._span(now)
        self.but |= self._excepted_by_rule(last)
        calendar = Calendar()
        for number, source in enumerate((self.master, *self.later)):
            calendar.add_component(self._event(source, number, last))
        query = recurring_ical_events.of(calendar, keep_recurrence_attributes=False)
        found = [self._occurrence(event) for event in query.between(first, last)]
        found = [one for one in found if not self._excepted(one) and not self._too_late(one)]
        unique = {one.key: one for one in found}
        self.since = first if first > instant(self.start, self.zones.fallback) else None
        found = sorted(unique.values(), key=lambda one: instant(one.start, self.zones.fallback))
        begun = [one for one in found if instant(one.start, self.zones.fallback) < middle]
        if len(begun) > MOST_PAST:
            self.since = instant(begun[-MOST_PAST].start, self.zones.fallback)
        return [*begun[-MOST_PAST:], *found[len(begun) :][:MOST_FUTURE]]

    def text(self) -> str:
        """The series in iCalendar's lines, without title, place and people: see `series_of`."""
        lines = list(self._lines(self.master, sorted(self.but)))
        if sum(map(len, lines)) > _LONGEST_TEXT:
            recent = sorted(self.but)[-_LONGEST_TEXT // 40 :]
            lines = list(self._lines(self.master, recent))
        for one in self.later:
            lines += self._lines(one, [])
        return "\n".join(lines)

    def _lines(self, source: Component, but: list[str]) -> Iterator[str]:
        start, end = span_of(source, self.zones)
        yield "BEGIN:VEVENT"
        yield f"UID:{self.uid}"
        again = source.first("RECURRENCE-ID")
        if again is not None:
            yield _line("RECURRENCE-ID", [moment_of(again, self.zones)])
        yield _line("DTSTART", [start])
        yield _line("DTEND", [end])
        if source is self.master:
            yield from (f"RRULE:{rule.text()}" for rule in self.rules)
            yield from (f"EXRULE:{rule.text()}" for rule in self._excepting)
        if source is self.master and self.dates:
            yield _line("RDATE", self.dates)
        if but:
            yield "EXDATE:" + ",".join(but)
        yield "END:VEVENT"

    def _span(self, now: datetime) -> tuple[datetime, datetime, datetime]:
        zone = self.zones.fallback
        start = instant(self.start, zone)
        spans = [rule.span(now) for rule in self.rules]
        dates = [instant(one, zone) for one in self.dates]
        first = min([one[0] for one in spans] + dates + ([] if spans else [start]))
        last = max([one[2] for one in spans] + [one + timedelta(days=1) for one in dates])
        middle = max(start, min(now, max([one[1] for one in spans] + dates)))
        return first, middle, max(last, start + timedelta(days=1))

    def _event(self, source: Component, number: int, last: datetime) -> "object":
        from icalendar import Event, vRecur

        event = Event()
        event.add("uid", "series")
        start, end = span_of(source, self.zones)
        event.add("dtstart", start)
        event.add("dtend", _like(end, start))
        event.add("x-number", str(number))
        again = source.first("RECURRENCE-ID")
        if source is not self.master and again is not None:
            moment = self._alike(moment_of(again, self.zones))
            event.add("recurrence-id", moment, parameters={"RANGE": "THISANDFUTURE"})
            event.add("sequence", number)
            return event
        for rule in self.rules:
            event.add("rrule", vRecur.from_ical(rule.text(last)))
        for one in self.dates:
            event.add("rdate", self._alike(one))
        return event

    def _alike(self, moment: Moment) -> Moment:
        """A moment as the series has its own: a day, or a time in its zone."""
        if not isinstance(self.start, datetime):
            return whole_day(moment, self.zones.fallback)
        if isinstance(moment, datetime):
            return moment.astimezone(self.start.tzinfo)
        return datetime.combine(moment, self.start.timetz())

    def _occurrence(self, event: "object") -> Occurrence:
        found: dict[str, object] = event  # type: ignore[assignment]
        source = (self.master, *self.later)[int(str(found["X-NUMBER"]))]
        start: Moment = found["DTSTART"].dt  # type: ignore[attr-defined]
        end: Moment = found["DTEND"].dt  # type: ignore[attr-defined]
        key = self.key_of(self._planned(start, source))
        length = self._lengths.get(key)
        if length is not None and source is self.master and isinstance(start, datetime):
            end = (start.astimezone(UTC) + length).astimezone(start.tzinfo)
        return Occurrence(key, start, end, source)

    def _planned(self, start: Moment, source: Component) -> Moment:
        """When the rule had an occurrence that now begins at `start`."""
        again = source.first("RECURRENCE-ID")
        if source is self.master or again is None:
            return start
        zone = self.zones.fallback
        began, planned = span_of(source, self.zones)[0], moment_of(again, self.zones)
        if not isinstance(start, datetime):
            return start - (day_of(began, None) - whole_day(planned, self.zones.fallback))
        moved = local(began, start.tzinfo or zone) - local(
            self._alike(planned), start.tzinfo or zone
        )
        return start - moved

    def _too_late(self, one: Occurrence) -> bool:
        """Whether the rule has ended before, where it has both an end and a count."""
        ends = [rule.until for rule in self.rules if rule.until is not None]
        if len(ends) < len(self.rules) or not ends or self.dates:
            return False
        return instant(one.start, UTC) > max(ends)

    def _excepted_by_rule(self, last: datetime) -> set[str]:
        """Keys of occurrences that rules take out (EXRULE, which older programs write)."""
        from dateutil.rrule import rrulestr

        start = self.start
        first = start if isinstance(start, datetime) else datetime.combine(start, time())
        keys = set()
        for rule in self._excepting:
            for one in islice(rrulestr(rule.text(last), dtstart=first), _MOST_DATES):
                keys.add(self.key_of(one if isinstance(start, datetime) else one.date()))
        return keys

    def _excepted(self, one: Occurrence) -> bool:
        if one.key in self.but:
            return True
        if not isinstance(self.start, datetime) or not isinstance(one.start, datetime):
            return False
        return f"{one.start:%Y%m%d}" in self.but


def series_of(text: str, zone: tzinfo) -> Series:
    """The series that `Series.text` wrote.

    Args:
        text: Its lines.
        zone: In which days begin.

    Raises:
        ValueError: The text is none that `Series.text` writes.
    """
    found = [one for one in components(text.encode()) if one.kind == "VEVENT"]
    if not found:
        raise InputError("repeats: must be the lines of an iCalendar event")
    uid = found[0].text("UID")
    return Series(uid, found[0], zones_of([], zone), found[1:])


def uid_of(item: Item) -> str:
    """The identity of the series that a stored event is of; empty where it does not repeat."""
    return item.text("repeats").partition("\nUID:")[2].partition("\n")[0]


def utc(moment: datetime, zone: tzinfo) -> datetime:
    """A clock's time in `zone` as UTC."""
    return moment.replace(tzinfo=zone).astimezone(UTC)


def _like(end: Moment, start: Moment) -> Moment:
    """An end as a day where the start is one, else as a time in the zone of the start."""
    if isinstance(start, datetime):
        whole = end if isinstance(end, datetime) else datetime.combine(end, time(), start.tzinfo)
        return whole.astimezone(start.tzinfo)
    if not isinstance(end, datetime):
        return end
    return end.date() + timedelta(days=1 if end.time() > time() else 0)


def _line(name: str, moments: list[Moment]) -> str:
    """A line of days or times, which are alike."""
    first = moments[0]
    if not isinstance(first, datetime):
        days = ",".join(f"{day_of(one, None):%Y%m%d}" for one in moments)
        return f"{name};VALUE=DATE:{days}"
    zone = name_of(first.tzinfo)
    values = [one for one in moments if isinstance(one, datetime)]
    if not zone:
        return f"{name}:" + ",".join(f"{one.astimezone(UTC):%Y%m%dT%H%M%SZ}" for one in values)
    there = [one.astimezone(first.tzinfo) for one in values]
    return f"{name};TZID={quoted(zone)}:" + ",".join(f"{one:%Y%m%dT%H%M%S}" for one in there)
