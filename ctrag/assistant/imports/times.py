"""Moments as exports write them, in the person's time zone."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from ctrag.assistant.imports.found import Owner

_FORMS = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %I:%M:%S %p",
    "%Y-%m-%d %I:%M %p",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y, %H:%M",
    "%d.%m.%y %H:%M:%S",
    "%d.%m.%y %H:%M",
    "%d-%b-%Y %H:%M:%S",
    "%d-%b-%Y %I:%M:%S %p",
    "%b %d, %Y %I:%M:%S %p",
    "%b %d, %Y %H:%M:%S",
    "%d %b %Y %H:%M:%S",
    "%d %b %Y %H:%M",
    "%d %b %Y, %H:%M",
    "%d %b %Y, %H:%M %z",
    "%d %b %Y %H:%M %z",
    "%Y-%m-%d %H:%M %z",
    "%Y-%m-%d %H:%M:%S %z",
)
_NUMBERS = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4}),?(.*)", re.DOTALL)
_EARLIEST, _LATEST = 0, 4_102_444_800
"""Seconds since 1970: the years 1970 to 2099."""


def day_first(texts: Iterable[str], default: bool | None = None) -> bool | None:
    """Whether dates such as 2/5/2026 begin with the day, by those of a column that can be read in
    one way only; `default` where none of them says it, but for a clock with AM and PM."""
    found = [one for one in map(_NUMBERS.fullmatch, map(str.strip, texts)) if one]
    pairs = [(int(one[1]), int(one[3])) for one in found]
    said = {first > 12 for first, second in pairs if (first > 12) != (second > 12)}
    if len(said) == 1:
        return said.pop()
    if not said and any(re.search(r"\d\s*[AP]M\b", one[5], re.IGNORECASE) for one in found):
        return False
    return default


def in_order(text: str, day_first: bool | None) -> str:
    """A date with slashes or hyphens as `2026-05-02`, where it is known which number is the day;
    any other text as it is."""
    found = _NUMBERS.fullmatch(text.strip())
    if found is None:
        return text
    one, other = int(found[1]), int(found[3])
    if one != other and day_first is None:
        return text
    day, month = (one, other) if day_first else (other, one)
    return f"{found[4]}-{month:02}-{day:02}{found[5]}"


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
