"""Which occurrences of a repeating event a request names: those of a span, a number, or days.

"all standups next week", "for the rest of the month", "the next two", "on the 10th and the 11th".
What is named is done whole, and nothing beyond it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped,unused-ignore]

from ctrag.assistant.apps.call import Call, Refusal
from ctrag.assistant.apps.repeating import moment_of, series_words
from ctrag.text.dates.number_words import number
from ctrag.text.dates.temporal_expressions import TemporalExpression, find_expressions
from stores.people.items import Item

_QUANTITY = (
    r"(?P<many>\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|couple(?: of)?|few|several)"
)
_NEXT = re.compile(
    rf"\b(?:next|following|coming|upcoming|first)\s+{_QUANTITY}(?:\s+(?P<unit>day|week|month)s\b)?",
    re.IGNORECASE,
)
_FOR = re.compile(rf"\bfor\s+{_QUANTITY}\s+(?P<unit>day|week|month)s\b", re.IGNORECASE)
_REST = re.compile(
    r"\b(?:rest|remainder)\s+of\s+(?:(?:the|this)\s+(?P<unit>day|week|month|year)\b|(?P<named>\w+))"
    r"|\b(?:until|till?|through)\s+(?:the\s+)?end\s+of\s+(?:(?:the|this)\s+)?"
    r"(?P<end>week|month|year)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\b(?P<word>until|till?|through)\s+(?P<day>.+)", re.IGNORECASE)
_RANGE = re.compile(
    r"\b(?:from\s+(?P<first>.{2,30}?)\s+(?:to|until|till?|through)"
    r"|between\s+(?P<first_b>.{2,30}?)\s+and)\s+(?P<last>.{2,40})",
    re.IGNORECASE,
)
_EXCEPT = re.compile(
    r"\b(?:except|apart from|other than|excluding|besides|(?:but|and) (?:not|keep|leave)|but)\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)day(?:s|'s|’s)?\b", re.IGNORECASE)
_EACH_WEEKDAY = re.compile(
    rf"\b(?:every|each|all(?: (?:the|my))?)\s+(?:\w+\s+)?{_WEEKDAY.pattern}"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\bfrom\b.{1,30}\bon(?:wards?)?\b(?!\s+\w+day)|\bfrom now\b|\bfor (?:good|ever)\b|\bforever\b"
    r"|\b(?:permanently|altogether|always|any ?more)\b|\b(?:whole|entire|the) series\b"
    r"|\bin (?:the )?future\b|\b(?:all|every) (?:the )?(?:following|future|later|remaining)\b",
    re.IGNORECASE,
)
"""Without an end."""
_FROM_ON = re.compile(r"\bfrom\s+(?P<first>.{2,30}?)\s+on(?:wards?)?\b", re.IGNORECASE)
_REASON = re.compile(
    r"\s*(?:\b(?:because|since|as (?:i|we)|so (?:i|we))\b"
    r"|[,;.]\s*(?:i['’]?(?:m|ve)|i have|we['’]?(?:re|ve)|we have|(?:he|she)['’]?s|they['’]?re)\b)",
    re.IGNORECASE,
)
_ONCE = re.compile(r"\b(?:just|only)\b|\bfor once\b|\bthis (?:once|time)\b", re.IGNORECASE)
_SHARED_MONTH = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)?\s*(?:,|and|&)\s*(\d{1,2}(?:st|nd|rd|th)?)\s+(?=(?:of\s+)?"
    r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)(?:of\s+)?(?P<name>\w+)",
    re.IGNORECASE,
)
"""The 2nd and 9th of December."""
_DAY_NAMES = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
_TOGETHER = re.compile(
    rf"\b(?:all|every|each|both|rest of|(?:next|first) {_QUANTITY})\b", re.IGNORECASE
)
_CLOCK = ("hour", "minute")
_LENGTHS = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
}
_LONG = ("week", "month", "year")
_EXCUSE = re.compile(
    r"[,;:]|\b(?:because|since|as (?:i|we)|so (?:i|we)|i'?m|we'?re)\b", re.IGNORECASE
)
"""Beside these, a day may be the reason and not what is meant."""


@dataclass(frozen=True, slots=True)
class Named:
    """The occurrences that a request names."""

    events: tuple[Item, ...]
    """In order of time."""
    missing: tuple[date, ...] = ()
    """Days that it names and on which there is none."""


def named_occurrences(call: Call, event: Item) -> Named | None:
    """The occurrences ahead that a request to cancel names together; None where it names one, or
    all that follow.

    Args:
        call: The request.
        event: One occurrence of the repeating event.

    Raises:
        Refusal: It names a time at which there is none, or no number ("the next few").
    """
    said = _SHARED_MONTH.sub(r"\1 \g<name> and \2 \g<name>", series_words(call, event))
    wanted, kept = _parted(said)
    ahead = _ahead(call, event)
    found = _counted(wanted, ahead) or _spanned(wanted, call.at, ahead)
    found = found or _on_days(wanted, call, ahead)
    if found is None or (not found.events and (_ONCE.search(wanted) or _EXCUSE.search(wanted))):
        return None
    spared = _weekdays(kept) if kept else set()
    dates = {one.start.date() for one in find_expressions(kept, call.at)} if kept else set()
    events = [
        one
        for one in found.events
        if moment_of(one).weekday() not in spared and moment_of(one).date() not in dates
    ]
    if not events:
        raise Refusal(_none_there(event, ahead))
    return Named(tuple(events), found.missing)


def moved_together(call: Call, event: Item) -> Named | None:
    """The occurrences that a request to move names together, "all standups next week to 9:30"; None
    where it names one, all that follow, or another day to move to."""
    if not event.text("repeats"):
        return None
    what, to, whither = series_words(call, event).rpartition(" to ")
    days = [one for one in find_expressions(whither, call.at) if one.grain not in _CLOCK]
    if not to or days or not _TOGETHER.search(what):
        return None
    named = named_occurrences(replace(call, said=what), event)
    return named if named and len(named.events) > 1 else None


def without_reason(call: Call) -> Call:
    """The request without the reason behind it, whose days are not meant."""
    said = _REASON.split(call.said)[0]
    return replace(call, said=said) if said.strip() else call


def leaves_some_out(call: Call, event: Item) -> bool:
    """Whether a request says "except", "but not" or the like."""
    return bool(_parted(series_words(call, event))[1])


def first_from(call: Call, event: Item) -> Item:
    """The event, or the first one of "from July on"."""
    found = _FROM_ON.search(series_words(call, event))
    begin = _first(found["first"], call.at) if found else None
    if begin is None:
        return event
    return next((one for one in _ahead(call, event) if moment_of(one) >= begin.start), event)


def weekdays_of_all(call: Call, event: Item) -> set[int]:
    """The weekdays of "every Monday" and "on Thursdays": 0 is Monday; empty without one."""
    wanted, _ = _parted(series_words(call, event))
    return {day for found in _EACH_WEEKDAY.finditer(wanted) for day in _weekdays(found[0])}


def _parted(said: str) -> tuple[str, str]:
    """What is wanted, and after "except" what is not."""
    found = _EXCEPT.search(said)
    if found is None or not said[: found.start()].strip():
        return said, ""
    return said[: found.start()], said[found.end() :]


def _ahead(call: Call, event: Item) -> list[Item]:
    """What is still to come of all events of that title, however their series were split."""
    title = event.text("title").casefold()
    found = [
        one
        for one in call.of("calendar")
        if one.text("title").casefold() == title and (one.time("end") or moment_of(one)) >= call.at
    ]
    return sorted(found, key=moment_of)


def _counted(said: str, ahead: Sequence[Item]) -> Named | None:
    """ "the next two"."""
    found = _NEXT.search(said)
    if found is None or found["unit"]:
        return None
    count = _many(found["many"])
    chosen = tuple(ahead[:count])
    if len(chosen) < count:
        raise Refusal(f"Only {len(chosen)} of them are still to come, not {count}.")
    return Named(chosen)


def _many(words: str) -> int:
    word = words.casefold().removesuffix(" of")
    if word in ("few", "several"):
        raise Refusal(f"“{words}” is no number: say how many, such as “the next three”.")
    return 2 if word == "couple" else int(word) if word.isdigit() else number(word)


def _spanned(said: str, at: datetime, ahead: Sequence[Item]) -> Named | None:
    """ "next week", "the rest of the month", "until Friday", "from the 3rd to the 7th"."""
    span = _span(said, at)
    if span is None:
        return None
    begin, end = span
    within = [one for one in ahead if begin <= moment_of(one) < end]
    days = _weekdays(_UNTIL.sub(" ", _RANGE.sub(" ", said)))
    return Named(tuple(one for one in within if not days or moment_of(one).weekday() in days))


def _span(said: str, at: datetime) -> tuple[datetime, datetime] | None:
    today = datetime.combine(at.date(), time())
    if _OPEN.search(said):
        return None
    if found := _REST.search(said):
        unit = found["unit"] or found["end"]
        if unit:
            return at, _end_of(unit.casefold(), today)
        named = _first(found["named"], at)
        return None if named is None else (at, named.end)
    for pattern in (_NEXT, _FOR):
        found = pattern.search(said)
        if found and found["unit"]:
            count = _many(found["many"])
            return at, today + _LENGTHS[found["unit"].casefold()] * count
    if found := _RANGE.search(said):
        first = _first(found["first"] or found["first_b"], at)
        last = _first(found["last"], at)
        if first and last and first.grain not in _CLOCK:
            begin, end = first.start, last.end
            while end <= begin:  # "from Monday to Wednesday", said on a Tuesday
                end += timedelta(days=7)
            return begin, end
    if found := _UNTIL.search(said):
        limit = _first(found["day"], at)
        if limit and limit.grain not in (*_CLOCK, "part"):
            through = found["word"].casefold() == "through"
            return at, limit.end if through else limit.start
    if re.search(r"\bweek after next\b", said, re.IGNORECASE):
        monday = today - timedelta(days=today.weekday())
        return monday + timedelta(days=14), monday + timedelta(days=21)
    if re.search(r"\bweek (?:of|beginning|starting)\b", said, re.IGNORECASE):
        day = next((one for one in find_expressions(said, at) if one.grain == "day"), None)
        if day is not None:
            monday = day.start - timedelta(days=day.start.weekday())
            return monday, monday + timedelta(days=7)
    for one in find_expressions(said, at):
        if one.grain in _LONG or (one.grain == "part" and one.end - one.start > timedelta(days=1)):
            return one.start, one.end
    return None


def _first(text: str | None, at: datetime) -> TemporalExpression | None:
    """The first time that a text names, where it is not over; a month's name alone is one."""
    if not text:
        return None
    found = find_expressions(text, at) or find_expressions(f"in {text.split()[0]}", at)
    return next((one for one in found if one.end > at), None)


