"""On which days something can take place: offices and schools rest, and a traveller is away."""

import re
from collections.abc import Iterable
from datetime import date, datetime

from stores.people.items import Item

_WEEKDAYS_ONLY = re.compile(
    r"\b(?:practice|clinic|health centre|school|offices?|bank|branch|depot|town hall|hospital|"
    r"library|print workshop|saw mill|the mill|paper mill|goods entrance|canteen|museum yard|"
    r"parish office)\b|'s yard\b",
    re.IGNORECASE,
)
"""Places that are closed at the weekend."""
_SHUT_ON_SUNDAY = re.compile(r"'s shop\b|\b(?:record shop|cutler|old market)\b", re.IGNORECASE)
_ON_WORKING_DAYS = re.compile(
    r"^(?:dentist|GP|family doctor|mechanic|tax adviser|accountant|vet|hairdresser|barber|physio|"
    r"plumber|notary|estate agent|heating engineer|house manager|assessor|insurance broker|"
    r"tax office|dermatologist|sleep clinic|headteacher|boss|manager|principal)\b",
    re.IGNORECASE,
)
"""Relations of people who are met in the course of their work."""
_JOURNEY = re.compile(
    r"\b(?:flight|fly|flying|ferry|airport|sailing to|train (?:to|[A-Z])|coach to|night bus)",
    re.IGNORECASE,
)
_HOLIDAYS = frozenset({(12, 24), (12, 25), (12, 26), (12, 31), (1, 1)})


def is_open(day: datetime, place: str, relation: str) -> bool:
    """Whether somebody with that relation can be met there on that day.

    Args:
        day: When.
        place: Where, as a template says it.
        relation: Who; empty when nobody is met.
    """
    if (day.month, day.day) in _HOLIDAYS:
        return False
    if _WEEKDAYS_ONLY.search(place) or _ON_WORKING_DAYS.match(relation):
        return day.weekday() < 5
    return day.weekday() < 6 or not _SHUT_ON_SUNDAY.search(place)


def travelling(items: Iterable[Item]) -> set[date]:
    """Days of events that are journeys."""
    return {start.date() for one in items
            if (start := one.time("start")) and _JOURNEY.search(one.text("title"))}  # fmt: skip
