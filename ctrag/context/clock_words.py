"""The words for time: clock times, stretches of time, days and parts of the day.

Each is read by itself here ("half nine", "an hour and a half", "the 24th", "late evening"); how
they combine and which half of the day is meant is decided in :mod:`ctrag.context.moments`.
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

Relation = Literal["from_now", "ago", "later", "earlier", "past", "open"]
Unit = Literal["minute", "hour", "day", "week", "month", "year"]
Grain = Literal["minute", "hour", "part", "day", "week", "month", "year"]
DateSpan = tuple[date, date]
"""First day, and the first day after."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_VALUES = {word: value for value, word in enumerate(_SMALL)}
_VALUES |= {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_VALUES |= {"a": 1, "an": 1, "couple": 2, "few": 3, "oh": 0}

_DIGIT_WORD = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty"
_NUMBER = (
    rf"(?:\d{{1,3}}|(?:{_TENS})(?:[ -](?:{_DIGIT_WORD}))?|{_TEENS}|ten|eleven|twelve|"
    rf"{_DIGIT_WORD}|sixty|ninety)"
)
_HOUR_WORD = rf"(?:{_TEENS}|twenty[ -](?:one|two|three)|ten|eleven|twelve|{_DIGIT_WORD}|twenty)"
_HOUR = rf"(?:[01]?\d|2[0-4]|{_HOUR_WORD})"
_MINUTE_WORD = rf"(?:oh[ -](?:{_DIGIT_WORD})|(?:{_TENS})[ -](?:{_DIGIT_WORD})|{_TENS}|ten|{_TEENS})"
_UNITS: dict[str, Unit] = {
    "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour", "h": "hour", "day": "day",
    "night": "day", "week": "week", "fortnight": "week", "month": "month", "year": "year",
}  # fmt: skip
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
)
_UNIT = r"(?:minute|min|hour|hr|day|night|week|fortnight|month|year)s?\b"
# What follows a number that counts things instead of naming an hour.
_COUNTED = (
    rf"(?!\s*-?\s*(?:more\s+)?{_UNIT})(?!\s*(?:st|nd|rd|th|k|km|kg|g|ml|h|m)\b)(?![.,:/]?\d)"
    rf"(?!\s*[%€$£])(?!\s+(?:of|more|other|others|people|persons|kids|times?|percent|euros?|"
    rf"dollars?|pounds?|degrees|and\s+a\s+half|{_MONTH}))"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_LEAD = (
    rf"(?:at|by|around|since|till?|until|from|before|after|past|say|make\s+it|to|{_WEEKDAY}|"
    r"tomorrow|tonight|today)(?:\s+(?:at|about|around|like|roughly|exactly|maybe))?\s+"
)
_TAIL = (
    r"(?=\s*o'?\s?clock\b|\s*[ap]\.?m\b|-?ish\b|\s+(?:sharp|tonight|tomorrow|instead|then|say|"
    r"it\s+is|is\s+(?:too|safer|better|fine)|thing|slot|appointment|meeting|call|with)\b|"
    r"\s+(?:in\s+the|this)\s+(?:morning|afternoon|evening)\b|\s+at\s+night\b)"
)
_CLOCK = re.compile(
    rf"""\b(?:
      (?P<named>noon|midday|midnight)
    | (?<!from\ )(?<!between\ )(?P<part>half|quarter|(?:five|ten|twenty(?:[ -]five)?|5|10|20|25)
        (?:\s+min(?:ute)?s?)?)\s+(?P<side>past|to|till|of|after)\s+(?P<of>{_HOUR})(?!\w){_COUNTED}
    | (?P<open>half|quarter)\s+(?P<open_side>past|to)\b
    | half[ -](?P<half>ten|eleven|twelve|{_DIGIT_WORD})\b
    | (?P<h24>[01]?\d|2[0-4])(?::|h)(?P<m24>[0-5]\d)(?!\d)
    | (?P<word_h>{_HOUR_WORD})[ -](?P<word_m>{_MINUTE_WORD})\b{_COUNTED}
    | {_LEAD}(?P<lead_h>{_HOUR})(?:\.(?P<lead_m>[0-5]\d))?(?!\w){_COUNTED}
    | (?P<tail_h>{_HOUR}){_TAIL}
    )(?:\s*o'?\s?clock\b)?(?:\s*(?P<half_day>[ap])\.?m\b\.?)?""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_DURATION = re.compile(
    rf"""\b(?P<just>just\s+now|a\s+(?:moment|while)\s+ago)\b
    |\b(?:(?P<three_q>three\s+quarters\s+of\s+an\s+)|(?P<half>half\s+(?:an?\s+|-)?)
    |(?P<quarter>quarter\s+(?:of\s+)?(?:an\s+)?)
    |(?P<count>{_NUMBER}|\d\.\d|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|an?)
      (?P<and_half>\s+and\s+a\s+half)?\s*-?\s*(?:more\s+|full\s+|whole\s+)?)
    (?P<unit>minute|min|hour|hr|h|day|night|week|fortnight|month|year)s?\b
    (?P<late_half>\s+and\s+a\s+half)?
    |\b(?:back|give\s+(?:me|us|it|her|him|them)|another|by)\s+
      (?P<bare>[1-5]?[05]|five|ten|fifteen|(?:{_TENS})(?:[ -]five)?)
      (?!\s*(?:o'|[ap]\.?m\b|:|\.\d|%|\d|\w*th\b)){_COUNTED}(?=\s*(?:$|[,.;!?]|more\b|then\b|or\b))""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_BEFORE_DURATION = re.compile(
    r"\b(in|within|last|past|previous|forward)\s+(?:the\s+|about\s+|by\s+)?$", re.I
)
_AFTER_DURATION = re.compile(
    r"\s*(?:(ago)|(from\s+now)|(later|after|back)|(before|earlier|sooner|forward|early))\b", re.I
)
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
    | (?:(?P<which>last|next|this|that|coming)\ )?(?P<weekday>{_WEEKDAY})
        (?P<tail>\ (?:week|before|after))?
    | (?:on|next|last|this|by|until|till|since|from|before)[ ]
        (?P<short>mon|tue|wed|thu|fri|sat|sun)(?:s|rs?)?
    | (?P<period_which>this|next|last|past|coming|the)\ (?P<period>week(?:end)?|month|year)
    | (?P<dated>\d{{4}}-\d\d-\d\d
        |\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH}(?:,?\ \d{{4}})?
        |{_MONTH}\ (?:the\ )?\d{{1,2}}(?:st|nd|rd|th)?(?![\d:])(?:,?\ \d{{4}})?)
    | (?P<nth>\d{{1,2}})(?:st|nd|rd|th)(?!\ (?:floor|time|grade|birthday|anniversary|one|place|
        round|half|draft|edition|street|avenue|symphony|movement|century|row|lesson|attempt|try))
    | (?:on\ )?(?:the\ )?(?P<nth_word>{_NTH})(?=\ at\ {_HOUR}\b)
    | on\ the\ (?P<nth_last>{_NTH})(?=\ then\b|[,.;?!]|$)
    | (?:in|since|this|last|next|until|till|by|during)\ (?P<month>{_MONTH})
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
    rf"{_WEEKDAY}(?:'s)?|late|early|mid)[ -]$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock time in a request; `begin` and `end` are offsets into the text."""

    begin: int
    end: int
    hour: int | None
    """0 to 23, or None where only the minutes are named ("quarter past")."""
    minute: int
    exact: bool
    """False where the words leave open which half of the day is meant."""
    round_hour: bool
    """True where no minutes are named ("at seven", but not "seven thirty")."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A stretch of time in a request; `begin` and `end` are offsets into the text."""

    begin: int
    end: int
    amount: float
    unit: Unit
    relation: Relation
    """How the words tie it to a point: "ago", "from_now", "later" or "earlier" than some item,
    "past" for the stretch that ends now ("the last two hours"), "open" when they do not say."""


@dataclass(frozen=True, slots=True)
class Days:
    """A day or a longer stretch in a request; `begin` and `end` are offsets into the text."""

    begin: int
    end: int
    spans: tuple[DateSpan, ...]
    """Its readings, likeliest first; none for the day of an item where no item is known."""
    grain: Grain
    dated: bool = False
    """True for a date with its month, which outweighs a weekday beside it."""
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


def number(words: str) -> int:
    """The value of digits or English number words up to 99, such as "7" or "twenty-five".

    Raises KeyError for other words; the patterns of this module only pass known ones.
    """
    if words.isdigit():
        return int(words)
    return sum(_VALUES[word] for word in re.split(r"[\s-]+", words.lower()))


def find_clocks(text: str, limit: int = 8) -> list[Clock]:
    """Clock times in the order of the text, at most `limit`; words that count things are left."""
    read = (_clock(match) for match in _CLOCK.finditer(text))
    return list(islice((clock for clock in read if clock is not None), limit))


def _clock(match: re.Match[str]) -> Clock | None:
    group = match.groupdict()
    begin, end = match.span()
    half_day = (group["half_day"] or "").lower()
    if named := group["named"]:
        return Clock(begin, end, 0 if named.lower() == "midnight" else 12, 0, True, True)
    if side := group["side"] or group["open_side"]:
        words = (group["part"] or group["open"]).lower()
        minute = {"half": 30, "quarter": 15}.get(words) or number(re.split(r"\s+min", words)[0])
        late = side.lower() in ("past", "after")
        minute = minute if late else 60 - minute
        if not group["of"]:
            return Clock(begin, end, None, minute, True, False)
        hour = number(group["of"]) if late else number(group["of"]) - 1 or 12
        return _on_dial(begin, end, hour % 24, minute, half_day, group["of"])
    if group["half"]:
        return _on_dial(begin, end, number(group["half"]), 30, half_day, group["half"])
    if group["lead_h"]:
        begin = match.start("lead_h")
    words = group["h24"] or group["word_h"] or group["lead_h"] or group["tail_h"]
    minute = number(group["m24"] or group["word_m"] or group["lead_m"] or "0")
    named_minute = bool(group["m24"] or group["word_m"] or group["lead_m"])
    hour = number(words)
    if hour > 24 or minute > 59:
        return None
    return _on_dial(begin, end, hour % 24, minute, half_day, words, named_minute)


def _on_dial(
    begin: int,
    end: int,
    hour: int,
    minute: int,
    half_day: str,
    words: str,
    named_minute: bool = True,
) -> Clock:
    if half_day:
        hour = hour % 12 + (12 if half_day == "p" else 0)
    exact = bool(half_day) or hour > 12 or hour == 0 or words.startswith("0")
    return Clock(begin, end, hour, minute, exact, not named_minute)


def find_durations(text: str, limit: int = 6) -> list[Duration]:
    """Stretches of time in the order of the text, at most `limit`.

    A bare number after "back", "another" or "give me" counts minutes ("push it back fifteen").
    """
    return [_duration(match, text) for match in islice(_DURATION.finditer(text), limit)]


def _duration(match: re.Match[str], text: str) -> Duration:
    group = match.groupdict()
    begin, end = match.span()
    if group["just"]:
        return Duration(begin, end, 1, "hour", "past")
    if group["bare"]:
        return Duration(match.start("bare"), end, number(group["bare"]), "minute", "open")
    if group["three_q"]:
        amount = 0.75
    elif group["half"] or group["quarter"]:
        amount = 0.5 if group["half"] else 0.25
    else:
        words = re.sub(r"^a\s+(?=couple|few)|\s+of$", "", group["count"].lower())
        amount = float(words) if "." in words else float(number(words))
    amount += 0.5 if group["and_half"] or group["late_half"] else 0
    name = group["unit"].lower()
    amount *= 2 if name == "fortnight" else 1
    return Duration(begin, end, amount, _UNITS[name], _relation(text, begin, end))


def _relation(text: str, begin: int, end: int) -> Relation:
    after = _AFTER_DURATION.match(text, end)
    if after:
        relations: tuple[Relation, ...] = ("ago", "from_now", "later", "earlier")
        return relations[(after.lastindex or 1) - 1]
    before = _BEFORE_DURATION.search(text[max(0, begin - 24) : begin])
    if before:
        word = before[1].lower()
        if word in ("in", "within"):
            return "from_now"
        return "earlier" if word == "forward" else "past"
    return "open"


def find_days(
    text: str, today: date, anchors: Sequence[date], past: bool, limit: int = 8
) -> list[Days]:
    """Named days in the order of the text, at most `limit`.

    `anchors` are the days of the items, best first, for "the day before"; without any, such words
    have no reading. `past` tells whether the request looks back: "Monday" is then the last one.
    """
    return list(islice(_days(text, today, anchors, past), limit))


def _days(text: str, today: date, anchors: Sequence[date], past: bool) -> Iterator[Days]:
    for match in _DAY.finditer(text):
        try:
            days = _read_days(match, today, anchors, past)
        except (ValueError, OverflowError):  # "31 February", a year past 9999
            continue
        if days is not None:
            yield days


def _read_days(
    match: re.Match[str], today: date, anchors: Sequence[date], past: bool
) -> Days | None:
    begin, end = match.span()
    words = match.group().lower()
    if match["near"]:
        shift = _NEAR_DAYS.get(words.removeprefix("the "), 0)
        return Days(begin, end, (_one_day(today, days=shift),), "day")
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
        return Days(begin, end, tuple(spans), "day", dated=True)
    if words_of_nth := match["nth_word"] or match["nth_last"] or match["nth"]:
        nth = _ORDINALS.get(words_of_nth.lower()) or int(words_of_nth)
        months = (0, -1, -2) if past else (0, 1, 2)
        near = [_one_day(today, months=shift, day=nth) for shift in months]
        right = [s for s in near if s[0].day == nth and (s[0] <= today if past else s[0] >= today)]
        return Days(begin, end, tuple(right[:1]), "day")
    if match["month"]:
        number_of_month = parse_date(match["month"], default=datetime(2000, 1, 1)).month
        first = today + relativedelta(month=number_of_month, day=1)
        years = -1 if past and first > today else int(not past and number_of_month < today.month)
        first += relativedelta(years=years)
        return Days(begin, end, ((first, first + relativedelta(months=1)),), "month")
    side = (match["side"] or "").strip().lower()
    if words.startswith("the") and not side and not words.startswith("the same"):
        return None
    shift = {"before": -1, "after": 1}.get(side, 0)
    spans = [_one_day(anchor, days=shift) for anchor in anchors]
    return Days(begin, end, tuple(spans), "day", anchored=not side)


def _one_day(day: date, /, **shift: int) -> DateSpan:
    first: date = day + relativedelta(None, None, **shift)
    return first, first + timedelta(days=1)


def _next_weekday(day: date, index: int, sign: int) -> date:
    """The nearest weekday number `index` before (`sign` -1) or after (1) `day` itself."""
    found: date = day + relativedelta(days=sign, weekday=weekday(index, sign))
    return found


def _weekday_days(
    match: re.Match[str], words: str, today: date, anchors: Sequence[date], past: bool
) -> Days:
    begin, end = match.span()
    name = (match["weekday"] or match["short"]).lower()
    index = next(i for i, full in enumerate(_WEEKDAYS) if full.startswith(name))
    tail = (match["tail"] or "").strip().lower()
    if tail in ("before", "after"):
        if anchors and match.string[:begin].lower().endswith("the "):
            sign = -1 if tail == "before" else 1
            days = [_next_weekday(anchor, index, sign) for anchor in anchors]
            return Days(begin, end, tuple(_one_day(day) for day in days), "day")
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
    return Days(begin, end, tuple(spans), "day")


def _period(match: re.Match[str], today: date, past: bool) -> Days | None:
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
        return Days(begin, end, ((saturday, saturday + timedelta(days=2)),), "part")
    if which == "the":
        return None
    if period == "week":
        first = monday + timedelta(days=7 * step)
        return Days(begin, end, ((first, first + timedelta(days=7)),), "week")
    if period == "month":
        first = today + relativedelta(months=step, day=1)
        return Days(begin, end, ((first, first + relativedelta(months=1)),), "month")
    first = today + relativedelta(years=step, month=1, day=1)
    return Days(begin, end, ((first, first + relativedelta(years=1)),), "year")


def find_parts(text: str, limit: int = 6) -> list[Part]:
    """Parts of the day in the order of the text, at most `limit`; "film night" is none."""
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