def _end_of(unit: str, today: datetime) -> datetime:
    if unit == "day":
        return today + timedelta(days=1)
    if unit == "week":
        return today - timedelta(days=today.weekday()) + timedelta(days=7)
    step = {"month": relativedelta(months=1, day=1), "year": relativedelta(years=1, month=1, day=1)}
    ends: datetime = today + step[unit]
    return ends


def _on_days(said: str, call: Call, ahead: Sequence[Item]) -> Named | None:
    """Several days, or a single one on which there is none."""
    if _EACH_WEEKDAY.search(said) or _OPEN.search(said):
        return None
    readings: dict[str, list[date]] = {}
    for one in find_expressions(said, call.at):
        if one.grain not in ("day", "part") or one.end <= call.at:
            continue
        if one.end - one.start > timedelta(days=1):
            continue
        readings.setdefault(one.phrase.casefold(), []).append(one.start.date())
    if not readings:
        return None
    chosen: dict[str, Item] = {}
    missing: list[date] = []
    for days in readings.values():
        found = [one for day in days[:2] for one in ahead if moment_of(one).date() == day]
        same = [one for one in found if moment_of(one).date() == moment_of(found[0]).date()]
        chosen.update({one.id: one for one in same[:1]})
        if not found:
            missing.append(days[0])
    if len(readings) == 1 and (chosen or _EXCUSE.search(said)):
        return None
    if not chosen and _EXCUSE.search(said):
        return None
    return Named(tuple(sorted(chosen.values(), key=moment_of)), tuple(dict.fromkeys(missing)))


def _weekdays(said: str) -> set[int]:
    return {_DAY_NAMES.index(found[1].casefold()) for found in _WEEKDAY.finditer(said)}


def _none_there(event: Item, ahead: Sequence[Item]) -> str:
    following = (
        f"the next is on {moment_of(ahead[0]):%a %-d %b %Y %H:%M}" if ahead else "it is over"
    )
    return f"There is no “{event.text('title')}” then ({following}), so nothing was cancelled."
