"""The temporal phrases of a request, grouped, with negation and bounds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ctrag.text.dates.clock_words import ClockExpression, find_clocks
from ctrag.text.dates.day_words import DayExpression, find_days
from ctrag.text.dates.duration_words import Duration, find_durations
from ctrag.text.dates.part_words import Part, find_parts

MAX_TEXT = 1_000
"""Characters of a text that are read."""
_JOINED = re.compile(
    r"[\s,]*(?:(?:'s|at|by|around|about|in|on|the|of|from|for|say|like|so|until|till)[\s,]+)*",
    re.IGNORECASE,
)
_DENIED = re.compile(r"(?:\bnot|\bno|n't|\bforgot|\bmissed)\b[^,.;!?]{0,20}$", re.IGNORECASE)
_BOUND = re.compile(r"\b(?:till|until|til|before)\s+(?:the\s+)?$", re.IGNORECASE)
_SINCE = re.compile(r"\bsince\s+(?:the\s+|about\s+)?$", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:since|ago|did|was it)\b|"
    r"\b(?:what|which|who|who's|whose|anyone|anybody|anything|song)\b.{0,40}?\b(?:was|were|tried|"
    r"had|played|rang|called|wanted|phoned|listened)\b|"
    r"\b(?:i|we|he|she|they) (?:was|were|had|rang|called|missed|played|saw|heard|sent|wrote|made)\b"
    r"[^,.;!?]{0,30}day\b",
    re.IGNORECASE,
)
_SHIFT = re.compile(
    r"\b(?:push|shift|mov|slid|bump|shov|bring|brought|reschedul|swap|chang|slip|mak)(?:e|es|ed|ing|"
    r"s)?\b|\b(?:instead|it is|too (?:early|late)|safer|then|suits|fine)\b",
    re.IGNORECASE,
)
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
    """After "not" or "missed"."""
    bound: bool = False
    """After "until" or "before"."""
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


def read_request(text: str, now: datetime, anchors: Sequence[datetime]) -> TimedRequest:
    """Find and group the words for time; `now` and `anchors` are truncated to minutes."""
    text = re.sub(r"\s+", " ", text[:MAX_TEXT].replace("\u2019", "'"))
    now = now.replace(second=0, microsecond=0)
    whole = [anchor.replace(second=0, microsecond=0) for anchor in anchors]
    past = _PAST.search(text) is not None
    found = [TimeGroup(clock.begin, clock.end, clock=clock) for clock in find_clocks(text)]
    found += [TimeGroup(part.begin, part.end, part=part) for part in find_parts(text)]
    anchor_days = [anchor.date() for anchor in whole[:3]]
    for days in find_days(text, now.date(), anchor_days, past):
        found.append(TimeGroup(days.begin, days.end, days=days))
    groups = _joined(text, sorted(found, key=lambda group: (group.begin, group.end)))
    groups = [_in_context(text, group) for group in groups]
    groups.sort(key=lambda group: (group.denied, group.bound, group.clock is None, -group.begin))
    wake = _WAKE.search(text) is not None
    shift = _SHIFT.search(text) is not None
    return TimedRequest(text, now, whole, groups, find_durations(text), past, wake, shift)


def _in_context(text: str, group: TimeGroup) -> TimeGroup:
    before = text[max(0, group.begin - 32) : group.begin]
    return replace(
        group,
        denied=_DENIED.search(before) is not None,
        bound=_BOUND.search(before) is not None,
        since=_SINCE.search(before) is not None,
    )


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
