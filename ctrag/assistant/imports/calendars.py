"""Calendars (.ics) as items."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from ctrag.assistant.imports.found import Found, Owner, item_id
from ctrag.errors import InputError
from stores.people.items import Item


def read_calendar(data: bytes, owner: Owner) -> Found:
    """The events of a calendar."""
    return Found(items=list(_events(data, owner.person_id)))


def _events(data: bytes, person_id: str) -> Iterator[Item]:
    from icalendar import Calendar

    try:
        calendars = Calendar.from_ical(data, multiple=True)
    except ValueError as error:
        raise InputError(f"not an iCalendar file: {error}") from None
    if not calendars:
        raise InputError("not an iCalendar file: it holds no calendar")
    for event in (one for calendar in calendars for one in calendar.walk("VEVENT")):
        title = str(event.get("SUMMARY", "")).strip()
        try:
            start, end = _span(event)
        except (KeyError, ValueError, OverflowError):
            continue  # without a time it cannot be shown on a day
        if not title:
            continue
        listed = event.get("ATTENDEE", [])
        attendees = listed if isinstance(listed, list) else [listed]
        again = event["RECURRENCE-ID"].to_ical().decode() if "RECURRENCE-ID" in event else ""
        uid = f"{event.get('UID', '')}{again}" or f"{start}{title}"
        yield Item(
            id=item_id(person_id, "calendar", uid),
            app="calendar",
            fields={
                "title": title,
                "start": start,
                "end": end,
                "location": str(event["LOCATION"]) if event.get("LOCATION") else None,
                "attendees": tuple(_attendee(one) for one in attendees),
                "notes": str(event["DESCRIPTION"]) if event.get("DESCRIPTION") else None,
            },
        )


def _attendee(value: object) -> str:
    parameters = getattr(value, "params", {})
    address = str(value)
    bare = address[7:] if address.casefold().startswith("mailto:") else address
    return str(parameters.get("CN") or bare)


def _span(event: Any) -> tuple[datetime, datetime]:
    """Start and end; without an end a day lasts a day and a meeting an hour."""
    began = event.decoded("DTSTART")
    start = _local(began)
    if "DTEND" in event:
        return start, max(start, _local(event.decoded("DTEND")))
    length = event.decoded("DURATION") if "DURATION" in event else None
    if not isinstance(length, timedelta):
        length = timedelta(hours=1) if isinstance(began, datetime) else timedelta(days=1)
    return start, start + length


def _local(moment: object) -> datetime:
    if isinstance(moment, datetime):
        local = moment if moment.tzinfo is None else moment.astimezone().replace(tzinfo=None)
    elif isinstance(moment, date):
        local = datetime.combine(moment, time())
    else:
        raise InputError(f"{moment!r} is not a time")
    return local.replace(second=0, microsecond=0)
