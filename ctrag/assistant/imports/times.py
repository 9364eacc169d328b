"""Moments as exports write them, in the person's time zone."""

from datetime import UTC, datetime

from ctrag.assistant.imports.found import Owner

_FORMS = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y, %H:%M",
    "%d-%b-%Y %H:%M:%S",
    "%d-%b-%Y %I:%M:%S %p",
    "%b %d, %Y %I:%M:%S %p",
    "%b %d, %Y %H:%M:%S",
    "%d %b %Y %H:%M:%S",
    "%d %b %Y %H:%M",
)
_EARLIEST, _LATEST = 0, 4_102_444_800
"""Seconds since 1970: the years 1970 to 2099."""


def local(moment: datetime, owner: Owner) -> datetime:
    """The moment as the owner's clock shows it, to the minute; without a zone it is theirs."""
    if moment.tzinfo is not None:
        moment = moment.astimezone(owner.zone).replace(tzinfo=None)
    return moment.replace(second=0, microsecond=0)


def moment(value: object, owner: Owner) -> datetime | None:
    """ISO 8601, a usual way to write a date with a time, or a count of (milli-, micro-)seconds
    since 1970; None where it is none."""
    text = " ".join(str(value).replace("\u202f", " ").split())[:60]
    try:
        if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdigit():
            return from_seconds(float(text), owner)
        return local(datetime.fromisoformat(text), owner)
    except (ValueError, OverflowError, OSError):
        pass
    for form in _FORMS:
        try:
            return local(datetime.strptime(text, form), owner)
        except (ValueError, OverflowError):
            continue
    return None


def from_seconds(count: float, owner: Owner) -> datetime:
    """The moment that many seconds, milliseconds or microseconds after 1970.

    Raises:
        ValueError: It is none of this century's.
    """
    for unit in (1, 1_000, 1_000_000):
        if _EARLIEST <= count / unit < _LATEST:
            return local(datetime.fromtimestamp(count / unit, UTC), owner)
    raise ValueError(f"{count} is no time")
