"""The words for clock times: "half nine", "quarter past", "at seven".

How they combine with days and which half of the day is meant is decided in
:mod:`ctrag.text.dates.temporal_expressions`.
"""

import re
from dataclasses import dataclass
from itertools import islice

from ctrag.text.dates.number_words import (
    COUNTED,
    DIGIT_WORD,
    HOUR,
    HOUR_WORD,
    TEENS,
    TENS,
    WEEKDAY,
    number,
)

_MINUTE_WORD = rf"(?:oh[ -](?:{DIGIT_WORD})|(?:{TENS})[ -](?:{DIGIT_WORD})|{TENS}|ten|{TEENS})"
_LEAD = (
    rf"(?:at|by|around|since|till?|until|from|before|after|past|say|make\s+it|to|{WEEKDAY}|"
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
        (?:\s+min(?:ute)?s?)?)\s+(?P<side>past|to|till|of|after)\s+(?P<of>{HOUR})(?!\w){COUNTED}
    | (?P<open>half|quarter)\s+(?P<open_side>past|to)\b
    | half[ -](?P<half>ten|eleven|twelve|{DIGIT_WORD})\b
    | (?P<h24>[01]?\d|2[0-4])(?::|h)(?P<m24>[0-5]\d)(?!\d)
    | (?P<word_h>{HOUR_WORD})[ -](?P<word_m>{_MINUTE_WORD})\b{COUNTED}
    | {_LEAD}(?P<lead_h>{HOUR})(?:\.(?P<lead_m>[0-5]\d))?(?!\w){COUNTED}
    | (?P<tail_h>{HOUR}){_TAIL}
    )(?:\s*o'?\s?clock\b)?(?:\s*(?P<half_day>[ap])\.?m\b\.?)?""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class ClockExpression:
    """A clock time in a request; `begin` and `end` are offsets into the text."""

    begin: int
    end: int
    hour: int | None
    """0 to 23, or None where only the minutes are named ("quarter past")."""
    minute: int
    exact: bool
    """False where the half of the day is ambiguous."""
    round_hour: bool
    """True where no minutes are named ("at seven", but not "seven thirty")."""


def find_clocks(text: str, limit: int = 8) -> list[ClockExpression]:
    """Clock times in the order of the text, at most `limit`; not numbers that count things."""
    read = (_clock(match) for match in _CLOCK.finditer(text))
    return list(islice((clock for clock in read if clock is not None), limit))


def _clock(match: re.Match[str]) -> ClockExpression | None:
    group = match.groupdict()
    begin, end = match.span()
    half_day = (group["half_day"] or "").lower()
    if named := group["named"]:
        return ClockExpression(begin, end, 0 if named.lower() == "midnight" else 12, 0, True, True)
    if side := group["side"] or group["open_side"]:
        words = (group["part"] or group["open"]).lower()
        minute = {"half": 30, "quarter": 15}.get(words) or number(re.split(r"\s+min", words)[0])
        late = side.lower() in ("past", "after")
        minute = minute if late else 60 - minute
        if not group["of"]:
            return ClockExpression(begin, end, None, minute, True, False)
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
) -> ClockExpression:
    if half_day:
        hour = hour % 12 + (12 if half_day == "p" else 0)
    exact = bool(half_day) or hour > 12 or hour == 0 or words.startswith("0")
    return ClockExpression(begin, end, hour, minute, exact, not named_minute)
