"""Days counted from a named one: "a week tomorrow", "two days before Friday", "Saturday fortnight".

`day_words` finds the named day, this module what it is counted from there.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta

from ctrag.text.dates.calendar_days import DateSpan, weekday_number
from ctrag.text.dates.number_words import NUMBER, WEEKDAY, number

_LONGEST = 48
"""Characters before a day that are read."""
# "For two weeks from Friday" says how long, "every two weeks on Friday" how often.
_BEFORE_DAY = re.compile(
    rf"(?<!\bin\ )(?<!\bfor\ )(?<!\bevery\ )(?<!\blast\ )(?<!\bpast\ )(?<!\bnext\ )(?<!\bthis\ )"
    r"\b(?:"
    rf"(?P<count>{NUMBER}|an?|(?:a\ )?couple\ of)\ (?P<unit>week|fortnight)s?\ (?:(?:on|from)\ )?"
    rf"|(?P<days>{NUMBER}|a|(?:a\ )?couple\ of)\ days?\ from\ "
    rf"|(?:(?P<many>{NUMBER}|an?|(?:a\ )?couple\ of|the)\ |(?<!many\ )(?=\w+[^s]\ ))"
    r"(?P<near>day|night|morning|afternoon|evening|week|fortnight)s?\ (?P<side>before|after)\ "
    rf"|the\ (?P<weekday>{WEEKDAY})\ (?P<beside>before|after)\ )(?:the\ )?$",
    re.IGNORECASE,
)
_SIDE = re.compile(r"(?:before|after)\ ", re.IGNORECASE)
_BEHIND_DAY = re.compile(r"\ (?P<unit>week|fortnight)(?![\w'’-])", re.IGNORECASE)
# What such a count is reckoned from: "a week tomorrow", not "a week this month".
_WEEKS_FROM = re.compile(rf"(?:today|tomorrow|tmrw|yesterday|tonight|{WEEKDAY})\b", re.IGNORECASE)
_DAYS_OF = {"day": 1, "week": 7, "fortnight": 14}


def counted(text: str, begin: int, end: int) -> tuple[int, int, Callable[[DateSpan], DateSpan]]:
    """Where the count and the day at `begin` to `end` stand, and what becomes of the day."""
    inner = _SIDE.match(text, begin, end)  # "before Christmas" is found with its preposition
    named = inner.end() if inner is not None else begin
    led = _BEFORE_DAY.search(text[max(0, named - _LONGEST) : named])
    weeks_from = _WEEKS_FROM.match(text, begin) is not None
    if led is not None and (weeks_from or not led["count"]):
        first = max(0, named - _LONGEST) + led.start()
        if name := led["weekday"]:
            return first, end, lambda span: _beside(span, name, led["beside"].lower() == "after")
        unit = (led["unit"] or led["near"] or "day").lower()
        many = _amount(led["count"] or led["days"] or led["many"] or "the")
        back = (led["side"] or "").lower() == "before"
        days = many * _DAYS_OF.get(unit, 1) * (-1 if back else 1)
        return first, end, lambda span: _moved(span, days)
    behind = _BEHIND_DAY.match(text, end) if weeks_from else None
    if behind is None or text[begin:end].lower().endswith("week"):
        return begin, end, lambda span: span
    days = _DAYS_OF[behind["unit"].lower()]
    return begin, behind.end(), lambda span: _moved(span, days)


def _amount(words: str) -> int:
    words = words.lower()
    return 1 if words == "the" else 2 if "couple" in words else number(words)


def _moved(span: DateSpan, days: int) -> DateSpan:
    first = span[0] + timedelta(days=days)
    return first, first + timedelta(days=1)


def _beside(span: DateSpan, name: str, after: bool) -> DateSpan:
    """The nearest such weekday before or after a day."""
    step = 1 if after else -1
    day: date = span[0] + timedelta(days=step)
    while day.weekday() != weekday_number(name):
        day += timedelta(days=step)
    return day, day + timedelta(days=1)
