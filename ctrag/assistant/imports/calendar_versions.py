"""Which components of a file belong together, and which of several versions counts."""

import re
from collections.abc import Callable

from ctrag.assistant.imports.calendar_lines import Component, Property

KINDS = {"VEVENT": "event", "VTODO": "to-do", "VJOURNAL": "journal", "VFREEBUSY": "event"}
"""Components that are records, and what reports call them."""
OLDER = "an older version: a newer one counts"
NO_EVENTS = ("REPLY", "COUNTER", "REFRESH", "DECLINECOUNTER")
"""Methods that answer an invitation: they repeat its event with one of its guests."""


def groups(found: list[Component]) -> dict[str, list[Component]]:
    """Components by kind and identity; one without UID is told by its start and title.

    Some programs give one UID to different events: of two that are the same version and begin at
    different times, each is an event of its own; of one calendar, also of two that were changed as
    often and have neither title nor start in common.
    """
    together: dict[tuple[str, str], list[Component]] = {}
    for one in found:
        if one.kind not in KINDS:
            continue
        start = one.first("DTSTART", "DUE")
        uid = one.text("UID") or f"{start.value.strip() if start else ''}{one.text('SUMMARY')}"
        uid = uid or f"no. {len(together)}"
        if start and _is_another(one, together.get((one.kind, uid), [])):
            uid = f"{uid}\0{start.value.strip()}"
        together.setdefault((one.kind, uid), []).append(one)
    _in_order(together)
    return {
        f"{uid}\0{kind}" if kind != "VEVENT" else uid: group
        for (kind, uid), group in together.items()
    }


def _in_order(together: dict[tuple[str, str], list[Component]]) -> None:
    """Of events with one UID, have the earliest under it, whatever comes first in the file: the
    next export may have another order."""
    for kind, name in list(together):
        uid, apart, _ = name.partition("\0")
        if not apart or (kind, uid) not in together:
            continue
        first, second = together[kind, uid], together[kind, name]
        starts = [line.value.strip() if line else "" for line in map(_start, (first[0], second[0]))]
        if starts[1] < starts[0]:
            del together[kind, name]
            together[kind, uid] = second
            together[kind, f"{uid}\0{starts[0]}"] = first


def _is_another(one: Component, group: list[Component]) -> bool:
    """Whether an event with the UID of these is another event."""
    if one.kind != "VEVENT" or not group or one.first("RECURRENCE-ID"):
        return False
    first = group[0]
    same_title = first.text("SUMMARY") == one.text("SUMMARY")
    (sequence, _), (again, _) = versions = version_of(first), version_of(one)
    alike = sequence == again and not same_title and first.calendar is one.calendar
    if first.first("RECURRENCE-ID") or (versions[0] != versions[1] and not alike):
        return False
    repeats = first.first("RRULE", "RDATE") or one.first("RRULE", "RDATE")
    if repeats and same_title:
        return False
    starts = [line.value.strip() if line else "" for line in (_start(first), _start(one))]
    return starts[0] != starts[1]


def _start(one: Component) -> Property | None:
    return one.first("DTSTART")


def newest(
    group: list[Component], key: Callable[[Component], str]
) -> tuple[list[Component], list[Component]]:
    """The newest version of the series and of each occurrence, and the older ones that differ.

    Newest by SEQUENCE, then by when it was changed, then by its place in the file.
    """
    found: dict[str, Component] = {}
    older: list[Component] = []
    for one in group:
        about = key(one)
        known = found.get(about)
        if known is None or version_of(one) >= version_of(known):
            found[about] = one
        if known is not None and known.properties != one.properties:
            older.append(one if found[about] is known else known)
    series = found.get("")
    if series is not None and method_of(series) == "REQUEST":
        # What another message said of an occurrence before the series was changed.
        for about, one in list(found.items()):
            apart = one is not series and one.calendar is not series.calendar
            if apart and says_anew(version_of(series), version_of(one)):
                older.append(found.pop(about))
    return list(found.values()), older


def version_of(one: Component) -> tuple[int, str]:
    """How often a component was changed, and when last."""
    number = one.text("SEQUENCE")
    sequence = int(number) if re.fullmatch(r"[0-9]{1,18}", number) else 0
    return sequence, re.sub("[-:]", "", one.text("LAST-MODIFIED", "DTSTAMP")).upper()


def says_anew(series: tuple[int, str], occurrence: tuple[int, str]) -> bool:
    """Whether a series says anew what an occurrence of it was changed to before.

    They are numbered each by itself; when they were changed tells more.
    """
    if series[1] and occurrence[1]:
        return series[1] > occurrence[1]
    return series[0] > occurrence[0]


def cancelled(one: Component) -> bool:
    """Whether an event does not take place, by its status or by what it is sent for."""
    return one.text("STATUS").upper() == "CANCELLED" or method_of(one) == "CANCEL"


def method_of(one: Component) -> str:
    """What a component is sent for: its own METHOD, or that of its calendar; mostly empty."""
    own = one.text("METHOD")
    return (own or ("" if one.calendar is None else one.calendar.text("METHOD"))).upper()


def for_the_future(one: Component) -> bool:
    """Whether a component changes an occurrence and all that follow."""
    line = one.first("RECURRENCE-ID")
    return line is not None and line.parameters.get("RANGE", "").upper() == "THISANDFUTURE"
