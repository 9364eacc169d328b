"""Moving times by whole weeks, and the dates named in texts with them."""

import re
from datetime import date, datetime, timedelta

_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_NAMES.split(), start=1)} | {
    name[:3]: number for number, name in enumerate(_NAMES.split(), start=1)
}
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?P<th>st|nd|rd|th)?"
_NAMED = re.compile(
    rf"\b(?:{_DAY}(?P<of> of)? {_MONTH}|{_MONTH.replace('month', 'month2')} "
    rf"{_DAY.replace('day', 'day2').replace('<th>', '<th2>')}\b)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\b([12]?\d|3[01])(st|nd|rd|th)\b")
_YEAR = re.compile(r"(?<![\d:.,£$€+-])20[12]\d(?![\d:])")
_SPELLED = (
    "fifth sixth seventh eighth ninth tenth eleventh twelfth [a-z]+teenth twentieth thirtieth"
)
_UNSURE = re.compile(
    r"\b\d{1,2}(st|nd|rd|th)? ?(to|till|until|and|-|–|/|or) ?\d{1,2}(st|nd|rd|th)\b"
    r"|\b\d{1,2}/\d{1,2}(/\d+)?\b|\b\d{1,2}\.\d{1,2}\.(\d{2,4})?(?!\d)"
    rf"|{_MONTH.replace('month', 'month3')} \d{{1,2}} ?(to|-|–|and|,) ?\d{{1,2}}\b"
    rf"|\b\d{{1,2}} ?(to|-|–|and|,) ?\d{{1,2}} {_MONTH.replace('month', 'month4')}"
    rf"|\b({'|'.join(_SPELLED.split())})\b",
    re.IGNORECASE,
)
_WEEKDAYS = "mon tue wed thu fri sat sun".split()
_WEEKDAY = re.compile(
    r"\b(?P<name>(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?:the )?)"
    r"(?P<day>[12]?\d|3[01])\b(?![:.h\d])",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b20\d\d-\d\d-\d\d\b")


def shifted_value(value: str, days: int) -> str | None:
    """An ISO 8601 time or date moved by `days`; None when the text is neither."""
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            return (date.fromisoformat(value) + timedelta(days=days)).isoformat()
        if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d", value):
            moved = datetime.fromisoformat(value) + timedelta(days=days)
            return moved.isoformat(timespec="minutes")
    except ValueError:
        return None
    return None


def movable(text: str) -> bool:
    """Whether all dates in a text are in a format that `shifted_text` understands."""
    return _UNSURE.search(text) is None


def shifted_text(text: str, now: datetime, days: int) -> str:
    """A text with its days of the month and years moved.

    Args:
        text: Written about the time around `now`.
        now: The time before moving: "the 22nd" is the 22nd nearest to it.
        days: By how many days.
    """
    if days == 0 or not any(sign.isdigit() for sign in text):
        return text
    years = (now + timedelta(days=days)).year - now.year
    text = _ISO.sub(lambda found: shifted_value(found[0], days) or found[0], text)
    held: list[str] = []

    def hold(moved: str) -> str:
        held.append(moved)
        return f"\x00{len(held) - 1}\x00"

    text = _NAMED.sub(lambda found: hold(_named(found, now, days)), text)
    text = _WEEKDAY.sub(lambda found: hold(_on_weekday(found, now, days)), text)
    text = _ORDINAL.sub(lambda found: hold(_ordinal(found, now, days)), text)
    if years:
        text = _YEAR.sub(lambda found: str(int(found[0]) + years), text)
    return re.sub("\x00(\\d+)\x00", lambda found: held[int(found[1])], text)


def _named(found: re.Match[str], now: datetime, days: int) -> str:
    first = found["day"] is not None
    month, day = found["month" if first else "month2"], found["day" if first else "day2"]
    number = _MONTHS[month.casefold()]
    old = _nearest(now, int(day), number)
    if old is None:
        return found[0]
    new = old + timedelta(days=days)
    spelled = _spell_month(new.month, month)
    ordinal = found["th" if first else "th2"]
    shown = f"{new.day}{_suffix(new.day) if ordinal else ''}"
    dot = "." if found[0].rstrip().endswith(".") and first else ""
    return f"{shown}{found['of'] or ''} {spelled}{dot}" if first else f"{spelled} {shown}"


def _ordinal(found: re.Match[str], now: datetime, days: int) -> str:
    old = _nearest(now, int(found[1]), None)
    if old is None or int(found[1]) < 4:  # "3rd floor", "1st prize": hardly ever a day
        return found[0]
    new = old + timedelta(days=days)
    return f"{new.day}{_suffix(new.day)}"


def _on_weekday(found: re.Match[str], now: datetime, days: int) -> str:
    """ "Sunday 17" moved, when a 17th near `now` is a Sunday; else it may be an hour."""
    weekday = _WEEKDAYS.index(found["name"][:3].casefold())
    for away in sorted(range(-60, 61), key=abs):
        old = now.date() + timedelta(days=away)
        if old.day == int(found["day"]) and old.weekday() == weekday:
            return f"{found['name']}{(old + timedelta(days=days)).day}"
    return found[0]


def _nearest(now: datetime, day: int, month: int | None) -> date | None:
    """The date with that day (and month) nearest to `now`."""
    months = [month] if month else [(now.month - 2) % 12 + 1, now.month, now.month % 12 + 1]
    options = []
    for year in (now.year - 1, now.year, now.year + 1):
        for one in months:
            try:
                options.append(date(year, one, day))
            except ValueError:
                continue
    return min(options, key=lambda one: abs((one - now.date()).days), default=None)


def _spell_month(number: int, like: str) -> str:
    name = _NAMES.split()[number - 1]
    name = name[:3] if len(like) == 3 and like.casefold() != "may" else name
    return name if like.islower() else name.upper() if like.isupper() else name.capitalize()


def _suffix(day: int) -> str:
    return "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
