"""Days of the calendar: dates, feasts, and the ends of weeks, months and years.

The patterns go into that of :mod:`ctrag.text.dates.day_words`.
"""

import re
from datetime import date, timedelta

from dateutil.easter import easter  # type: ignore[import-untyped,unused-ignore]
from dateutil.relativedelta import relativedelta, weekday  # type: ignore[import-untyped,unused-ignore]

from ctrag.text.dates.number_words import MONTH, WEEKDAY

DateSpan = tuple[date, date]
"""First day, and the first day after."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()

_FEASTS = {
    "new year's eve": (12, 31), "new year's day": (1, 1), "new year's": (1, 1),
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25),
    "boxing day": (12, 26), "halloween": (10, 31), "valentine's day": (2, 14),
    "valentine's": (2, 14), "st patrick's day": (3, 17), "april fools' day": (4, 1),
    "twelfth night": (1, 5), "all saints' day": (11, 1), "midsummer's day": (6, 24),
}  # fmt: skip
_EASTER = {"good friday": -2, "easter sunday": 0, "easter monday": 1, "easter": 0}
_FULL = [name for name in (*_FEASTS, *_EASTER) if " " in name and not name.endswith("year's")]
_SHORT = [name for name in (*_FEASTS, *_EASTER) if name not in _FULL]


def _loosely(names: list[str]) -> str:
    """A pattern for `names` that forgives missing apostrophes."""
    return "|".join(name.replace("'", "'?").replace(" ", r"\ ") for name in names)


# A feast without "eve" or "day" is a day only where it says when: not in "Christmas songs".
FEAST = (
    rf"(?P<feast>{_loosely(_FULL)})"
    rf"|(?:on|at|by|before|after|until|till|since|this|next)\ (?P<feast_short>{_loosely(_SHORT)})"
    r"(?!\ (?:eve|day|sunday|monday)\b)"
)
MONTH_EDGE = (
    r"(?:the\ )?(?P<edge>last\ day|first\ day|end|start|beginning)\ of\ (?:(?P<edge_which>the|this"
    rf"|next)\ (?P<edge_period>week|month|year)|(?P<edge_month>{MONTH}))"
)

# "The first Monday in June", "the last Friday of the month".
WEEKDAY_OF_MONTH = (
    rf"(?P<rank>first|second|third|fourth|last|1st|2nd|3rd|4th)\ (?P<rank_day>{WEEKDAY})\ (?:of|in)"
    rf"\ (?:(?P<rank_which>the|this|next)\ month|(?P<rank_month>{MONTH}))"
)
WEEKEND_EDGE = r"(?P<weekend_side>before|after)\ (?P<weekend_which>the|this|next)\ weekend"
_RANKS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4,
    "last": -1,
}  # fmt: skip


def month_number(name: str) -> int:
    """1 to 12 for an English month or its abbreviation."""
    return _MONTHS.index(name[:3].lower()) + 1


def weekday_number(name: str) -> int:
    """0 for Monday to 6 for Sunday, also of an abbreviation."""
    return next(i for i, full in enumerate(_WEEKDAYS) if full.startswith(name.lower()))


def one_day(day: date, /, **shift: int) -> DateSpan:
    """`day`, moved by the arguments of a relativedelta."""
    first: date = day + relativedelta(None, None, **shift)
    return first, first + timedelta(days=1)


def on_weekday(spans: list[DateSpan], name: str | None) -> list[DateSpan]:
    """`spans` with those that fall on the weekday first: "Monday the tenth"."""
    if not name:
        return spans
    return sorted(spans, key=lambda span: span[0].weekday() != weekday_number(name))


def dated(
    today: date, day: int, month: str, weekday_name: str | None, past: bool, year: str | None
) -> list[DateSpan]:
    """The day with a month: of the year named, else the next one or the last, then this year's.

    Raises ValueError for a day that no year has.
    """
    if year:
        return [one_day(date(int(year), month_number(month), day))]
    step = -1 if past else 1
    # Only leap years have a 29 February, and they can be eight years apart.
    years = range(today.year, today.year + 9 * step, step)
    days = [found for year in years if (found := _day_of(year, month_number(month), day))]
    right = [found for found in days if (found <= today if past else found >= today)]
    if not right:
        raise ValueError("no such day")
    return on_weekday(
        [one_day(found) for found in dict.fromkeys([right[0], days[0]])], weekday_name
    )


def _day_of(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def feast_days(match: re.Match[str], today: date, past: bool) -> list[date]:
    """The feast that `match` names: the next one, or the last."""
    name = (match["feast"] or match["feast_short"]).lower()
    plain = name.replace("'", "")
    days = []
    for year in range(today.year - 1, today.year + 2):
        for known, (month, day) in _FEASTS.items():
            if known.replace("'", "") == plain:
                days.append(date(year, month, day))
        if name in _EASTER:
            days.append(easter(year) + timedelta(days=_EASTER[name]))
    right = [day for day in days if (day <= today if past else day >= today)]
    return right[-1:] if past else right[:1]


def month_edge(match: re.Match[str], today: date) -> list[date]:
    """The first or last day of a week, month or year; a week ends on Friday, or on Sunday."""
    last = match["edge"].lower() in ("last day", "end")
    ahead = int((match["edge_which"] or "").lower() == "next")
    period = (match["edge_period"] or "month").lower()
    if period == "week":
        monday = today - timedelta(days=today.weekday() - 7 * ahead)
        days = [monday + timedelta(days=4), monday + timedelta(days=6)] if last else [monday]
        return [day for day in days if day >= today] or days
    if match["edge_month"]:
        month = month_number(match["edge_month"])
        first = today.replace(month=month, day=1) + relativedelta(years=month < today.month)
        length = relativedelta(months=1)
    elif period == "month":
        first = today.replace(day=1) + relativedelta(months=ahead)
        length = relativedelta(months=1)
    else:
        first = today.replace(month=1, day=1) + relativedelta(years=ahead)
        length = relativedelta(years=1)
    return [first + length - timedelta(days=1) if last else first]


def weekday_of_month(match: re.Match[str], today: date, past: bool) -> date:
    """The first, second or last such weekday of a month: the next one, or the last."""
    which = (match["rank_which"] or "").lower()
    rank = _RANKS[match["rank"].lower()]
    month = today.replace(day=1) + relativedelta(months=which == "next")
    if match["rank_month"]:
        month = month.replace(month=month_number(match["rank_month"]))
    on = weekday(weekday_number(match["rank_day"]), rank)
    step = -1 if past else 1
    length = relativedelta(years=step) if match["rank_month"] else relativedelta(months=step)
    days = [
        one + relativedelta(day=31 if rank < 0 else 1, weekday=on)
        for one in (month, month + length)
    ]
    right = [day for day in days if (day <= today if past else day >= today)]
    return days[0] if which == "this" or not right else right[0]


def weekend_edge(match: re.Match[str], today: date, past: bool) -> date:
    """The Friday before a weekend or the Monday after it: the next one, or the last."""
    monday = today - timedelta(days=today.weekday())
    weeks = int(match["weekend_which"].lower() == "next")
    if match["weekend_side"].lower() == "after":
        return monday if past else monday + timedelta(weeks=weeks + 1)
    friday = monday + timedelta(days=4, weeks=weeks)
    if past:
        return friday if friday <= today else friday - timedelta(weeks=1)
    return friday if friday >= today else friday + timedelta(weeks=1)
