"""When a to-do is due; of a repeating one, the next time."""

from dataclasses import replace
from datetime import datetime

from ctrag.assistant.imports.calendar_lines import Component
from ctrag.assistant.imports.calendar_times import Moment, duration_of, instant, moment_of
from ctrag.assistant.imports.series import Series
from ctrag.assistant.imports.zones import Zones


def due_of(one: Component, zones: Zones, now: datetime, *, done: bool) -> tuple[Moment | None, str]:
    """When it is due, and why no further times could be worked out; the latter mostly empty.

    Args:
        one: The to-do.
        zones: The zones of its file.
        now: The moment of the import, in UTC.
        done: Whether it is done: then its first time counts.

    Raises:
        ValueError: It has a time that is none.
    """
    line = one.first("DUE", "DTSTART")
    if line is None:
        return None, ""
    due = moment_of(line, zones)
    length = one.first("DURATION")
    if line.name == "DTSTART" and length is not None and isinstance(due, datetime):
        due += duration_of(length) or due - due
    if done or not (one.all("RRULE") or one.all("RDATE")):
        return due, ""
    event = Component("VEVENT", one.calendar, [replace(line, name="DTSTART")])
    event.properties += [p for p in one.properties if p.name in ("RRULE", "RDATE", "EXDATE")]
    try:
        times = [item.start for item in Series("", event, zones).occurrences(now)]
    except Exception as error:  # whatever the library makes of a rule
        return due, reason_of(error)
    ahead = [item for item in times if instant(item, zones.fallback) >= now]
    return ahead[0] if ahead else times[-1] if times else due, ""


def reason_of(error: Exception) -> str:
    """What a reader failed at, in a few words."""
    if isinstance(error, OverflowError):
        return "its time lies outside of the years 1 to 9999"
    text = " ".join(str(error).split())
    return text[:120] if isinstance(error, ValueError) and text else type(error).__name__
