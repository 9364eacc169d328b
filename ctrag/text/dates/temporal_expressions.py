"""Temporal expressions of a request: spans for retrieval, and points as argument values.

Single phrases are parsed by `clock_words`, `duration_words`, `day_words` and `part_words`, grouped
by `time_phrases` and combined here: days with day parts and clock times, items' times with "half an
hour later". python-dateutil does calendar arithmetic.

Parsers of whole sentences were measured on the 131 datetimes and 67 dates of the training plans:
parsedatetime 2.6 finds 7 and 27 of them, timefhuman 0.1.5 9 and 30, dateparser 1.5 8 and 29,
recurrent 0.4.1 7 and 29. They miss number words and items' times; parsedatetime reads the system
clock for "last night", timefhuman takes 270 ms to import and 127 ms for a first "next week", and
dateparser reads "tomorrow at seven" as the minute of the request.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import wraps
from itertools import chain, islice
from typing import Concatenate, ParamSpec, TypeVar, cast

from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped,unused-ignore]

from ctrag.text.dates.day_words import DayExpression, Grain
from ctrag.text.dates.duration_words import Duration
from ctrag.text.dates.half_days import nearest_half
from ctrag.text.dates.time_phrases import (
    TimedRequest,
    TimeGroup,
    in_usual_years,
    is_of_morning,
    read_request,
)

MAX_EXPRESSIONS = 16
MAX_DATETIMES = 12
MAX_DATES = 8
_BEGINS = {5: 0, 17: 18}
"""First hours of parts of the day that `since` takes for others."""

Point = TypeVar("Point", datetime, date, "TemporalExpression")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TemporalExpression:
    """One reading of the words of a request that name a time."""

    phrase: str
    """The words as in the request, but with single spaces."""
    start: datetime
    """First instant; for a clock time the time itself."""
    end: datetime
    """Exclusive; the time of the request after "since"."""
    grain: Grain
    """Granularity: a clock time without minutes ("at seven") is an "hour"."""


def _within_the_calendar(
    read: Callable[Concatenate[str, datetime, P], list[T]],
) -> Callable[Concatenate[str, datetime, P], list[T]]:
    """No expressions near the calendar's ends, years 1 and 9999, and none that lead beyond them."""

    @wraps(read)
    def reading(text: str, now: datetime, *args: P.args, **named: P.kwargs) -> list[T]:
        if not in_usual_years(now):
            return []
        try:
            return read(text, now, *args, **named)
        except (OverflowError, ValueError) as error:
            if "out of range" not in str(error):  # as `datetime` says it
                raise
            return []

    return cast(Callable[Concatenate[str, datetime, P], list[T]], reading)


@_within_the_calendar
def find_expressions(text: str, now: datetime) -> list[TemporalExpression]:
    """Spans of time that `text` names, likeliest first; empty when it names none.

    `now` is the local naive time of the request. A bare clock time or weekday yields one
    expression for each plausible reading. Times relative to an item ("that day", "half an hour
    later") are left out. Only the first `MAX_TEXT` characters are read; no text raises.
    """
    request = read_request(text, now, ())
    readings = [
        [
            TemporalExpression(request.text[group.begin : group.end], start, end, grain)
            for start, end, grain in islice(_spans(request, group), 4)
        ]
        for group in request.groups
    ]
    lapses = [_lapse(request, duration) for duration in request.durations]
    readings += [[expression] for expression in lapses if expression is not None]
    best_first = (
        expressions[rank]
        for rank in range(4)
        for expressions in readings
        if rank < len(expressions)
    )
    return _unique(best_first, MAX_EXPRESSIONS)


