"""How often an item was opened, when and where; the frequencies are the reference people's."""

import random
from dataclasses import replace
from datetime import datetime, timedelta

from stores.people.app_spec import spec_of
from stores.people.items import Item, Usage

_OPENS = {
    "mail": (29, 20, 25, 14, 8, 2, 1, 1),
    "calendar": (1, 32, 34, 17, 7, 4, 3, 1, 1),
    "google": (2, 35, 31, 15, 8, 4, 2, 1, 1),
    "notes": (1, 7, 17, 17, 17, 15, 10, 6, 4, 4),
    "music": (0, 4, 8, 9, 8, 6, 7, 4, 5, 6, 3, 3, 6, 3, 2, 2, 2, 1),
    "reminders": (14, 60, 15, 3, 2, 1, 1, 1),
    "phonecall": (62, 26, 5, 2, 1),
}
"""Application → relative frequency of being opened 0, 1, 2, … times in thirty days."""
_SINCE_MADE = {"mail", "google", "notes", "music", "phonecall"}
_MONTH = timedelta(days=30)


def with_usage(
    item: Item, now: datetime, draw: random.Random, places: "Places", habit: Usage | None = None
) -> Item:
    """The item as its owner uses it.

    Args:
        item: The item.
        now: When the phone's contents were taken.
        draw: Source of randomness.
        places: Where the owner is at what hour.
        habit: The usage of a habitual item: how often, at which hours.
    """
    weights = _OPENS.get(item.app, (30, 30, 20, 10))
    opens = draw.choices(range(len(weights)), weights)[0]
    if item.fields.get("unread") is True:
        opens = 0
    if item.app == "music":
        return replace(item, usage=habit) if habit else item
    times = spec_of(item.app).named("time")
    made = item.time(times[0]) if times and item.app in _SINCE_MADE else None
    earliest = max(now - _MONTH, made or now - timedelta(days=draw.randint(3, 16)))
    if habit is not None:
        opens = habit.opens_30d + draw.randint(-2, 3)
    if opens <= 0 or earliest >= now:
        return item
    last = _last(earliest, now, draw, habit.usual_hours if habit else ())
    hours = {last.hour}
    if habit is not None:
        hours |= set(habit.usual_hours)
    elif opens > 1 and draw.random() < 0.45:
        hours.add(draw.choice((8, 12, 13, 18, 19, 20, 21)))
    return replace(item, usage=Usage(opens, last, tuple(sorted(hours)), places.at(last)))


def _last(
    earliest: datetime, now: datetime, draw: random.Random, hours: tuple[int, ...]
) -> datetime:
    span = int((now - earliest).total_seconds() // 60)
    for _ in range(20):
        moment = now - timedelta(minutes=int(span * draw.random() ** 2))
        if hours:
            moment = moment.replace(hour=draw.choice(hours), minute=draw.randint(0, 59))
        if earliest <= moment <= now and (moment.hour >= 7 or moment == earliest):
            return moment
    return earliest if earliest.hour >= 6 or span < 60 else earliest + timedelta(minutes=span // 2)


class Places:
    """Where somebody is at what hour."""

    def __init__(self, hours: tuple[int, int], works: bool, draw: random.Random) -> None:
        self._from, self._to = hours
        self._works = works
        self._draw = draw

    def at(self, moment: datetime) -> str | None:
        """The place at that moment: home, work, commute, or nothing known."""
        if self._works and moment.weekday() < 5:
            if self._from <= moment.hour < self._to:
                return self._draw.choice(("work", "work", "work", None))
            if moment.hour in (self._from - 1, self._to):
                return self._draw.choice(("commute", "commute", "home"))
        return self._draw.choice(("home",) * 8 + (None,))
