"""The words for days: "the 24th", "the third of July", "next weekend".

python-dateutil finds weekdays and month ends.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import islice
from typing import Literal

from dateutil.relativedelta import (  # type: ignore[import-untyped,unused-ignore]
    relativedelta,
    weekday,
)

from ctrag.text.dates.calendar_days import (
    FEAST,
    MONTH_EDGE,
    WEEKDAY_OF_MONTH,
    WEEKEND_EDGE,
    DateSpan,
    dated,
    feast_days,
    month_edge,
    month_number,
    on_weekday,
    one_day,
    weekday_number,
    weekday_of_month,
    weekend_edge,
)
from ctrag.text.dates.counted_days import counted
from ctrag.text.dates.number_words import HOUR, MONTH, ORDINAL_WORD, WEEKDAY, ordinal

Grain = Literal["minute", "hour", "part", "day", "week", "month", "year"]

_NOT_A_DAY = (
    r"floor|time|grade|birthday|anniversary|one|place|round|half|draft|edition|street|avenue|"
    r"symphony|movement|century|row|lesson|attempt|try|quarter|person|thing|day|week|month|year|"
    r"option|item|song|chapter|episode|page|step|class|period|night|hole|gear|movie|book|part|call|"
    r"email|message|world|party|game|match|act|degree|two|three|few|couple|people|of"
)
_CLOCK_NEXT = rf"(?:{HOUR}|half|quarter|noon|midday|midnight)\b"
_YEAR = r"(?:,?\ (?P<{}>\d{{4}})\b)?"
_DAY = re.compile(
    rf"""\b(?:
      (?P<near>(?:the\ )?day\ after\ tomorrow|(?:the\ )?day\ before\ yesterday|today|tonight
        |tomorrow|tmrw|yesterday|last\ night|this\ (?:morning|afternoon|evening))
    | {FEAST}
    | {MONTH_EDGE}
    | (?P<iso>\d{{4}}-\d\d-\d\d)
    | (?:(?P<weekday_a>{WEEKDAY}),?\ (?:on\ )?(?:the\ )?)?(?P<day_a>\d{{1,2}}(?:st|nd|rd|th)?
        |{ORDINAL_WORD})\ (?:of\ )?(?P<month_a>{MONTH}){_YEAR.format("year_a")}
        (?!\ (?:be|have|not|need|come|also|well|i|we|you|they|he|she|it)\b)
    | (?:in\ )?(?:(?P<weekday_b>{WEEKDAY}),?\ )?(?<!\bi\ )(?<!\bwe\ )(?<!\byou\ )
        (?P<month_b>{MONTH})(?:,?\ the|,)?\ (?P<day_b>
        \d{{1,2}}(?:st|nd|rd|th)?(?![\d:])|{ORDINAL_WORD}){_YEAR.format("year_b")}
    | (?:(?P<weekday_n>{WEEKDAY}),?\ (?:the\ )?)?(?P<nth>\d{{1,2}}(?:st|nd|rd|th))
        (?!\ (?:{_NOT_A_DAY})\b)
    | (?:(?P<weekday_w>{WEEKDAY}),?\ (?:the\ )?|(?P<nth_lead>on|by|for|until|till?|from|since|before
        |after|to|and|not|mean|say|make\ it|be|(?:no|wait|sorry|actually|rather),?)\ the\ )
        (?P<nth_word>{ORDINAL_WORD})(?!\ (?:{_NOT_A_DAY}|{WEEKDAY})\b)
    | (?P<nth_at>{ORDINAL_WORD})(?=(?:,|\ at|,\ at|\ around)\ {_CLOCK_NEXT})
    | (?P<nth_of>\d{{1,2}}(?:st|nd|rd|th)|{ORDINAL_WORD})\ of\ (?P<nth_month>the|this|next)\ month
    | {WEEKDAY_OF_MONTH}
    | {WEEKEND_EDGE}
    | (?P<ahead>(?:next|this|a|one)\ week,?\ (?:(?:on|from)\ )?)?(?:(?P<which>last|next|this|that
        |coming)\ )?(?P<weekday>{WEEKDAY})
        (?P<tail>\ (?:(?:of\ |in\ )?(?:(?:next|this)\ week|the\ week\ after\ next)|week
        |after\ next|before|after))?
    | (?:on|next|last|this|by|until|till|since|from|before)[ ]
        (?P<short>mon|tue|wed|thu|fri|sat|sun)(?:s|rs?)?
    | (?:the\ )?(?P<period_late>week(?:end)?|month|year)\ after\ next
    | (?P<period_which>this|next|last|past|coming|the)\ (?P<period>week(?:end)?|month|year)
    | (?:in|since|this|last|next|until|till|by|during)\ (?P<month>{MONTH})
        (?!,?\ (?:the\ )?(?:\d{{1,2}}\b|{ORDINAL_WORD}))
    | (?P<that>(?:that|same|the)\ (?:very\ )?(?:same\ )?(?:day|morning|afternoon|evening|night)
        (?P<side>\ before|\ after)?)
    )\b""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
