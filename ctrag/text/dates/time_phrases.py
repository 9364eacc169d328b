"""The temporal phrases of a request, grouped, with negation and bounds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ctrag.text.dates.bare_ranges import with_ranges
from ctrag.text.dates.clock_words import ClockExpression, find_clocks
from ctrag.text.dates.day_words import DayExpression, find_days
from ctrag.text.dates.duration_words import Duration, find_durations
from ctrag.text.dates.offset_clocks import offset_clocks
from ctrag.text.dates.part_words import Part, find_parts
from ctrag.text.dates.usual_times import MOVES, as_usual

FIRST_YEAR, LAST_YEAR = 1000, 8999
"""Years in which requests are read; `datetime` ends at the years 1 and 9999."""
MAX_TEXT = 1_000
"""Characters of a text that are read."""
_JOINED = re.compile(
    r"[\s,]*(?:(?:'s|at|by|around|about|in|on|the|of|from|for|say|like|so|until|till|that's|"
    r"which\s+is|being|roughly|exactly|maybe|between)[\s,]+)*",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|no|forgot|missed|instead\s+of|rather\s+than)|n't(?!\s+(?:let|forget|miss)\b))\b"
    r"(?P<then>[^,.;!?]{0,30})$",
    re.IGNORECASE,
)
# What is wanted in spite of a "not" before it: "I can't come so move it to six".
_YET = re.compile(r"\b(?:mov|put|mak|set|so|then|but|remind|push|wait)", re.IGNORECASE)
_UNFIT = re.compile(
    r"\s+(?:is|was|would\s+be)\s+(?:too|no\s+good|not|out)\b|'s\s+(?:too|no\s+good)\b"
    r"|\s+(?:does|wo|ca|is)n't\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:till|until|til|before|(?:no|not)\s+(?:(?:lat|earli|soon)er\s+than|after|past))"
    r"\s+(?:the\s+)?$",
    re.IGNORECASE,
)
# Another thing's time: "the chemist shuts at five", "because I am back at six".
_ASIDE = re.compile(
    r"\b(?:shuts?|close[sd]?|opens?|opening)\s+(?:at|till|until|by|on)?\s*$"
    r"|\b(?:because|cause|cos|since\s+(?:i|it|he|she|we|they|there))\b[^.;!?]*$",
    re.IGNORECASE,
)
# Between what was said and what replaces it: "at two, no make it three".
_CORRECTION = re.compile(
    r"(?:^|[,.;!?-])\s*(?:oh\s+|uh\s+|um\s+)?(?:no|nah|wait|sorry|actually|rather|oops)\b"
    r"|\bno,?\s+(?:wait|make|sorry|actually|not)\b|\bi\s+mean\b|\bscratch\s+that\b"
    r"|\bmake\s+(?:it|that)\b|\bor\s+rather\b|\bchange\s+that\s+to\b",
    re.IGNORECASE,
)
_LONGEST_CORRECTION = 70
_NOON = 12
_OF_PART = re.compile(r"[,\s]*(?:in\s+the|of\s+the|this|tomorrow)\s+", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:to|till|until|and|-)\s+(?:the\s+|about\s+)?", re.IGNORECASE)
_RANGE_LEAD = re.compile(r"\b(?:from|between)\s+(?:the\s+|about\s+)?$", re.IGNORECASE)
_TARGET = re.compile(r"\bto\s+(?:the\s+|about\s+|around\s+)?$", re.IGNORECASE)
_SINCE = re.compile(r"\bsince\s+(?:the\s+|about\s+)?$", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:since|ago|did|was it)\b|"
    r"\b(?:what|which|who|who's|whose|anyone|anybody|anything|song)\b.{0,40}?\b(?:was|were|tried|"
    r"had|played|rang|called|wanted|phoned|listened)\b|"
    r"\b(?:i|we|he|she|they) (?:was|were|had|rang|called|missed|played|saw|heard|sent|wrote|made)\b"
    r"[^,.;!?]{0,30}day\b",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"\b(?:because|cause|cos|since|as)\s+(?:i|it|he|she|we|they|there)\b[^.;!?]*$", re.IGNORECASE
)
# What is to come, whatever its reason was: "remind me on Friday, he has been ill since Monday".
_AHEAD = re.compile(
    r"\bremind\s+(?:me|us)\b|\b(?:an?|another|new)\s+(?:reminder|alarm)\b"
    r"|^\W*(?:book|schedule|reschedule|wake|plan|invite)\b",
    re.IGNORECASE,
)
_SHIFT = re.compile(
    r"\b(?:push|shift|mov|slid|bump|shov|bring|brought|reschedul|swap|chang|slip|mak)(?:e|es|ed|ing|"
    r"s)?\b|\b(?:instead|it is|too (?:early|late)|safer|then|suits|fine)\b",
    re.IGNORECASE,
)
# What is of the evening, unless a reminder is about it: "dinner on Friday at half past seven".
_EVENING = re.compile(
    r"\b(?:dinner|supper|drinks|pints?|beers?|cocktails|party|poker|bingo|movie|film|cinema|concert|"
    r"gig|opera|disco|(?:\w{2,15}(?:'s?)?\ )(?:evening|night))\b",
    re.IGNORECASE,
)
_REMINDER = re.compile(r"\b(?:remind|reminder|forget|wake|alarm)\b", re.IGNORECASE)
_WAKE = re.compile(r"\b(?:wake|waking|alarm|get (?:me|us) up)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """Neighbouring words for a day, a part of the day and a clock time; any may be missing."""

    begin: int
    end: int
    days: DayExpression | None = None
    part: Part | None = None
    clock: ClockExpression | None = None
    denied: bool = False
    """After "not" or "missed", or replaced by what is said later."""
    bound: bool = False
    """After "until", "before" or "not later than"."""
    aside: bool = False
    """The end of a range, the time that a thing is moved from, or that of another thing."""
    target: bool = False
    """What something is moved to."""
    since: bool = False
    """After "since"."""


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """The temporal phrases of a request."""

    text: str
    """With single spaces, at most `MAX_TEXT` characters."""
    now: datetime
    anchors: list[datetime]
    """Starts or dues of the items that it may be about, best first."""
    groups: list[TimeGroup]
    """Likeliest first."""
    durations: list[Duration]
    past: bool
    """Whether it refers to the past."""
    wake: bool
    """Whether it asks to be woken."""
    shift: bool
    """Whether it reschedules something."""
    evening: bool
    """Whether it is about something of the evening, such as a dinner."""


def in_usual_years(moment: datetime) -> bool:
    """Whether days, years and centuries can be counted from here without leaving the calendar."""
    return FIRST_YEAR <= moment.year <= LAST_YEAR


def is_of_morning(text: str, group: TimeGroup) -> bool:
    """Whether a clock time is said to be "in the morning"; not "that morning, and the man at two",
    nor "half two on Thursday, in place of that morning"."""
    if group.part is None or group.clock is None or group.part.end_hour != _NOON:
        return False
    return _OF_PART.fullmatch(text, group.clock.end, group.part.begin) is not None


def read_request(text: str, now: datetime, anchors: Sequence[datetime]) -> TimedRequest:
    """Find and group the words for time; `now` and `anchors` are truncated to minutes."""
    text = re.sub(r"\s+", " ", text[:MAX_TEXT].replace("\u2019", "'"))
    text = as_usual(text, now)
    if not MOVES.search(text):
        text = with_ranges(text)
    now = now.replace(second=0, microsecond=0)
    whole = [one.replace(second=0, microsecond=0) for one in anchors if in_usual_years(one)]
    past = _AHEAD.search(text) is None and _PAST.search(_WHY.sub("", text)) is not None
    clocks, lapses = offset_clocks(text, find_clocks(text), find_durations(text))
    found = [TimeGroup(clock.begin, clock.end, clock=clock) for clock in clocks]
    found += [TimeGroup(part.begin, part.end, part=part) for part in find_parts(text)]
    anchor_days = [anchor.date() for anchor in whole[:3]]
    named_days = find_days(text, now.date(), anchor_days, past)
    found += [TimeGroup(days.begin, days.end, days=days) for days in named_days]
    # "A week tomorrow" is a day, no duration.
    lapses = [
        one for one in lapses if not any(days.begin <= one.begin < days.end for days in named_days)
    ]
    groups = _joined(text, sorted(found, key=lambda group: (group.begin, group.end)))
    moves = MOVES.search(text) is not None
    groups = [_in_context(text, group, moves) for group in groups]
    groups = _corrected(text, _without_ranges(text, groups, moves))
    groups.sort(
        key=lambda group: (
            group.denied,
            group.aside,
            not group.target,
            group.bound,
            group.clock is None,
            -group.begin,
        )
    )
    wake = _WAKE.search(text) is not None
    replaces = any(group.denied and group.clock for group in groups)  # "at eight, not seven"
    shift = replaces or _SHIFT.search(text) is not None
    evening = _EVENING.search(text) is not None and not _REMINDER.search(text)
    return TimedRequest(text, now, whole, groups, lapses, past, wake, shift, evening)


def _in_context(text: str, group: TimeGroup, moves: bool) -> TimeGroup:
    before = text[max(0, group.begin - 60) : group.begin]
    denial = _DENIED.search(before)
    bound = _BOUND.search(before) is not None
    refused = denial is not None and not _YET.search(denial["then"]) and not bound
    return replace(
        group,
        denied=refused or _UNFIT.match(text, group.end) is not None,
        bound=bound,
        since=_SINCE.search(before) is not None,
        aside=_ASIDE.search(before) is not None,
        target=moves and _TARGET.search(before) is not None,
    )


def _without_ranges(text: str, groups: list[TimeGroup], moves: bool) -> list[TimeGroup]:
    """`groups` with one of "from two to four" set aside: the first where something is moved."""
    groups = list(groups)
    for place in range(len(groups) - 1):
        left, right = groups[place : place + 2]
        if right.begin < left.end or not _RANGE.fullmatch(text, left.end, right.begin):
            continue
        begins = {left.begin, left.clock.begin if left.clock else left.begin}
        if not any(_RANGE_LEAD.search(text[max(0, at - 20) : at]) for at in begins):
            continue
        if moves:
            groups[place] = replace(left, aside=True)
            groups[place + 1] = replace(right, days=right.days or left.days)
        else:
            groups[place] = replace(left, days=left.days or right.days)
            groups[place + 1] = replace(right, days=right.days or left.days, aside=True)
    return groups


def _corrected(text: str, groups: list[TimeGroup]) -> list[TimeGroup]:
    """`groups` with what is replaced later denied; the later one takes over what it leaves out."""
    groups = list(groups)
    for place in range(len(groups) - 1):
        left, right = groups[place : place + 2]
        gap = text[left.end : right.begin]
        if len(gap) > _LONGEST_CORRECTION or not _CORRECTION.search(gap):
            continue
        groups[place] = replace(left, denied=True)
        groups[place + 1] = replace(
            right,
            days=right.days or left.days,
            part=right.part or left.part,
            clock=_of_hour(right.clock, left.clock) or left.clock,
            denied=False,
        )
    return groups


def _of_hour(
    clock: ClockExpression | None, other: ClockExpression | None
) -> ClockExpression | None:
    """A time without an hour, "no, ten past", with that of the other one."""
    if clock is None or clock.hour is not None or other is None or other.hour is None:
        return clock
    hour = other.hour if clock.minute <= 30 else (other.hour - 1) % 24
    return replace(clock, hour=hour, exact=other.exact)


def _joined(text: str, found: list[TimeGroup]) -> list[TimeGroup]:
    groups: list[TimeGroup] = []
    for new in found:
        last = groups[-1] if groups else None
        if last is None or not _belong_together(text, last, new):
            groups.append(new)
            continue
        days = last.days or new.days
        if last.days and new.days and new.days.dated:
            days = new.days
        groups[-1] = replace(
            last,
            end=max(last.end, new.end),
            days=days,
            part=last.part or new.part,
            clock=last.clock or new.clock,
        )
    return groups


def _belong_together(text: str, left: TimeGroup, right: TimeGroup) -> bool:
    if right.begin >= left.end and not _JOINED.fullmatch(text, left.end, right.begin):
        return False
    if left.clock and right.clock:
        return False
    return not (left.days and right.days) or left.days.dated or right.days.dated
