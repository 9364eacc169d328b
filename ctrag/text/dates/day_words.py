"""The words for days and parts of the day: "the 24th", "next weekend", "late evening".

python-dateutil reads dates with a month name and finds weekdays and month ends.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Literal

from dateutil.parser import parse as parse_date  # type: ignore[import-untyped,unused-ignore]
from dateutil.relativedelta import (  # type: ignore[import-untyped,unused-ignore]
    relativedelta,
    weekday,
)

from ctrag.text.dates.number_words import HOUR, MONTH, WEEKDAY

Grain = Literal["minute", "hour", "part", "day", "week", "month", "year"]
DateSpan = tuple[date, date]
"""First day, and the first day after."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ORDINALS = {
    word: day
    for day, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth "
        "twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth "
        "twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first".split(),
        start=1,
    )
}
_NTH = "|".join(reversed(_ORDINALS))
_DAY = re.compile(
    rf"""\b(?:
      (?P<near>(?:the\ )?day\ after\ tomorrow|(?:the\ )?day\ before\ yesterday|today|tonight
        |tomorrow|tmrw|yesterday|last\ night|this\ (?:morning|afternoon|evening))
    | (?:(?P<which>last|next|this|that|coming)\ )?(?P<weekday>{WEEKDAY})
        (?P<tail>\ (?:week|before|after))?
    | (?:on|next|last|this|by|until|till|since|from|before)[ ]
        (?P<short>mon|tue|wed|thu|fri|sat|sun)(?:s|rs?)?
    | (?P<period_which>this|next|last|past|coming|the)\ (?P<period>week(?:end)?|month|year)
    | (?P<dated>\d{{4}}-\d\d-\d\d
        |\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{MONTH}(?:,?\ \d{{4}})?
        |{MONTH}\ (?:the\ )?\d{{1,2}}(?:st|nd|rd|th)?(?![\d:])(?:,?\ \d{{4}})?)
    | (?P<nth>\d{{1,2}})(?:st|nd|rd|th)(?!\ (?:floor|time|grade|birthday|anniversary|one|place|
        round|half|draft|edition|street|avenue|symphony|movement|century|row|lesson|attempt|try))
    | (?:on\ )?(?:the\ )?(?P<nth_word>{_NTH})(?=\ at\ {HOUR}\b)
    | on\ the\ (?P<nth_last>{_NTH})(?=\ then\b|[,.;?!]|$)
    | (?:in|since|this|last|next|until|till|by|during)\ (?P<month>{MONTH})
    | (?P<that>(?:that|same|the)\ (?:very\ )?(?:same\ )?(?:day|morning|afternoon|evening|night)
        (?P<side>\ before|\ after)?)
    )\b""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_NEAR_DAYS = {
    "day after tomorrow": 2, "day before yesterday": -2, "tomorrow": 1, "tmrw": 1,
    "yesterday": -1, "last night": -1,
}  # fmt: skip
# First hour, end hour and usual hours, likeliest first; hours past 23 are of the next day.
_PARTS = {
    "dawn": (5, 8, (6, 5, 7)), "sunrise": (5, 8, (6, 5, 7)), "breakfast": (7, 10, (8, 7, 9)),
    "morning": (5, 12, (9, 8, 10, 6)), "lunch": (12, 14, (12, 13)),
    "afternoon": (12, 18, (15, 14, 16, 13)), "teatime": (16, 18, (17, 16)),
    "evening": (17, 23, (19, 18, 20)), "dinner": (18, 21, (19, 20, 18)),
    "supper": (18, 21, (19, 20, 18)), "sunset": (18, 21, (19, 18, 20)),
    "tonight": (17, 28, (20, 21, 19, 22)), "night": (18, 28, (21, 20, 22)),
    "bedtime": (21, 24, (22, 21, 23)),
}  # fmt: skip
_PART = re.compile(
    rf"\b(?:(?P<shade>early|late|mid)[- ])?(?P<part>{'|'.join(_PARTS)})(?:time)?\b",
    re.IGNORECASE | re.ASCII,
)
_MEALS = ("breakfast", "lunch", "dinner", "supper")
_PART_LEAD = re.compile(
    rf"\b(?:(?P<the>the)|this|that|last|in|at|by|since|until|till|before|after|tomorrow|yesterday|"
    rf"{WEEKDAY}(?:'s)?|late|early|mid)[ -]$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DayExpression:
    """A day or a longer span in a request; `begin` and `end` are offsets into the text."""

    begin: int
    end: int
    spans: tuple[DateSpan, ...]
    """Its readings, likeliest first; none for the day of an item where no item is known."""
    grain: Grain
    dated: bool = False
    """True for a date with its month, which overrides a weekday next to it."""
    anchored: bool = False
    """True for "that day", the day of an item."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day in a request; `begin` and `end` are offsets into the text."""

    begin: int
    end: int
    first_hour: int
    end_hour: int
    """Exclusive; hours past 23 are of the next day."""
    usual_hours: tuple[int, ...]
    """Likeliest first."""


def find_days(
    text: str, today: date, anchors: Sequence[date], past: bool, limit: int = 8
) -> list[DayExpression]:
    """Named days in the order of the text, at most `limit`.

    `anchors` are the days of the items, best first, for "the day before"; without any, such words
    have no reading. `past` is whether the request looks back: "Monday" is then the last one.
    """
    return list(islice(_days(text, today, anchors, past), limit))


def _days(text: str, today: date, anchors: Sequence[date], past: bool) -> Iterator[DayExpression]:
    for match in _DAY.finditer(text):
        try:
            days = _read_days(match, today, anchors, past)
        except (ValueError, OverflowError):  # "31 February", a year past 9999
            continue
        if days is not None:
            yield days


def _read_days(
    match: re.Match[str], today: date, anchors: Sequence[date], past: bool
) -> DayExpression | None:
    begin, end = match.span()
    words = match.group().lower()
    if match["near"]:
        shift = _NEAR_DAYS.get(words.removeprefix("the "), 0)
        return DayExpression(begin, end, (_one_day(today, days=shift),), "day")
    if match["weekday"] or match["short"]:
        return _weekday_days(match, words, today, anchors, past)
    if match["period"]:
        return _period(match, today, past)
    if match["dated"]:
        day: date = parse_date(words, default=datetime.combine(today, time())).date()
        wrong_side = day > today if past else day < today
        spans = [_one_day(day)]
        if wrong_side and not re.search(r"\d{4}", words):
            spans.insert(0, _one_day(day, years=-1 if past else 1))
        return DayExpression(begin, end, tuple(spans), "day", dated=True)
    if words_of_nth := match["nth_word"] or match["nth_last"] or match["nth"]:
        nth = _ORDINALS.get(words_of_nth.lower()) or int(words_of_nth)
        months = (0, -1, -2) if past else (0, 1, 2)
        near = [_one_day(today, months=shift, day=nth) for shift in months]
        right = [s for s in near if s[0].day == nth and (s[0] <= today if past else s[0] >= today)]
        return DayExpression(begin, end, tuple(right[:1]), "day")
    if match["month"]:
        number_of_month = parse_date(match["month"], default=datetime(2000, 1, 1)).month
        first = today + relativedelta(month=number_of_month, day=1)
        years = -1 if past and first > today else int(not past and number_of_month < today.month)
        first += relativedelta(years=years)
        return DayExpression(begin, end, ((first, first + relativedelta(months=1)),), "month")
    side = (match["side"] or "").strip().lower()
    if words.startswith("the") and not side and not words.startswith("the same"):
        return None
    shift = {"before": -1, "after": 1}.get(side, 0)
    spans = [_one_day(anchor, days=shift) for anchor in anchors]
    return DayExpression(begin, end, tuple(spans), "day", anchored=not side)


def _one_day(day: date, /, **shift: int) -> DateSpan:
    first: date = day + relativedelta(None, None, **shift)
    return first, first + timedelta(days=1)


def _next_weekday(day: date, index: int, direction: int) -> date:
    """The nearest weekday number `index` before (`direction` -1) or after (1) `day` itself."""
    found: date = day + relativedelta(days=direction, weekday=weekday(index, direction))
    return found


def _weekday_days(
    match: re.Match[str], words: str, today: date, anchors: Sequence[date], past: bool
) -> DayExpression:
    begin, end = match.span()
    name = (match["weekday"] or match["short"]).lower()
    index = next(i for i, full in enumerate(_WEEKDAYS) if full.startswith(name))
    tail = (match["tail"] or "").strip().lower()
    if tail in ("before", "after"):
        if anchors and match.string[:begin].lower().endswith("the "):
            direction = -1 if tail == "before" else 1
            days = [_next_weekday(anchor, index, direction) for anchor in anchors]
            return DayExpression(begin, end, tuple(_one_day(day) for day in days), "day")
        end -= len(tail) + 1
    coming, gone = _next_weekday(today, index, 1), _next_weekday(today, index, -1)
    which = words.split()[0]
    if which == "last":
        days = [gone]
    elif which == "next":
        days = [today + timedelta(days=7 - today.weekday() + index), coming]
    elif which == "this":
        days = [today if today.weekday() == index else coming]
    else:
        near = [today] if today.weekday() == index else []
        near += [_next_weekday(anchor, index, 1) for anchor in anchors[:1]]
        days = [gone, coming] if past else [coming, *near, gone]
    week = 7 if tail == "week" else 0
    spans = dict.fromkeys(_one_day(day, days=week) for day in days)
    return DayExpression(begin, end, tuple(spans), "day")


def _period(match: re.Match[str], today: date, past: bool) -> DayExpression | None:
    begin, end = match.span()
    which, period = match["period_which"].lower(), match["period"].lower()
    step = {"next": 1, "coming": 1, "last": -1, "past": -1}.get(which, 0)
    monday = today - timedelta(days=today.weekday())
    if period == "weekend":
        if which == "coming":
            step = 0
        elif past and not step and today.weekday() < 5:
            step = -1
        saturday = monday + timedelta(days=5 + 7 * step)
        return DayExpression(begin, end, ((saturday, saturday + timedelta(days=2)),), "part")
    if which == "the":
        return None
    if period == "week":
        first = monday + timedelta(days=7 * step)
        return DayExpression(begin, end, ((first, first + timedelta(days=7)),), "week")
    if period == "month":
        first = today + relativedelta(months=step, day=1)
        return DayExpression(begin, end, ((first, first + relativedelta(months=1)),), "month")
    first = today + relativedelta(years=step, month=1, day=1)
    return DayExpression(begin, end, ((first, first + relativedelta(years=1)),), "year")


def find_parts(text: str, limit: int = 6) -> list[Part]:
    """Parts of the day in the order of the text, at most `limit`; "film night" is not one."""
    return list(islice(_parts(text), limit))


def _parts(text: str) -> Iterator[Part]:
    for match in _PART.finditer(text):
        name = match["part"].lower()
        lead = _PART_LEAD.search(text[max(0, match.start("part") - 12) : match.start("part")])
        if name != "tonight" and (lead is None or (name in _MEALS and lead["the"])):
            continue
        first, end, usual = _PARTS[name]
        shade = (match["shade"] or "").lower()
        last = min(end, 24)
        if shade == "late" or (shade == "mid" and name == "morning"):
            usual = (last - 2, last - 3, last - 1)
        elif shade == "early":
            usual = (first + 1, first + 2, first)
        yield Part(*match.span(), first, end, usual)