# What follows "the second" where it is a day and not a thing.
_AFTER_DAY = re.compile(
    r"\s*(?:$|[,.;:!?]|(?:to\s+the|at|around|about|by|before|after|from|till|until|please|remind|then|and|or|"
    r"i|we|with|not|no|is|was|instead|in\s+the|noon|midnight|half|quarter|\d{1,2}:\d\d)\b)",
    re.IGNORECASE,
)
_IN = re.compile(r"\bin\s$", re.IGNORECASE)
# Between two days of which the one without a month is of the other's: "from the third to the fifth
# of July", "the ninth of October, I mean the tenth".
_SAME_MONTH = re.compile(
    r"[^.;!?]{0,12}\b(?:to|and|or|until|till|no|not|mean|sorry|wait|make|actually|rather|instead)\b"
    r"[^.;!?]{0,30}",
    re.IGNORECASE,
)
_NEAR_DAYS = {
    "day after tomorrow": 2, "day before yesterday": -2, "tomorrow": 1, "tmrw": 1,
    "yesterday": -1, "last night": -1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DayExpression:
    """A day or a longer span in a request; `begin` and `end` are offsets into the text."""

    begin: int
    end: int
    spans: tuple[DateSpan, ...]
    """Its readings, likeliest first; none for the day of an item where no item is known."""
    grain: Grain
    dated: bool = False
    """True for a day with its month or number, which overrides a weekday next to it."""
    anchored: bool = False
    """True for "that day", the day of an item."""


def find_days(
    text: str, today: date, anchors: Sequence[date], past: bool, limit: int = 8
) -> list[DayExpression]:
    """Named days in the order of the text, at most `limit`.

    `anchors` are the days of the items, best first, for "the day before"; without any, such words
    have no reading. `past` is whether the request looks back: "Monday" is then the last one.
    """
    found: list[DayExpression] = []
    for days in _days(text, today, anchors, past):
        begin, end, shifted = counted(text, days.begin, days.end)
        if (begin, end) != (days.begin, days.end):
            spans = tuple(shifted(span) for span in days.spans[:2])
            days = replace(days, begin=begin, end=end, spans=spans, grain="day", anchored=False)
            # "The day before Friday" was read as that before an item's.
            found = [one for one in found if one.end <= begin]
        found.append(days)
    return found[:limit]


def _days(text: str, today: date, anchors: Sequence[date], past: bool) -> Iterator[DayExpression]:
    matches = list(islice(_DAY.finditer(text), 24))
    for place, match in enumerate(matches):
        try:
            beside = [*matches[place + 1 : place + 2], *matches[max(0, place - 1) : place]]
            month = next((_month_of(other) for other in beside if _share_month(match, other)), None)
            days = _read_days(match, today, anchors, past, month)
        except (ValueError, OverflowError):  # "31 February", a year past 9999
            continue
        if days is not None:
            yield days


def _month_of(match: re.Match[str]) -> str | None:
    month: str | None = match["month_a"] or match["month_b"]
    return month


def _share_month(match: re.Match[str], other: re.Match[str]) -> bool:
    first, second = sorted((match, other), key=lambda one: one.start())
    gap = match.string[first.end() : second.end()]
    return _month_of(other) is not None and _SAME_MONTH.match(gap) is not None


def _read_days(
    match: re.Match[str],
    today: date,
    anchors: Sequence[date],
    past: bool,
    month_beside: str | None,
) -> DayExpression | None:
    begin, end = match.span()
    words = match.group().lower()
    if match["near"]:
        shift = _NEAR_DAYS.get(words.removeprefix("the "), 0)
        return DayExpression(begin, end, (one_day(today, days=shift),), "day")
    if match["weekday"] or match["short"]:
        return _weekday_days(match, words, today, anchors, past)
    if match["period"] or match["period_late"]:
        return _period(match, today, past)
    if match["feast"] or match["feast_short"]:
        spans = [one_day(day) for day in feast_days(match, today, past)]
        return DayExpression(begin, end, tuple(spans), "day", dated=True)
    if match["rank"]:
        spans = [one_day(weekday_of_month(match, today, past))]
        return DayExpression(begin, end, tuple(spans), "day", dated=True)
    if match["weekend_side"]:
        return DayExpression(begin, end, (one_day(weekend_edge(match, today, past)),), "day")
    if match["edge"]:
        spans = [one_day(day) for day in month_edge(match, today)]
        return DayExpression(begin, end, tuple(spans), "day", dated=True)
    if match["iso"]:
        return DayExpression(begin, end, (one_day(date.fromisoformat(words)),), "day", dated=True)
    if month := _month_of(match):
        name = match["weekday_a"] or match["weekday_b"]
        day = ordinal(match["day_a"] or match["day_b"])
        year = match["year_a"] or match["year_b"]
        spans = dated(today, day, month, name, past, year)
        return DayExpression(begin, end, tuple(spans), "day", dated=True)
    if nth := match["nth"] or match["nth_word"] or match["nth_at"] or match["nth_of"]:
        return _numbered(match, ordinal(nth), today, past, month_beside)
    if match["month"]:
        number_of_month = month_number(match["month"])
        first = today + relativedelta(month=number_of_month, day=1)
        years = -1 if past and first > today else int(not past and number_of_month < today.month)
        first += relativedelta(years=years)
        return DayExpression(begin, end, ((first, first + relativedelta(months=1)),), "month")
    side = (match["side"] or "").strip().lower()
    if words.startswith("the") and not side and not words.startswith("the same"):
        return None
    if side and _IN.search(match.string[:begin][-4:]):  # "in the morning before I leave"
        return None
    shift = {"before": -1, "after": 1}.get(side, 0)
    spans = [one_day(anchor, days=shift) for anchor in anchors]
    return DayExpression(begin, end, tuple(spans), "day", anchored=not side)


def _numbered(
    match: re.Match[str], day: int, today: date, past: bool, month_beside: str | None
) -> DayExpression | None:
    """The day with a number and no month: the next one, or the last."""
    begin = max(match.start(name) for name in ("nth", "nth_word", "nth_at", "nth_of"))
    end = match.end()
    weekday_name = match["weekday_n"] or match["weekday_w"]
    if weekday_name:
        begin = match.start()
    elif match["nth_word"] and not _AFTER_DAY.match(match.string, end):
        # "On the fourteenth buy milk" is clear, "on the third try" and "for the tenth" are less so.
        clear = day > 3 and match["nth_lead"].lower() in ("on", "by", "until")
        if not clear:
            return None
    if match["nth_month"]:
        first = today + relativedelta(day=1, months=match["nth_month"].lower() == "next")
        spans = [one_day(first.replace(day=day))]
        if match["nth_month"].lower() == "the" and spans[0][0] < today:
            spans = [one_day(first + relativedelta(months=1, day=day))]
        return DayExpression(begin, end, tuple(spans), "day", dated=True)
    if month_beside:
        spans = dated(today, day, month_beside, weekday_name, past, None)
        return DayExpression(begin, end, tuple(spans), "day", dated=True)
    months = range(-12, 1)[::-1] if past else range(13)
    near = [one_day(today, months=shift, day=day) for shift in months]
    right = [s for s in near if s[0].day == day and (s[0] <= today if past else s[0] >= today)]
    # The next one counts, unless it is on another weekday than said.
    return DayExpression(
        begin, end, tuple(on_weekday(right[:3], weekday_name)[:1]), "day", dated=True
    )


def _next_weekday(day: date, index: int, direction: int) -> date:
    """The nearest weekday number `index` before (`direction` -1) or after (1) `day` itself."""
    found: date = day + relativedelta(days=direction, weekday=weekday(index, direction))
    return found


def _weekday_days(
    match: re.Match[str], words: str, today: date, anchors: Sequence[date], past: bool
) -> DayExpression:
    begin, end = match.span()
    index = weekday_number(match["weekday"] or match["short"])
    tail = (match["tail"] or "").strip().lower()
    ahead = (match["ahead"] or "").lower()
    which = (match["which"] or words.split()[0]).lower()
    if tail in ("before", "after"):
        if anchors and match.string[:begin].lower().endswith("the "):
            direction = -1 if tail == "before" else 1
            days = [_next_weekday(anchor, index, direction) for anchor in anchors]
            return DayExpression(begin, end, tuple(one_day(day) for day in days), "day")
        end -= len(tail) + 1
    coming, gone = _next_weekday(today, index, 1), _next_weekday(today, index, -1)
    monday = today - timedelta(days=today.weekday())
    in_week = monday + timedelta(days=index)
    if tail.endswith("week after next"):
        days = [in_week + timedelta(days=14)]
    elif tail.endswith("next week") or ahead.startswith("next week"):
        days = [in_week + timedelta(days=7)]
    elif tail.endswith("this week") or ahead.startswith("this week"):
        days = [in_week]
    elif tail in ("week", "after next") or ahead:  # "Friday week" is a week after it
        days = [coming + timedelta(days=7), in_week + timedelta(days=14)]
    elif which == "last":
        days = [gone]
    elif which == "next":
        days = [in_week + timedelta(days=7), coming]
    elif which == "this":
        days = [today if today.weekday() == index else coming]
    else:
        near = [today] if today.weekday() == index else []
        near += [_next_weekday(anchor, index, 1) for anchor in anchors[:1]]
        days = [gone, coming] if past else [coming, *near, gone]
    return DayExpression(begin, end, tuple(dict.fromkeys(one_day(day) for day in days)), "day")


def _period(match: re.Match[str], today: date, past: bool) -> DayExpression | None:
    begin, end = match.span()
    late = match["period_late"]
    which, period = (match["period_which"] or "").lower(), (late or match["period"]).lower()
    step = 2 if late else {"next": 1, "coming": 1, "last": -1, "past": -1}.get(which, 0)
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
