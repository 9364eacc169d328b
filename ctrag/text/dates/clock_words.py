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
    PLURAL,
    TEENS,
    TENS,
    WEEKDAY,
    number,
)

_HALF_DAY = r"[ap](?:\.?\s?m)\b"
_MINUTE_WORD = rf"(?:oh[ -](?:{DIGIT_WORD})|(?:{TENS})[ -](?:{DIGIT_WORD})|{TENS}|ten|{TEENS})"
_MINUTES_OF = r"(?:half|quarter|(?:five|ten|twenty(?:[ -]five)?|5|10|20|25)(?:\s+min(?:ute)?s?)?)"
_OF = rf"(?:{HOUR}|noon|midday|midnight)"
# "At ten past": of the hour that it is then.
_OPEN = (
    r"(?:five|ten|twenty(?:[ -]five)?|5|10|20|25)\s+(?:to|past(?:\s+the\s+hour)?)"
    r"(?=\s*(?:$|[,.;!?]))"
    r"|(?:five|ten|twenty(?:[ -]five)?|5|10|20|25)\s+past(?=\s+(?:to|please|and|so)\s)|"
)
# "At ten past five" and "at eight thirty" are not the hours ten and eight.
_MORE = (
    rf"(?!{_MINUTES_OF}\s+(?:past|to|till|of|after)\s+{_OF}\b|{_OPEN}"
    rf"{HOUR_WORD}[ -](?:{_MINUTE_WORD})\b{COUNTED})"
)
_LEAD = (
    rf"(?:(?:at|{WEEKDAY}|tomorrow|tonight|today),?(?:\s+(?:at|about|around|like|roughly|exactly|"
    rf"maybe|say))?\s+{_MORE}(?P<lead_h>{HOUR})(?:\.(?P<lead_m>[0-5]\d))?(?!\w)"
    r"|(?:by|around|since|till?|until|before|after|past|say|make\s+it|to|(?:lat|earli|soon)er\s+than"
    r"|i\s+mean|(?:no|wait|sorry|actually|rather),)"
    rf"(?:\s+(?:at|about|around|like|roughly|exactly|maybe))?\s+{_MORE}(?P<loose_h>{HOUR})"
    rf"(?:\.(?P<loose_m>[0-5]\d))?(?!\w){PLURAL}"
    rf"|(?:from|between)\s+(?:about\s+)?(?P<from_h>{HOUR})(?!\w)(?!\s+past\b)"
    # Not "between two and four people".
    rf"(?=\s+(?:and|to|till|until)\s+{HOUR}(?!\w){COUNTED}{PLURAL}"
    rf"|(?!\s+(?:and|to|till|until)\s+{HOUR}\b))"
    rf"(?![ -](?:{_MINUTE_WORD})\b){PLURAL})"
)
_TAIL = (
    rf"(?=\s*o'?\s?clock\b|\s*{_HALF_DAY}|-?ish\b|\s+(?:sharp|tonight|tomorrow|instead|then|say|"
    r"it\s+is|is\s+(?:too|safer|better|fine)|thing|slot|appointment|meeting|call|with|will\s+do|"
    r"on\s+the\s+dot|at\s+the\s+latest)\b|"
    r"\s+(?:in\s+the|this)\s+(?:morning|afternoon|evening)\b|\s+at\s+night\b|"
    rf",?\s+not\s+(?:at\s+)?(?:half\s+|quarter\s+(?:past|to)\s+)?{HOUR}\s*(?:$|[,.;!?]))"
)
# What a number after such a word is: "chapter three", "block seven".
_LABELLED = re.compile(
    r"\b(?:chapter|lesson|page|room|number|block|part|season|episode|track|gate|platform|bus|line|"
    r"flight|terminal|unit|grade|level|size|highway|route|volume|version|step|table|bay|lane|roll|"
    r"question|verse|book|act|phase|week|day|year|the (?:first|last|next|other))\s+$",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    rf"""\b(?:
      (?P<named>noon|midday|midnight)
    | (?:(?<!from\ )(?<!between\ )|(?=half|quarter|[\w-]{{3,11}}\ (?:past|after)\b))
        (?P<part>{_MINUTES_OF})\s+(?P<side>past|to|till|of|after)\s+(?P<of>{_OF})(?!\w){COUNTED}
    | (?<!and\ a\ )(?P<open>half(?=\ past)|quarter
        |(?:five|ten|twenty(?:[ -]five)?|5|10|20|25)(?=\ (?:to\s*(?:$|[,.;!?])
          |past(?:\ the\ hour)?\s*(?:$|[,.;!?]|\ (?:to|please|and|so)\ )))
        )\s+(?P<open_side>past|to)\b(?:\s+the\s+hour\b|(?!\s+(?:an?|the)\b))
    | half[ -](?P<half>ten|eleven|twelve|{DIGIT_WORD})\b
    | (?P<h24>[01]?\d|2[0-4])(?::|h)(?P<m24>[0-5]\d)(?!\d)
    | (?P<word_h>{HOUR_WORD})[ -](?P<word_m>{_MINUTE_WORD})\b{COUNTED}
    | {_LEAD}{COUNTED}
    | (?P<tail_h>{HOUR}){_TAIL}
    )(?:\s*o'?\s?clock\b)?(?:\s*(?P<half_day>[ap])\.?\s?m\b\.?)?""",
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
        named_hour = {"noon": 12, "midday": 12, "midnight": 24}.get(group["of"].lower())
        if named_hour:
            hour = named_hour if late else named_hour - 1
            return ClockExpression(begin, end, hour % 24, minute, True, False)
        hour = number(group["of"]) if late else number(group["of"]) - 1 or 12
        return _on_dial(begin, end, hour % 24, minute, half_day, group["of"])
    if group["half"]:
        return _on_dial(begin, end, number(group["half"]), 30, half_day, group["half"])
    if (group["tail_h"] or group["word_h"]) and _LABELLED.search(match.string[:begin][-24:]):
        return None
    led = group["lead_h"] or group["loose_h"] or group["from_h"]
    if led:
        begin = max(match.start(name) for name in ("lead_h", "loose_h", "from_h"))
    words = group["h24"] or group["word_h"] or led or group["tail_h"]
    minutes = group["m24"] or group["word_m"] or group["lead_m"] or group["loose_m"]
    minute, named_minute = number(minutes or "0"), minutes is not None
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
