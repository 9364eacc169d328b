"""The half of the day that an hour without one is on, for something that has a time already."""

from collections.abc import Iterable
from datetime import datetime

_WAKING = range(7, 23)
"""Hours at which things are arranged."""
_BY_DAY = range(7, 22)
"""Hours of things that an hour alone does not move into the night."""
_NEAR = 120
"""Minutes within which a thing is moved into the night all the same: a run at seven "to six"."""


def nearest_half(readings: Iterable[datetime], its_own: datetime) -> list[datetime]:
    """Readings of a clock time whose half of the day was not said, likeliest first.

    The one that is nearest to the thing's own time on the clock; but what is by day is not moved
    into the night where the other half is none: a dentist at ten is moved "to six" in the evening,
    a boat at five in the morning is not.

    Args:
        readings: The hour on either half of the day.
        its_own: When the thing is that is moved.
    """
    minutes = its_own.hour * 60 + its_own.minute

    def unlikely(one: datetime) -> tuple[bool, int]:
        away = abs(one.hour * 60 + one.minute - minutes)
        at_night = its_own.hour in _BY_DAY and one.hour not in _WAKING
        return at_night and away >= _NEAR, away

    return sorted(readings, key=unlikely)
