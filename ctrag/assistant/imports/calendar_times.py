"""Times, durations and time zones of calendar components."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

from ctrag.assistant.imports.calendar_lines import Component, Property
from ctrag.assistant.imports.zones import Zones, zone_named
from ctrag.errors import InputError

Moment = date | datetime
"""A day, or a time with its zone."""
_TIME = re.compile(
    r"(?P<y>\d{4})-?(?P<m>\d\d)-?(?P<d>\d\d)"
    r"(?:[T ]?(?P<h>\d\d):?(?P<min>\d\d):?(?P<s>\d\d)?(?:\.\d+)?(?P<z>Z|[+-]\d\d:?\d\d)?)?",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"(?P<sign>[+-]?)P(?:(?P<w>\d{1,5})W)?(?:(?P<d>\d{1,6})D)?"
    r"(?:T(?:(?P<h>\d{1,6})H)?(?:(?P<m>\d{1,7})M)?(?:(?P<s>\d{1,8})S)?)?",
    re.IGNORECASE,
)
_YES = ("TRUE", "1")
_MOST_RULES = 200
"""Changes of a zone's offset that a file may define."""


def moment_of(line: Property, zones: Zones) -> Moment:
    """The day or time that a line has; a time without a zone is in the fallback of `zones`.

    Raises:
        ValueError: It is no time, or there is no such day.
    """
    found = parsed(line.value, line.parameters.get("TZID", ""), zones)
    said = line.parameters.get("VALUE", "").upper()
    return found.date() if said == "DATE" and isinstance(found, datetime) else found


def moments_of(lines: list[Property], zones: Zones) -> list[Moment]:
    """All days and times of lines such as EXDATE and RDATE; of a period, its start. Those that
    cannot be read are passed over."""
    return [start for start, _ in periods_of(lines, zones)]


def periods_of(lines: list[Property], zones: Zones) -> list[tuple[Moment, timedelta | None]]:
    """As `moments_of`, each with how long it lasts where its line says it."""
    found = []
    for line in lines:
        zone = line.parameters.get("TZID", "")
        for value in re.split("[,;]", line.value):  # version 1.0 had semicolons
            first, _, last = value.partition("/")
            try:
                start = parsed(first, zone, zones)
                found.append((start, _length(start, last, zone, zones) if last else None))
            except (ValueError, OverflowError):
                continue
    return found


def _length(start: Moment, last: str, zone: str, zones: Zones) -> timedelta | None:
    """How long a period is, whose end is a time or a length."""
    length = _duration(last)
    if length is None:
        end = instant(parsed(last, zone, zones), zones.fallback)
        length = end - instant(start, zones.fallback)
    return length if length > timedelta() else None


def parsed(value: str, zone: str, zones: Zones) -> Moment:
    """A day or time from its spelling; see `moment_of`."""
    match = _TIME.fullmatch(value.strip())
    if match is None:
        raise InputError(f"{value.strip()[:40]!r} is not a time")
    try:
        day = date(int(match["y"]), int(match["m"]), int(match["d"]))
        if match["h"] is None:
            return day
        hour = int(match["h"])
        if hour == 24 and int(match["min"]) == 0:  # the end of the day
            day, hour = day + timedelta(days=1), 0
        clock = time(hour, int(match["min"]), min(int(match["s"] or 0), 59))
    except (ValueError, OverflowError):
        raise InputError(f"{value.strip()[:40]!r} is no day or time that there is") from None
    offset = match["z"] or ""
    where: tzinfo | None = zones.fallback
    if offset.upper() == "Z":
        where = UTC
    elif offset:
        where = zone_named(offset)
    elif zone:
        where = zones.zone(zone)
    return datetime.combine(day, clock, where)


def duration_of(line: Property) -> timedelta | None:
    """A length such as `PT1H30M`, None where it is none or negative."""
    return _duration(line.value)


def _duration(value: str) -> timedelta | None:
    match = _DURATION.fullmatch(value.strip())
    if match is None or match["sign"] == "-":
        return None
    amounts = {key: int(match[key] or 0) for key in "wdhms"}
    return timedelta(
        weeks=amounts["w"],
        days=amounts["d"],
        hours=amounts["h"],
        minutes=amounts["m"],
        seconds=amounts["s"],
    )


def span_of(component: Component, zones: Zones) -> tuple[Moment, Moment]:
    """Start and end. Without an end, a day lasts a day and a meeting an hour; an end before the
    start is the start, of a day also one that is no later. A changed occurrence that says no start
    is when it would have been.

    Raises:
        ValueError: It has no start, or one that is no time.
        OverflowError: It ends after the year 9999.
    """
    line = component.first("DTSTART", "RECURRENCE-ID")
    if line is None:
        raise InputError("it has no start")
    start = moment_of(line, zones)
    last = component.first("DTEND")
    day_zone = _zone_of_days(component, start, zones)
    if day_zone is not None and isinstance(start, datetime):
        start = start.astimezone(day_zone).date()
    if last is not None:
        try:
            end = moment_of(last, zones)
        except ValueError:
            pass  # as if it had none
        else:
            if day_zone is not None and isinstance(end, datetime):
                end = end.astimezone(day_zone).date()
            if not isinstance(start, datetime) and not isinstance(end, datetime) and end <= start:
                return start, start + timedelta(days=1)
            before = instant(end, zones.fallback) < instant(start, zones.fallback)
            return start, start if before else end
    given = component.first("DURATION")
    length = None if given is None else duration_of(given)
    if length is None:
        length = timedelta(hours=1) if isinstance(start, datetime) else timedelta(days=1)
    if not isinstance(start, datetime):
        whole = length % timedelta(days=1) == timedelta()
        midnight = datetime.combine(start, time(), zones.fallback)
        return start, start + length if whole else midnight + length
    return start, (start.astimezone(UTC) + length).astimezone(start.tzinfo)


