"""Whether and when a day has time, by its events."""

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from ctrag.assistant.apps.call import Call
from ctrag.assistant.apps.lookup import contains, moment_of, title_of
from ctrag.text.dates.temporal_expressions import find_expressions
from ctrag.text.words import telling_words
from stores.people.items import Item

NEW_EVENT_LENGTH = timedelta(hours=1)
_ASKS = re.compile(r"\b(free|available|busy|(?:have|got|any) (?:\w+ )?time)\b", re.IGNORECASE)
"""Words of a request that asks whether there is time."""
_BETWEEN = re.compile(
    r"\b(?:between\s+(?P<one>.{2,40}?)\s+and|from\s+(?P<from>.{2,40}?)\s+(?:to|until|till?))\s+"
    r"(?P<other>.{2,40})",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"\b(?P<side>before|after)\s+(?P<what>.{2,40})", re.IGNORECASE)
_SHORTEST = timedelta(minutes=10)
"""A gap that is told of."""


def end_of(event: Item) -> datetime:
    """When an event ends; an hour after its start where that is not known."""
    start = moment_of(event)
    return event.time("end") or start + min(NEW_EVENT_LENGTH, datetime.max - start)


def whole_days(event: Item) -> bool:
    """Whether an event is of whole days, without times."""
    start, end = moment_of(event), end_of(event)
    return start.time() == end.time() == time.min and start < end


def free_time(call: Call, day: date, events: Sequence[Item]) -> str:
    """Whether the part of the day that the request names, or all of it, is free, and when it is.

    Args:
        call: The request.
        day: The day that it is about.
        events: What happens on that day; events of whole days take no time.

    Returns:
        Lines for the person; empty where the request does not ask for it.
    """
    if not _ASKS.search(call.said):
        return ""
    timed = [one for one in events if not whole_days(one)]
    midnight = datetime.combine(day, time.min)
    begins, ends = _asked(call, day, timed) or (midnight, midnight + timedelta(days=1))
    taken = [one for one in timed if moment_of(one) < ends and end_of(one) > begins]
    part = (
        "" if (begins, ends) == (midnight, midnight + timedelta(days=1)) else _hours(begins, ends)
    )
    if not taken:
        return f"Free{f' from {part}' if part else ''}."
    many = "1 event" if len(taken) == 1 else f"{len(taken)} events"
    told = f"Not free{f' from {part}' if part else ''}: {many}."
    gaps = _gaps(begins, ends, taken) if part else []
    return f"{told} Free {', '.join(gaps)}." if gaps else told


def _asked(call: Call, day: date, timed: Sequence[Item]) -> tuple[datetime, datetime] | None:
    """The part of the day that the request names: by the clock, by a part, by its events."""
    if found := _BETWEEN.search(call.said):
        first = _named(found["one"] or found["from"], timed)
        last = _named(found["other"], timed)
        if first and last and end_of(first) < moment_of(last):
            return end_of(first), moment_of(last)
    spans = [one for one in find_expressions(call.said, call.at) if one.start.date() == day]
    clocks = sorted({one.start for one in spans if one.grain in ("hour", "minute")})
    if _BETWEEN.search(call.said) and len(clocks) > 1:
        return clocks[0], clocks[-1]
    if (found := _BESIDE.search(call.said)) and (event := _named(found["what"], timed)):
        midnight = datetime.combine(day, time.min)
        if found["side"].casefold() == "before":
            return max(midnight, call.at), moment_of(event)
        return end_of(event), midnight + timedelta(days=1)
    for one in spans:
        if one.grain == "part":
            return one.start, min(one.end, datetime.combine(day, time.max))
    if clocks:
        return clocks[0], clocks[0] + NEW_EVENT_LENGTH
    return None


def _named(words: str, events: Sequence[Item]) -> Item | None:
    """The one event whose title has a word of these."""
    said = telling_words(words)
    found = [one for one in events if any(contains(title_of(one), word) for word in said)]
    return found[0] if len(found) == 1 else None


def _gaps(begins: datetime, ends: datetime, taken: Sequence[Item]) -> list[str]:
    found = []
    free_from = begins
    for one in sorted(taken, key=moment_of):
        if moment_of(one) - free_from >= _SHORTEST:
            found.append(_hours(free_from, moment_of(one)))
        free_from = max(free_from, end_of(one))
    if ends - free_from >= _SHORTEST:
        found.append(_hours(free_from, ends))
    return found


def _hours(begins: datetime, ends: datetime) -> str:
    return f"{begins:%H:%M} to {ends:%H:%M}"
