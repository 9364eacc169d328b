"""Typed times and dates as they are said: "7.30pm", "half-past seven", "22/5", "12.06.25"."""

import re
from datetime import date, datetime

from ctrag.text.dates.number_words import HOUR, HOUR_WORD, ORDINAL_WORD, WEEKDAY, ordinal

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_YEARS_BACK, _YEARS_AHEAD = 5, 10
"""Two figures are a year where it is that near: 17.4.12 is a version, not a day of 2012."""
# "7.30pm", "7 30 pm", "730pm", "7:30p": of a clock, whatever is before them but a currency.
_MINUTES_PM = re.compile(
    r"(?<![\w.,:/£$€-])(?P<hour>1\d|2[0-3]|0?[1-9])(?P<joint>[.:\s]|(?=\d\d\s?[ap]\.?m))"
    r"(?P<minute>[0-5]\d)\s?(?P<half>[ap])(?:\.?\s?m\b\.?|(?<=[:.]\d\d[ap])(?!\w))",
    re.IGNORECASE,
)
_TIMED_LEAD = re.compile(
    rf"\b(?:at|from|till?|until|by|before|after|tomorrow|today|tonight|{WEEKDAY}),?\s$",
    re.IGNORECASE,
)
# "In 1h30", "2h15m": hours and minutes, where "at 19h30" is a time.
_LAPSE = re.compile(
    r"(?:(?P<lead>\b(?:in|for|after|another|back(?:\sby)?|forward|timer(?:\sof)?)\s(?:about\s)?)|(?<![\w.,:]))"
    r"(?P<hours>\d{1,2})\s?h(?:(?:ou)?rs?)?\s?(?P<minutes>[0-5]?\d)(?:\s?(?P<unit>m(?:in(?:ute)?s?)?))?"
    r"(?![\w:])",
    re.IGNORECASE,
)
# "At 7 30", "at 17 30 today".
_APART = re.compile(
    r"\b(?P<lead>at\s|alarm\s(?:for\s)?)(?P<hour>[01]?\d|2[0-3])\s(?P<minute>[0-5][05])"
    r"(?=\s*(?:$|[,.;!?](?!\d))|\s(?:tomorrow|tonight|today|please|instead|on|in\sthe|to\s[a-z]+|and"
    rf"\s[a-z]+|{WEEKDAY})\b)",
    re.IGNORECASE,
)
_HYPHENS = re.compile(
    rf"\b(?P<part>half|quarter|five|ten|twenty|twenty-five)(?:-(?P<side>past|to)(?:-|\s)"
    rf"|\s(?P<late>past|to)-)(?=(?:{HOUR}|noon|midday|midnight)\b)",
    re.IGNORECASE,
)
_CLOCK = (
    rf"(?:\d{{1,2}}[:.]\d\d|\d{{1,2}}\s?[ap]\.?m|{HOUR_WORD}|half|quarter|noon|midday|midnight)"
)
_DATE = re.compile(
    r"(?<![\w.,:/£$€-])(?P<first>0?[1-9]|[12]\d|3[01])(?P<joint>[/.-])(?P<second>0?[1-9]|[12]\d|3[01])"
    r"(?:(?P=joint)(?P<year>(?:20)?\d\d)(?![\w/-]|\.\d)|(?P<stop>\.(?=\s))?(?![\w/-]|[.,:]\d))"
    r"(?!\s?[%€$£])"
    r"(?!\s(?:an?\s|of\s)?(?:cups?|hours?|tea|table|tsp|tbsp|pints?|litres?|inch|inches|miles?|price"
    r"|stars?|kg|km|kilos?|pounds?|points?|marks?|time\b|size|full|done|way|off)\b)",
    re.IGNORECASE,
)
_DAY_LEAD = re.compile(
    rf"\b(?:on|{WEEKDAY},?|dated?|due)\s(?:the\s)?$",
    re.IGNORECASE,
)
_LOOSE_LEAD = re.compile(
    r"\b(?:by|for|from|until|till?|to|since|before|after|between|and)\s(?:the\s)?$", re.IGNORECASE
)
_THEN_CLOCK = re.compile(rf",?\s(?:at\s|from\s)(?:about\s)?(?:\d|{_CLOCK})|,?\s{_CLOCK}\b", re.I)
_FRACTIONS = frozenset({(1, 2), (1, 3), (2, 3), (1, 4), (3, 4)})
# What has numbers of its own: "version 12.06.25", "flat 2/5", "they won 3/1".
_NUMBERED = re.compile(
    r"\b(?:versions?|v|release|build|(?:up|down)(?:dat|grad)(?:e|ed|ing)|chapters?|sections?|parts?|pages?|lessons?|verses?|rooms?"
    r"|flats?|units?|apartments?|questions?|levels?|bus(?:es)?|ratio|scored?|won|lost|drew|beat|rated?"
    r"|got|ip|python|ios|android|windows|ubuntu|model|no|number|scale|rating|odds|pressure)\.?\s"
    r"(?:\w+\s)?$",
    re.IGNORECASE,
)
# "The twelfth of the sixth".
_NUMBERED_MONTH = re.compile(
    rf"\b(?P<day>\d{{1,2}}(?:st|nd|rd|th)|{ORDINAL_WORD})\sof\sthe\s"
    rf"(?P<month>(?:1[0-2]|[1-9])(?:st|nd|rd|th)|{ORDINAL_WORD})"
    rf"(?=\s*(?:$|[,.;!?])|\s(?:at|from|to\s[a-z]{{2,}}|for|please|in\sthe|instead|about|{_CLOCK}"
    r"|20\d\d)\b)",
    re.IGNORECASE,
)
# "Dentist 12th 10.30": the day without "the" before an hour.
_BARE_NTH = re.compile(
    r"(?<=\w\s)(?<!\bthe\s)(?P<day>\d{1,2}(?:st|nd|rd|th)),?\s"
    r"(?:at\s)?(?P<hour>1?\d|2[0-3])[.:](?P<minute>[0-5]\d)(?![\d.,%€$£])",
    re.IGNORECASE,
)


