"""When a to-do is due; of a repeating one, the next time that is not done."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ctrag.assistant.imports.calendar_lines import Component
from ctrag.assistant.imports.calendar_times import (
    Moment,
    duration_of,
    instant,
    moment_of,
    stamp,
)
from ctrag.assistant.imports.rules import day_of
from ctrag.assistant.imports.series import Series
from ctrag.assistant.imports.zones import Zones


@dataclass(frozen=True, slots=True)
class Due:
    """When a to-do is due, and whether it is done."""

    moment: Moment | None
    done: bool
    why: str = ""
    """Why no further times could be worked out; mostly empty."""


def due_of(one: Component, zones: Zones, now: datetime, but: Sequence[str] = ()) -> Due:
    """When it is due.

    Args:
        one: The to-do.
        zones: The zones of its file.
        now: The moment of the import, in UTC.
        but: Keys of the times of a repeating one of which something else is said: that they are
            done, mostly. Where it has no other time, it is done.

    Raises:
        ValueError: It has a time that is none.
    """
    done = is_done(one)
    line = one.first("DUE", "DTSTART")
    if line is None:
        return Due(None, done)
    due = moment_of(line, zones)
    length = one.first("DURATION")
    if line.name == "DTSTART" and length is not None and isinstance(due, datetime):
        due += duration_of(length) or due - due
    if done or not comes_again(one):
        return Due(due, done)
    begins = one.first("DTSTART", "DUE") or line
    event = Component("VEVENT", one.calendar, [replace(begins, name="DTSTART")])
    event.properties += [p for p in one.properties if p.name in ("RRULE", "RDATE", "EXDATE")]
    try:
        series = Series("", event, zones)
        series.but.update(but)
        times = [_shifted(item.start, series.start, due) for item in series.occurrences(now)]
        times = [item for item in times if stamp(item) not in but]
    except Exception as error:  # whatever the library makes of a rule
        return Due(due, done, reason_of(error))
    ahead = [item for item in times if instant(item, zones.fallback) >= now]
    if not times:
        return Due(due, bool(but))
    return Due(ahead[0] if ahead else times[-1], done)


def comes_again(one: Component) -> bool:
    """Whether it comes again."""
    return bool(one.all("RRULE") or one.all("RDATE"))


def is_done(one: Component) -> bool:
    """Whether it is ticked."""
    return (
        one.text("STATUS").upper() == "COMPLETED"
        or one.first("COMPLETED") is not None
        or one.text("PERCENT-COMPLETE") == "100"
    )


def done_alone(one: Component, group: Sequence[Component], zones: Zones) -> str:
    """The key of the time that a to-do is about that some programs write beside a repeating one,
    under its identity, where that time is done; empty for any other."""
    line = one.first("DTSTART", "DUE", "COMPLETED")
    if line is None or comes_again(one) or not is_done(one) or not any(map(comes_again, group)):
        return ""
    try:
        return stamp(moment_of(line, zones))
    except (ValueError, OverflowError):
        return line.value.strip()


def _shifted(start: Moment, first: Moment, due: Moment) -> Moment:
    """When the time of a series that begins at `start` is due, if its first one is at `due`."""
    if isinstance(start, datetime) and isinstance(first, datetime) and isinstance(due, datetime):
        return start.astimezone(due.tzinfo) + (due - first)
    days = day_of(start, None) - day_of(first, None)
    return due + days


def reason_of(error: Exception) -> str:
    """What a reader failed at, in a few words."""
    if isinstance(error, OverflowError):
        return "its time lies outside of the years 1 to 9999"
    text = " ".join(str(error).split())
    return text[:120] if isinstance(error, ValueError) and text else type(error).__name__
