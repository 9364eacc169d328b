"""Repeating events: what a request means by one, and changing one occurrence or all that follow."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

from ctrag.assistant.apps.call import Call
from ctrag.text.dates.temporal_expressions import find_expressions
from stores.people.item_rows import StoredItem
from stores.people.items import CANCELLED, Item, Value

STATES = {"cancel_event": (CANCELLED,), "reschedule_event": (CANCELLED,)}
_ONE = re.compile(
    r"\b(just|only)\s+(this|that|the next|next|today|tomorrow|tonight|once|for)\b"
    r"|\bthis (week|time|once|month|year)('s)?( only)?\b|\bfor once\b|\bthis one\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(every|each)\b|\bfrom (now|then|next \w+|\w+day) on(wards?)?\b|\bfrom now\b"
    r"|\ball (the |my |of |future |following |later |other |remaining |upcoming |occurrences)"
    r"|\bwhole series\b|\bentire series\b|\bthe series\b|\bfor good\b|\bpermanently\b"
    r"|\b(this|that) and (all |every )?(the )?(following|future|later)\b|\bin (the )?future\b"
    r"|\balways\b|\b(altogether|for ever|forever)\b|\bany ?more\b",
    re.IGNORECASE,
)
_AGAIN_AND_AGAIN = re.compile(
    r"\b(?:every|each)\s+(?:other\s+|second\s+|single\s+)?(?:day|night|morning|afternoon|evening"
    r"|week|weekend|weekday|fortnight|month|year|hour|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b"
    r"|\b(?:daily|weekly|fortnightly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
_BACK = re.compile(r"\b(was|were|did|last|had|ago|yesterday)\b", re.IGNORECASE)
_SHOWN = 2
"""Occurrences of one repeating event that a search shows."""
_DAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_RULE = re.compile(r"^RRULE:(.*)$", re.MULTILINE)


def repeats(event: Item) -> str:
    """The lines of the series that the event is an occurrence of; empty where it is of none."""
    return event.text("repeats")


def rhythm(event: Item) -> str:
    """How an event repeats: "every Tuesday", "every 2 weeks", "on several dates"; else empty."""
    if not repeats(event):
        return ""
    found = _RULE.search(repeats(event))
    parts = dict(part.partition("=")[::2] for part in found[1].split(";")) if found else {}
    unit = _UNITS.get(parts.get("FREQ", ""), "")
    if not unit:
        return "on several dates"
    interval = int(parts.get("INTERVAL", "1"))
    names = [_DAYS[one] for one in parts.get("BYDAY", "").split(",") if one in _DAYS]
    if unit == "week" and interval == 1:
        if len(names) == 5 and not {"Saturday", "Sunday"} & set(names):
            return "every weekday"
        names = names or [f"{moment_of(event):%A}"]
        return "every " + " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    return f"every {unit}" if interval == 1 else f"every {interval} {unit}s"


def moment_of(event: Item) -> datetime:
    """When an event begins; the earliest time there is if it has no start."""
    return event.time("start") or datetime.min


def meant(call: Call, occurrences: Sequence[Item]) -> Item:
    """The occurrence that a request means, of one or more: on a day that it names, or the last one
    where it looks back, else the next."""
    ordered = sorted(occurrences, key=moment_of)
    ahead = [one for one in ordered if (one.time("end") or moment_of(one)) >= call.at]
    behind = [one for one in ordered if one not in ahead]
    back = bool(_BACK.search(call.said)) and call.api not in STATES
    for span in find_expressions(call.said, call.at):
        first, last = span.start.date(), max(span.end, span.start + timedelta(minutes=1))
        options: list[Item] = ahead if call.api in STATES else [*ahead, *behind[::-1]]
        for one in options:
            if moment_of(one).date() >= first and moment_of(one) < last:
                return one
    if back and behind:
        return behind[-1]
    return ahead[0] if ahead else ordered[-1]


def few(call: Call, items: Sequence[Item]) -> list[Item]:
    """The items in their order, of each repeating event the occurrence that is meant and the next
    ones only, `_SHOWN` in all."""
    series: dict[str, list[Item]] = {}
    for item in items:
        if repeats(item):
            series.setdefault(repeats(item), []).append(item)
    kept: set[str] = set()
    for occurrences in series.values():
        first = meant(call, occurrences)
        later = [one for one in occurrences if moment_of(one) > moment_of(first)]
        chosen = [first, *sorted(later, key=moment_of)]
        kept |= {one.id for one in chosen[:_SHOWN]}
    return [item for item in items if not repeats(item) or item.id in kept]


def means_all(call: Call, event: Item) -> bool:
    """Whether the request is about the occurrence and all that follow: "every Tuesday from now on",
    not "just this week". Words of the title do not count."""
    if not repeats(event):
        return False
    said = series_words(call, event)
    return bool(_ALL.search(said)) and not _ONE.search(said)


def only_once(call: Call) -> str:
    """What is said beside something new that was to repeat and is made once; else empty."""
    if not _AGAIN_AND_AGAIN.search(call.said.replace(call.text("title"), " ")):
        return ""
    return " Only once: what repeats cannot be made here."


def series_words(call: Call, event: Item) -> str:
    """What the request says beside the title, whose words say nothing of occurrences."""
    return re.sub(re.escape(event.text("title")), " ", call.said, flags=re.IGNORECASE)


def following(call: Call, event: Item) -> list[Item]:
    """The occurrence and those after it, in order of time."""
    found = [
        one
        for one in call.of("calendar")
        if repeats(one) == repeats(event) and moment_of(one) >= moment_of(event)
    ]
    return sorted(found, key=moment_of)


def ended(call: Call, *events: Item, series: bool = False) -> dict[str, object]:
    """The calendar's state that keeps cancelled events from coming back.

    Args:
        call: The call, with the state so far.
        events: Events that are cancelled.
        series: Whether their series is not continued either.
    """
    before = call.states.get(CANCELLED)
    known = [str(one) for one in before] if isinstance(before, list) else []
    new = [one.id for one in events]
    if series:
        new = [series_key(repeats(events[0]))]
    return {CANCELLED: list(dict.fromkeys([*known, *new]))}


def series_key(text: str) -> str:
    """What stands for a series in the calendar's state."""
    return f"series:{sha256(text.encode()).hexdigest()[:16]}"


