"""Times in a request that are of something else than the call: "at two to call Anna at three"."""

import re
from collections.abc import Iterator
from datetime import datetime

from ctrag.text.dates.clock_words import find_clocks
from ctrag.text.dates.day_words import DayExpression, find_days
from ctrag.text.dates.duration_words import find_durations
from ctrag.text.dates.number_words import HOUR
from ctrag.text.dates.usual_times import as_usual

_CLAUSE = re.compile(r"[,.;!?]\s|\s[-–—]\s")
_CORRECTS = re.compile(
    r"\b(?:no(?!\s+way)|wait|sorry|actually|rather|better|oops|scratch|make\s+(?:it|that)"
    r"|i\s+mean(?:t)?|change\s+(?:it|that)|instead|or)\b",
    re.IGNORECASE,
)
# What a reminder is of: "to call Anna", not "to half three".
_TASK = re.compile(
    rf"\b(?:to\s+(?!(?:the\s+)?(?:{HOUR}|half|quarter|noon|midday|midnight|\w+day|tomorrow)\b)"
    r"|about\s|that\s|for\s)",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"\b(?:(?P<loose>for)|about|that)\s+(?:the\s+)?$", re.IGNORECASE)
_OF_IT = re.compile(r"['’]s\s+[a-z]", re.IGNORECASE)

Span = tuple[int, int]


def without_other_times(request: str, phrase: str, now: datetime) -> str:
    """The request without the times that are none of the call's; as it is where one of them may
    correct the phrase.

    None of it are the hours of clauses in which the phrase is not ("push it to half nine, nobody is
    here at nine"), and what is named behind the phrase in what is to be done then ("at half four to
    leave for the five o'clock train", "tonight to defrost the meat for tomorrow"): hours where the
    phrase has one, days where it has one, and days of a thing.

    Args:
        request: All that was said.
        phrase: What of it names the moment.
        now: When it was said.
    """
    text, said = as_usual(request, now), as_usual(phrase, now).strip()
    begin = text.casefold().find(said.casefold())
    if not said or begin < 0 or _CORRECTS.search(text):
        return request
    others = sorted(set(_others(text, begin, begin + len(said), now)), reverse=True)
    for first, last in others:
        text = text[:first] + text[last:]
    return text if others else request


def _others(text: str, begin: int, end: int, now: datetime) -> Iterator[Span]:
    """Where times of something else than what is between `begin` and `end` are named."""

    def within(first: int, last: int) -> bool:
        return first < end and begin < last

    clocks = find_clocks(text)
    days = find_days(text, now.date(), (), False)
    lapse = any(
        within(one.begin, one.end) and one.relation == "from_now" for one in find_durations(text)
    )
    hour = any(within(one.begin, one.end) for one in clocks)
    day = any(within(one.begin, one.end) for one in days)
    if hour:
        first = max((one.end() for one in _CLAUSE.finditer(text, 0, begin)), default=0)
        clause = _CLAUSE.search(text, end)
        last = len(text) if clause is None else clause.start()
        yield from ((one.begin, one.end) for one in clocks if one.end <= first or one.begin >= last)
    task = _TASK.search(text, end)
    if task is None:
        return
    if hour or lapse:
        yield from ((one.begin, one.end) for one in clocks if one.begin >= task.end())
    for one in days:
        if one.begin >= task.start() and (day or lapse or (hour and _of_a_thing(text, one, task))):
            yield one.begin, one.end


def _of_a_thing(text: str, day: DayExpression, task: re.Match[str]) -> bool:
    """Whether a day is that of something: "Friday's meeting", "the table for Saturday"."""
    if _OF_IT.match(text, day.end):
        return True
    topic = _TOPIC.search(text, max(0, day.begin - 12), day.begin)
    # "At six for Friday" is on Friday, "at six to book a table for Friday" is not.
    return topic is not None and not (topic["loose"] and topic.start() == task.start())