@_within_the_calendar
def offered_datetimes(text: str, now: datetime, anchors: Sequence[datetime] = ()) -> list[datetime]:
    """Points that an argument such as `due`, `until` or `since` may take, likeliest first.

    `now` is the local naive time of the request; `anchors` are the starts or dues of the items
    that it may be about, best first. Whole minutes, no duplicates, at most `MAX_DATETIMES`; the
    first anchors follow what the words name.
    """
    request = read_request(text, now, anchors)
    clear = [group for group in request.groups if not (group.denied or group.aside or group.bound)]
    limits = [group for group in request.groups if group.bound and not group.denied]
    limits = [group for group in limits if group.clock and not group.aside]
    unclear = [group for group in request.groups if group not in clear and group not in limits]
    sources: list[Iterable[datetime]] = [_points(request, group) for group in clear if group.clock]
    sources += [_shifted(request, item) for item in request.durations if not _vague(item)]
    # "Friday before twelve" is twelve where no other time is named.
    sources += [_points(request, group) for group in limits]
    sources += [_points(request, group) for group in clear if not group.clock]
    sources += [_shifted(request, item) for item in request.durations if _vague(item)]
    sources += [_points(request, group) for group in unclear]
    lists = [list(islice(source, MAX_DATETIMES)) for source in sources]
    recent = []
    if request.past:
        recent = [(request.now - timedelta(hours=back)).replace(minute=0) for back in (1, 2)]
        recent.append(_at(request.now.date()))
    heads, rest = [points[:5] for points in lists], [points[5:] for points in lists]
    return _unique(chain(*heads, request.anchors[:4], recent, *rest), MAX_DATETIMES)


@_within_the_calendar
def offered_dates(text: str, now: datetime, anchors: Sequence[datetime] = ()) -> list[date]:
    """Days that a `date` argument may take: those named, the anchors', then today and tomorrow.

    `now` and `anchors` are as for `offered_datetimes`. No duplicates, at most `MAX_DATES`.
    """
    request = read_request(text, now, anchors)
    named = [
        _part_days(request, group)
        for group in request.groups
        if (group.days.spans if group.days else group.part)
    ]
    named += [
        [point.date() for point in _shifted(request, duration)]
        for duration in request.durations
        if duration.unit not in ("minute", "hour") and not _vague(duration)
    ]
    today = request.now.date()
    usual = [*(anchor.date() for anchor in request.anchors[:5]), today, today + timedelta(days=1)]
    return _unique(chain(chain.from_iterable(named), usual), MAX_DATES)


def offered_beginnings(text: str, now: datetime) -> list[datetime]:
    """Points from which `since` may reckon, likeliest first: where what `text` names began.

    A day and its morning begin at midnight, an evening at six. Empty when it names no past time.
    """
    spans = find_expressions(text, now)
    begins = [
        one.start.replace(hour=_BEGINS.get(one.start.hour, one.start.hour))
        if one.grain == "part"
        else one.start
        for one in spans
        if one.start <= now
    ]
    return _unique(begins, MAX_DATETIMES)


def _with_day(request: TimedRequest, group: TimeGroup) -> TimeGroup:
    """`group`, with the day named elsewhere in the request where it has none itself."""
    if group.days:
        return group
    dated = [other for other in request.groups if other.days and not (other.denied or other.aside)]
    other = next((other for other in dated if not other.clock), None)
    if other is None and dated:
        # "Thursday between eight and nine, at eight" is of one day.
        return replace(group, days=dated[0].days, part=group.part)
    if other is None or (group.part and other.part):
        return group
    return replace(group, days=other.days, part=group.part or other.part)


def _offsets(request: TimedRequest, group: TimeGroup) -> list[timedelta]:
    """Readings of the group's clock time as the time since midnight, likeliest first."""
    clock = group.clock
    if clock is None or clock.hour is None:
        return []
    hours = [clock.hour] if clock.exact else [clock.hour % 12, clock.hour % 12 + 12]
    if clock.hour < 12 and is_of_morning(request.text, group):
        hours = hours[:1]
    elif group.part:
        middle = (group.part.first_hour + group.part.end_hour) / 2
        hours = [min([*hours, *(hour + 24 for hour in hours)], key=lambda hour: abs(hour - middle))]
    elif clock.exact:
        hours = [24, 0] if clock.hour == 0 and clock.minute == 0 else hours
    elif not request.wake and hours[0] < _first_hour(request, group):
        hours.reverse()
    return [timedelta(hours=hour, minutes=clock.minute) for hour in hours]


