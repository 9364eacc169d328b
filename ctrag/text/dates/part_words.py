"""The words for parts of the day: "late evening", "first thing"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ctrag.text.dates.number_words import WEEKDAY

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
# The same for the phrases, by their group.
_PHRASES = {
    "first": (5, 12, (8, 7, 9)), "last": (20, 28, (22, 21, 23)), "close": (15, 20, (17, 18)),
}  # fmt: skip
_PART = re.compile(
    r"\b(?:(?P<first>first\s+thing)(?!\s+(?:on|to|i|we|you|is|was|that)\b)"
    r"(?:\s+(?:in\s+the|tomorrow|this)\s+morning)?|(?P<last>last\s+thing(?:\s+at\s+night)?)|"
    r"(?P<close>(?:the\s+)?(?:end|close)\s+of\s+(?:the\s+)?(?:day|business|play))|"
    rf"(?:(?P<shade>early|late|mid)[- ])?(?P<part>{'|'.join(_PARTS)})(?:time)?)\b",
    re.IGNORECASE | re.ASCII,
)
_MEALS = ("breakfast", "lunch", "dinner", "supper")
_PART_LEAD = re.compile(
    rf"\b(?:(?P<the>the)|this|that|same|last|in|at|by|since|until|till|before|after|tomorrow|yesterday|"
    rf"{WEEKDAY}(?:'s)?|late|early|mid)[ -]$",
    re.IGNORECASE,
)


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


def find_parts(text: str, limit: int = 6) -> list[Part]:
    """Parts of the day in the order of the text, at most `limit`; "film night" is not one."""
    return list(islice(_parts(text), limit))


def _parts(text: str) -> Iterator[Part]:
    for match in _PART.finditer(text):
        if (phrase := match.lastgroup) in _PHRASES:
            first, end, usual = _PHRASES[phrase]
            yield Part(*match.span(), first, end, usual)
            continue
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
