"""Clock times counted from others: "half an hour before seven"."""

import re
from dataclasses import replace

from ctrag.text.dates.clock_words import ClockExpression
from ctrag.text.dates.duration_words import Duration

_SIDE = re.compile(r"\s+(?P<side>before|after|past)\s+(?:the\s+)?", re.IGNORECASE)
_WAIT = re.compile(r"\b(?:in|within|for)\s+$", re.IGNORECASE)
_HALF_DAY = 720
"""Minutes."""


def offset_clocks(
    text: str, clocks: list[ClockExpression], durations: list[Duration]
) -> tuple[list[ClockExpression], list[Duration]]:
    """The clock times moved by the durations that stand before them, and the other durations."""
    at = {clock.begin: clock for clock in clocks if clock.hour is not None}
    moved: dict[int, ClockExpression] = {}
    others: list[Duration] = []
    for duration in durations:
        side = _SIDE.match(text, duration.end)
        clock = at.get(side.end()) if side is not None else None
        minutes = _minutes(duration)
        waits = _WAIT.search(text, max(0, duration.begin - 12), duration.begin) is not None
        if side is None or clock is None or waits or not 0 < minutes < _HALF_DAY:
            others.append(duration)
            continue
        back = side["side"].lower() == "before"
        moved[clock.begin] = _moved(clock, duration.begin, -minutes if back else minutes)
    return [moved.get(clock.begin, clock) for clock in clocks], others


def _minutes(duration: Duration) -> int:
    """Minutes of a duration that is no wait from now; 0 of a longer one."""
    if duration.relation not in ("earlier", "later", "open"):
        return 0
    return round(duration.amount * {"minute": 1, "hour": 60}.get(duration.unit, 0))


def _moved(clock: ClockExpression, begin: int, minutes: int) -> ClockExpression:
    """The time that is minutes away; on the dial where its half of the day is not known."""
    around = 2 * _HALF_DAY if clock.exact else _HALF_DAY
    total = ((clock.hour or 0) * 60 + clock.minute + minutes) % around
    return replace(clock, begin=begin, hour=total // 60, minute=total % 60, round_hour=False)
