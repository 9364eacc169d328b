"""Local times as data sets spell them: ISO 8601 to the minute, without a time zone."""

import re
from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator

from stores.errors import InputError

_HOUR_24 = re.compile(r"[^T ]+[T ]24")


def parse_local_time(value: object) -> datetime:
    """A local time from ISO 8601 text, truncated to the minute.

    Raises:
        ValueError: The text is not an ISO 8601 time, or has a time zone (all times are local).
    """
    if isinstance(value, datetime):
        moment = value
    else:
        try:
            # Newer Pythons parse hour 24 as the next day's first.
            readable = isinstance(value, str) and not _HOUR_24.match(value)
            moment = datetime.fromisoformat(str(value) if readable else "")
        except ValueError:
            raise InputError(
                f"must be a local ISO 8601 time such as 2025-04-17T12:59, not {value!r}"
            ) from None
    if moment.tzinfo is not None:
        raise InputError(f"must be a local time without a time zone, not {value!r}")
    return moment.replace(second=0, microsecond=0)


def format_local_time(moment: datetime) -> str:
    """The spelling of times in data sets: `YYYY-MM-DDTHH:MM`."""
    return moment.replace(tzinfo=None).isoformat(timespec="minutes")


def zone_of(name: str | None) -> ZoneInfo | None:
    """The time zone of that name (`Europe/Berlin`), or None where it names none."""
    if not name:
        return None
    try:
        return ZoneInfo(name.strip())
    except (LookupError, ValueError, OSError):
        return None


def now_in(name: str | None) -> datetime:
    """What a clock in that time zone shows, to the minute; this machine's where it names none."""
    return datetime.now(zone_of(name)).replace(tzinfo=None, second=0, microsecond=0)


LocalTime = Annotated[datetime, BeforeValidator(parse_local_time)]
"""A field of a pydantic model that is read by `parse_local_time`."""
