"""Further occurrences of stored series: what they lack because time has moved on."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from ctrag.assistant.imports.calendar_times import local
from ctrag.assistant.imports.found import item_id
from ctrag.assistant.imports.series import series_of, uid_of, utc
from stores.people.items import Item

_AHEAD = timedelta(days=365)
"""A series with an occurrence later than this needs no further ones yet."""


def further(items: Sequence[Item], zone: tzinfo, now: datetime) -> Iterator[Item]:
    """Occurrences of endless series after those that are among the items.

    Title, place and people are those of the last occurrence.

    Args:
        items: A person's items.
        zone: The person's time zone.
        now: The person's clock.
    """
    last: dict[str, tuple[datetime, Item]] = {}
    for item in items:
        # By its identity: occurrences of long ago may have an earlier rule of the series.
        uid, start = uid_of(item), item.time("start")
        if uid and start is not None and (uid not in last or start > last[uid][0]):
            last[uid] = (start, item)
    there = {item.id for item in items}
    for start, item in last.values():
        if start - now <= _AHEAD:
            found = _after(item, item.text("repeats"), start, zone, now)
            yield from (one for one in found if one.id not in there)


def _after(item: Item, repeats: str, last: datetime, zone: tzinfo, now: datetime) -> Iterator[Item]:
    try:
        series = series_of(repeats, zone)
        found = series.occurrences(utc(now, zone)) if series.endless else []
    except Exception:  # whatever a library makes of the text: the stored occurrences stay
        return
    person_id = item.id.rpartition("-calendar-")[0]
    for one in found:
        start = local(one.start, zone)
        if start > last:
            end = max(start, local(one.end, zone))
            key = item_id(person_id, "calendar", series.uid + one.key)
            yield replace(item, id=key, fields={**item.fields, "start": start, "end": end})