def as_said(text: str, now: datetime) -> str:
    """The text with typed times and dates as they are said, at `now`.

    A date has its day first, as in Britain, unless the second number can be no month.
    """
    text = _LAPSE.sub(_lapse, text)
    text = _NUMBERED_MONTH.sub(_in_words, text)
    text = _DATE.sub(lambda found: _dated(found, now.date()), text)
    text = _MINUTES_PM.sub(_with_colon, text)
    text = _APART.sub(r"\g<lead>\g<hour>:\g<minute>", text)
    text = _BARE_NTH.sub(r"\g<day> at \g<hour>:\g<minute>", text)
    return _HYPHENS.sub(lambda found: f"{found['part']} {found['side'] or found['late']} ", text)


def _lapse(found: re.Match[str]) -> str:
    if found["lead"] is None and found["unit"] is None:
        return found[0]
    return f"{found['lead'] or ''}{found['hours']} hours {found['minutes']} minutes"


def _with_colon(found: re.Match[str]) -> str:
    before = found.string[: found.start()][-12:]
    apart = found["joint"].isspace() and 10 <= int(found["minute"]) <= 12
    if apart and not _TIMED_LEAD.search(before):  # "a table for 4 10 pm"
        return found[0]
    half = f" {found['half']}m" if int(found["hour"]) <= 12 else ""
    return f"{int(found['hour'])}:{found['minute']}{half}"


def _in_words(found: re.Match[str]) -> str:
    day, month = ordinal(found["day"]), ordinal(found["month"])
    if month > len(_MONTHS) or day > 31:
        return found[0]
    return f"{day} {_MONTHS[month - 1]}"


def _dated(found: re.Match[str], today: date) -> str:
    """A date with its month in words; what is none as it is."""
    day, month = int(found["first"]), int(found["second"])
    dotted = found["joint"] == "."
    if month > len(_MONTHS) and not dotted:
        day, month = month, day
    if month > len(_MONTHS) or _NUMBERED.search(found.string[: found.start()][-30:]):
        return found[0]
    if year := found["year"]:
        whole = int(year) if len(year) > 2 else 2000 + int(year)
        near = today.year - _YEARS_BACK <= whole <= today.year + _YEARS_AHEAD
        return f"{day} {_MONTHS[month - 1]} {whole}" if near or len(year) > 2 else found[0]
    if not _is_day(found, day, month):
        return found[0]
    return f"{day} {_MONTHS[month - 1]}"


def _is_day(found: re.Match[str], day: int, month: int) -> bool:
    """Whether two numbers are a day and its month: not 24/7, a half, a score or a time."""
    before = found.string[: found.start()][-20:]
    timed = _THEN_CLOCK.match(found.string, found.end()) is not None
    led = _DAY_LEAD.search(before) is not None
    if found["joint"] == "-" or ((day, month) == (24, 7) and not (led or timed)):
        return False
    if found["joint"] == ".":
        return led + timed + (found["stop"] is not None) >= 2
    if (day, month) in _FRACTIONS or month == 10:  # "eight out of ten"
        return led or timed
    return led or timed or day > len(_MONTHS) or _LOOSE_LEAD.search(before) is not None