def check_end(component: Component, zones: Zones) -> None:
    """Fail where the component says an end or a length that is none, or an end before its start.

    Raises:
        ValueError: It does.
    """
    last, length = component.first("DTEND"), component.first("DURATION")
    if last is not None:
        end, start = moment_of(last, zones), component.first("DTSTART", "RECURRENCE-ID")
        began = end if start is None else moment_of(start, zones)
        if instant(end, zones.fallback) < instant(began, zones.fallback):
            raise InputError("it ends before it begins")
    elif length is not None and duration_of(length) is None:
        raise InputError(f"{length.value.strip()[:40]!r} is no length")


def _zone_of_days(component: Component, start: Moment, zones: Zones) -> tzinfo | None:
    """The zone in which an event begins at midnight that Exchange marks as one of whole days;
    None for any other event."""
    if component.text("X-MICROSOFT-CDO-ALLDAYEVENT", "X-FUNAMBOL-ALLDAY").upper() not in _YES:
        return None
    if not isinstance(start, datetime):
        return None
    places = (start.tzinfo, zones.fallback)
    return next((one for one in places if start.astimezone(one).time() == time()), None)


def instant(moment: Moment, zone: tzinfo) -> datetime:
    """The moment in UTC; a day begins at midnight in `zone`.

    Raises:
        OverflowError: It lies outside of the years 1 to 9999.
    """
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time(), zone)
    return moment.astimezone(UTC)


def local(moment: Moment, zone: tzinfo) -> datetime:
    """The moment as a clock in `zone` shows it, to the minute and without a zone.

    Raises:
        OverflowError: It lies outside of the years 1 to 9999.
    """
    if isinstance(moment, datetime):
        # By way of UTC: a time that a clock leaves out in spring is the one that it shows then.
        there = moment.astimezone(UTC).astimezone(zone)
        return there.replace(tzinfo=None, second=0, microsecond=0)
    return datetime.combine(moment, time())


def stamp(moment: Moment) -> str:
    """The moment as identities of occurrences have it: a day, or a time in UTC."""
    if isinstance(moment, datetime):
        return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return f"{moment:%Y%m%d}"


def zones_of(found: list[Component], fallback: tzinfo) -> Zones:
    """The zones of a file with these components; times without one are in `fallback`."""
    own: dict[str, tzinfo] = {}
    for component in found:
        if component.kind == "VTIMEZONE" and component.text("TZID"):
            rules = _rules(component)
            if rules is not None:
                own.setdefault(component.text("TZID"), rules)
    return Zones(own, fallback)


def _rules(component: Component) -> tzinfo | None:
    """The zone that the component defines, or None where it cannot be read."""
    from icalendar import Timezone

    name = component.text("TZID")
    lines = ["BEGIN:VTIMEZONE", "TZID:" + re.sub(r"\s+", " ", name)]
    for part in component.parts[:_MOST_RULES]:
        needed = {one: part.first(one) for one in ("DTSTART", "TZOFFSETFROM", "TZOFFSETTO")}
        if not all(needed.values()):
            continue
        lines.append(f"BEGIN:{part.kind}")
        lines += [f"{one}:{line.value.strip()}" for one, line in needed.items() if line]
        rule = part.text("RRULE").upper()
        # Rules of zones repeat once a year; any other would be worked out for ages.
        if "FREQ=YEARLY" in rule and not re.search(
            r"BY(HOUR|MINUTE|SECOND|SETPOS)|INTERVAL=(?!1\b)", rule
        ):
            lines.append(f"RRULE:{rule}")
        lines += [f"RDATE:{one.value.strip()}" for one in part.all("RDATE")[:_MOST_RULES]]
        lines.append(f"END:{part.kind}")
    lines.append("END:VTIMEZONE")
    if len(lines) < 4:
        return None
    try:
        made: tzinfo = Timezone.from_ical("\r\n".join(lines) + "\r\n").to_tz(lookup_tzid=False)
        made.utcoffset(datetime(2026, 7, 1))
    except Exception:  # whatever a library makes of a broken zone: the name may still say it
        return None
    return made


def name_of(zone: tzinfo | None) -> str:
    """The name under which `zone_named` finds the zone; UTC's is empty. A file's own zone has that
    of a zone that shows the same times this year and next."""
    if zone is UTC or zone is None:
        return ""
    if isinstance(zone, ZoneInfo):
        return zone.key
    offset = zone.utcoffset(None)
    if offset is None:
        same = _same_times(tuple(zone.utcoffset(day) or timedelta() for day in _SAMPLES))
        if same:
            return same
        offset = zone.utcoffset(_SAMPLES[0]) or timedelta()
    minutes = int(offset.total_seconds()) // 60
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


_SAMPLES = tuple(datetime(2026, 1, 4, 12) + timedelta(weeks=week) for week in range(104))


@cache
def _same_times(offsets: tuple[timedelta, ...]) -> str:
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

    names: set[str] = set(WINDOWS_TO_OLSON.values())
    for name in sorted(names):
        zone = zone_named(name)
        if zone is not None and all(
            day.replace(tzinfo=zone).utcoffset() == offset
            for day, offset in zip(_SAMPLES, offsets, strict=True)
        ):
            return name
    return ""
