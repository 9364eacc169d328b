"""Usage statistics: from the habit of an item, else drawn from the reference people's."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

from stores.people.app_spec import packaged_apps
from stores.people.items import Item, Usage
from synth.offline.sources import sources
from synth.provider import LabelledRequest

_TIMES = {app.name: app.named("time")[0] for app in packaged_apps()}
_MADE_BEFORE_USE = {"mail", "google", "notes", "music"}
_MONTH = timedelta(days=30)


def with_usage(
    item: Item, habit: LabelledRequest | None, now: datetime, draw: random.Random
) -> Item:
    """The item with usage statistics.

    Args:
        item: The item; usage that it already has is kept.
        habit: The habitual request about it, or None.
        now: When the phone's contents were captured.
        draw: Source of randomness.
    """
    if item.usage.usual_hours or (item.usage.opens_30d and habit is None):
        return item
    made = item.time(_TIMES[item.app]) if item.app in _MADE_BEFORE_USE else None
    if habit is not None:
        usage = _habitual(habit, made, now, draw)
    else:
        opens, hours, place = draw.choice(_known()[item.app])
        usage = _used(opens, hours, place, made, now, draw)
    return replace(item, usage=usage)


def habits(requests: Sequence[LabelledRequest]) -> dict[str, LabelledRequest]:
    """Item id → the habitual request about it."""
    return {
        item_id: one
        for one in requests
        if one.labels.kind == "habit"
        for item_id in one.labels.relevant or ()
    }


def _habitual(
    habit: LabelledRequest, made: datetime | None, now: datetime, draw: random.Random
) -> Usage:
    asked = habit.request.asked_at
    hours = tuple(sorted({asked.hour, (asked.hour + draw.choice((0, 0, 1))) % 24}))
    last = now.replace(hour=asked.hour, minute=draw.randint(0, 59))
    if last > now:
        last -= timedelta(days=1)
    opened = max(last, made) if made else last
    return Usage(draw.randint(8, 24), min(opened, now), hours, habit.request.place)


def _used(
    opens: int,
    hours: tuple[int, ...],
    place: str | None,
    made: datetime | None,
    now: datetime,
    draw: random.Random,
) -> Usage:
    if opens == 0 or not hours:
        return Usage()
    earliest = max(now - _MONTH, made or now - _MONTH)
    if earliest >= now:
        return Usage(1, now, (now.hour,), place)
    days = (now.date() - earliest.date()).days
    last = (now - timedelta(days=draw.randint(0, min(days, 9)))).replace(
        hour=draw.choice(hours), minute=draw.randint(0, 59)
    )
    if not earliest <= last <= now:
        last = made if made and made >= earliest else now - timedelta(hours=1)
        hours = (last.hour,)
    return Usage(opens, last, hours, place)


@cache
def _known() -> dict[str, list[tuple[int, tuple[int, ...], str | None]]]:
    """Usage of the reference people's items by application."""
    found: dict[str, list[tuple[int, tuple[int, ...], str | None]]] = defaultdict(list)
    for source in sources():
        if source.persona.person.person_id.startswith("p"):
            for item in source.persona.items:
                used = item.usage
                found[item.app].append((used.opens_30d, used.usual_hours, used.usual_place))
    return found