def moved(events: Sequence[Item], start: datetime) -> list[StoredItem]:
    """Occurrences, the first of them moved to `start` and the others by as much.

    They are a series of their own from then on.
    """
    shift = start - moment_of(events[0])
    text = _shifted(events[0], start, shift)
    put = []
    for one in events:
        end = one.time("end") or moment_of(one) + timedelta(hours=1)
        fields: dict[str, Value] = {
            "start": moment_of(one) + shift,
            "end": end + shift,
            "repeats": text,
        }
        put.append(StoredItem(replace(one, fields={**one.fields, **fields})))
    return put


def _shifted(event: Item, start: datetime, shift: timedelta) -> str:
    """The lines of the series of an occurrence that is moved with all that follow."""
    lines = repeats(event).splitlines()
    whole = any(line.startswith("DTSTART;VALUE=DATE") for line in lines)
    end = (event.time("end") or moment_of(event)) + shift
    days = ((start.date() - moment_of(event).date()).days) % 7
    kept = []
    for line in lines:
        name = re.split("[;:]", line)[0]
        if name == "RRULE":
            kept.append(re.sub("(?<=BYDAY=)[^;]+", lambda one: _days_later(one[0], days), line))
        elif name == "UID":
            kept.append(f"{line}-{start:%Y%m%dT%H%M}")
        elif name in ("DTSTART", "DTEND"):
            moment = start if name == "DTSTART" else end
            zone = re.search(r';(TZID="[^"]*")', line)
            clock = f"{moment:%Y%m%d}" if whole else f"{moment:%Y%m%dT%H%M%S}"
            parameter = ";VALUE=DATE" if whole else f";{zone[1]}" if zone else ""
            kept.append(f"{name}{parameter}:{clock}")
        elif name in ("BEGIN", "END"):
            kept.append(line)
    ends = kept.index("END:VEVENT") + 1 if "END:VEVENT" in kept else len(kept)
    return "\n".join(kept[:ends])


def _days_later(names: str, days: int) -> str:
    order = list(_DAYS)
    return re.sub("|".join(order), lambda one: order[(order.index(one[0]) + days) % 7], names)