def _first_hour(request: TimedRequest, group: TimeGroup) -> int:
    """The hour before which an ambiguous clock time is one of the afternoon or evening."""
    if request.evening:
        return 11
    # Late in the evening, "tomorrow at six" is the next morning.
    tomorrow = _at(request.now.date() + timedelta(days=1)).date()
    early = request.now.hour >= 21 and group.days and group.days.spans
    return 6 if early and group.days and group.days.spans[0][0] == tomorrow else 7


def _occurrences(request: TimedRequest, group: TimeGroup) -> list[datetime]:
    """Where the group's clock time falls next, or fell last, likeliest first."""
    now, clock = request.now, group.clock
    if clock is not None and clock.hour is None:
        soon = _next_at_minute(now, clock.minute)
        return [soon, soon + timedelta(hours=1)]
    offsets = _offsets(request, group)
    days = [now.date() + timedelta(days=shift) for shift in (-1, 0, 1)]
    points = {_at(day, offset) for day in days for offset in offsets}
    behind = sorted((point for point in points if point <= now), reverse=True)
    if group.since or request.past:
        return behind[:3]
    # At night, "half past four" is soon; by day it is in the afternoon.
    night_ends = 0 if request.wake or group.part or now.hour < 5 else 5
    ahead = sorted(
        (p for p in points if p > now), key=lambda point: (point.hour < night_ends, point)
    )
    under_way = [point for point in behind[:1] if now - point <= timedelta(hours=2)]
    if under_way and now - under_way[0] <= timedelta(minutes=10):
        return [*under_way, *ahead[:3]]
    return [*ahead[:1], *under_way, *ahead[1:3]]


def _part_days(request: TimedRequest, group: TimeGroup) -> list[date]:
    if group.days and group.days.spans:
        return _days_within(request, group.days)
    today, hour = request.now.date(), request.now.hour
    begin, end = (group.part.first_hour, group.part.end_hour) if group.part else (0, 24)
    if request.past or group.since:
        return [today if hour >= begin else today - timedelta(days=1)]
    if group.target and group.part and request.anchors:
        # "Move it to the afternoon" is that of its own day, as long as that is to come.
        own = [request.anchors[0].date() + timedelta(days=more) for more in (0, 1)]
        ahead = [day for day in own if _at(day, timedelta(hours=begin)) > request.now]
        if ahead:
            return ahead[:1]
    still_open = hour < (begin if begin < 12 else end)
    return [today if still_open else today + timedelta(days=1)]


def _days_within(request: TimedRequest, named: DayExpression) -> list[date]:
    """Candidate days for `named`: for a week, the items' weekdays; two days for a weekend."""
    days: list[date] = []
    for first, last in named.spans:
        if named.grain == "week":
            days += [first + timedelta(days=item.weekday()) for item in request.anchors[:1]]
        days += [first + timedelta(days=more) for more in range(min((last - first).days, 2))]
    return days


def _spans(request: TimedRequest, group: TimeGroup) -> Iterator[tuple[datetime, datetime, Grain]]:
    grain: Grain
    if group.days and not group.days.spans:
        return
    if group.clock:
        grain = "hour" if group.clock.round_hour else "minute"
        length = timedelta(hours=1) if group.clock.round_hour else timedelta(minutes=1)
        spans = [(start, start + length) for start in _clock_points(request, group)]
    elif group.part:
        grain, part = "part", group.part
        spans = [
            (_at(day, timedelta(hours=part.first_hour)), _at(day, timedelta(hours=part.end_hour)))
            for day in _part_days(request, group)
        ]
    elif group.days:
        grain = group.days.grain
        spans = [(_at(first), _at(last)) for first, last in group.days.spans]
    else:
        return
    for start, end in spans:
        yield start, request.now if group.since and start < request.now else end, grain


def _clock_points(request: TimedRequest, group: TimeGroup) -> list[datetime]:
    """Points for a group with a clock time: on the named day, otherwise near now or the anchors."""
    full = _with_day(request, group)
    anchors = request.anchors[:3]
    if full.days and full.days.spans and full.clock and full.clock.hour is not None:
        points = []
        for day in (first for first, _ in full.days.spans):
            readings = [_at(day, offset) for offset in _offsets(request, full)]
            item = next((anchor for anchor in anchors if anchor.date() == day), None)
            if item is not None and not full.part:
                if full.days.anchored:
                    readings = _before_first(readings, item)
                elif request.shift:
                    readings = nearest_half(readings, item)
            points += readings
        return points
    near_now = _occurrences(request, full)
    near_items: list[datetime] = []
    for anchor in anchors[:2]:
        if full.clock and full.clock.hour is None:
            near_items.append(_next_at_minute(anchor, full.clock.minute))
        else:
            readings = [_at(anchor.date(), offset) for offset in _offsets(request, full)]
            near_items += nearest_half(readings, anchor)
    return near_items + near_now if request.shift else near_now + near_items


def _before_first(readings: list[datetime], item: datetime) -> list[datetime]:
    return sorted(readings, key=lambda point: point >= item)


def _next_at_minute(point: datetime, minute: int) -> datetime:
    later = point.replace(minute=minute)
    return later if later > point else later + timedelta(hours=1)


def _points(request: TimedRequest, group: TimeGroup) -> Iterator[datetime]:
    """Points for any group, likeliest first; without a clock time, at the items' times."""
    if group.clock:
        yield from _clock_points(request, group)
        return
    part = group.part
    first_hour, end_hour = (part.first_hour, part.end_hour) if part else (0, 24)
    usual = part.usual_hours if part else (9, 18, 12)
    days = _part_days(request, group)
    begins = [_at(day, timedelta(hours=first_hour)) for day in days]
    if request.past or group.since or days[0] < request.now.date():
        yield from begins[:1]
    else:
        clocks = [item.time() for item in request.anchors[:3]]
        borrowed = [datetime.combine(day, clock) for clock in clocks for day in days]
        day_end = timedelta(hours=end_hour)
        fitting = [(point, _at(point.date(), day_end)) for point in borrowed]
        yield from (point for point, end in fitting if first_hour <= point.hour and point < end)
    yield from (_at(day, timedelta(hours=hour)) for day in days for hour in usual)
    yield from begins


def _shifted(request: TimedRequest, duration: Duration) -> Iterator[datetime]:
    """Points that are `duration` away from now or from an item, by its relation."""
    now, items = request.now, request.anchors[:3]
    if duration.relation in ("ago", "past"):
        yield _moved(now, duration, -1)
    elif duration.relation == "from_now":
        yield _moved(now, duration, 1)
        if duration.unit not in ("minute", "hour"):
            day = _moved(now, duration, 1).date()
            yield from (datetime.combine(day, item.time()) for item in items)
    elif duration.relation == "earlier":
        yield from (_moved(item, duration, -1) for item in items)
    else:
        yield from (_moved(item, duration, 1) for item in items[:2])
        yield _moved(now, duration, 1)


def _vague(duration: Duration) -> bool:
    """Whether it may not name a time at all ("twice a day")."""
    return duration.relation == "open" and duration.unit not in ("minute", "hour")


def _moved(point: datetime, duration: Duration, direction: int) -> datetime:
    amount = direction * duration.amount
    if duration.unit in ("month", "year"):
        months = round(amount * (12 if duration.unit == "year" else 1))
        moved: datetime = point + relativedelta(months=months)
        return moved
    minutes = {"minute": 1, "hour": 60, "day": 1440, "week": 10080}[duration.unit]
    return point + timedelta(minutes=round(amount * minutes))


def _lapse(request: TimedRequest, duration: Duration) -> TemporalExpression | None:
    """The expression of a duration relative to now; None for one relative to an item."""
    phrase = request.text[duration.begin : duration.end]
    if duration.relation == "past":
        start = _moved(request.now, duration, -1)
        return TemporalExpression(phrase, start, request.now, duration.unit)
    if duration.relation not in ("ago", "from_now"):
        return None
    start = _moved(request.now, duration, -1 if duration.relation == "ago" else 1)
    if duration.unit not in ("minute", "hour"):
        start = _at(start.date())
    end = _moved(start, replace(duration, amount=1), 1)
    return TemporalExpression(phrase, start, end, duration.unit)


def _at(day: date, offset: timedelta = timedelta()) -> datetime:
    return datetime.combine(day, time()) + offset


def _unique(points: Iterable[Point], limit: int) -> list[Point]:
    return list(islice(dict.fromkeys(points), limit))
