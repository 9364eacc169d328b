"""Which components of a file belong together, and which of several versions counts."""

import re
from collections.abc import Callable

from ctrag.assistant.imports.calendar_lines import Component, Property

KINDS = {"VEVENT": "event", "VTODO": "to-do", "VJOURNAL": "journal", "VFREEBUSY": "event"}
"""Components that are records, and what reports call them."""
NO_EVENTS = ("REPLY", "COUNTER", "REFRESH", "DECLINECOUNTER")
"""Methods that answer an invitation: they repeat its event with one of its guests."""


def groups(found: list[Component]) -> dict[str, list[Component]]:
    """Components by kind and identity; one without UID is told by its start and title.

    Some programs give one UID to different events: of two that are the same version and begin at
    different times, each is an event of its own.
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
    return {
        f"{uid}\0{kind}" if kind != "VEVENT" else uid: group
        for (kind, uid), group in together.items()
    }


def _is_another(one: Component, group: list[Component]) -> bool:
    """Whether an event with the UID of these is another event."""
    if one.kind != "VEVENT" or not group or one.first("RECURRENCE-ID"):
        return False
    first = group[0]
    if first.first("RECURRENCE-ID") or _version(first) != _version(one):
        return False
    repeats = first.first("RRULE", "RDATE") or one.first("RRULE", "RDATE")
    if repeats and first.text("SUMMARY") == one.text("SUMMARY"):
        return False
    starts = [line.value.strip() if line else "" for line in (_start(first), _start(one))]
    return starts[0] != starts[1]


def _start(one: Component) -> Property | None:
    return one.first("DTSTART")


def newest(group: list[Component], key: Callable[[Component], str]) -> list[Component]:
    """The newest version of the series and of each occurrence: by SEQUENCE, then by when it was
    changed, then by its place in the file."""
    found: dict[str, Component] = {}
    for one in group:
        about = key(one)
        known = found.get(about)
        if known is None or _version(one) >= _version(known):
            found[about] = one
    return list(found.values())


def _version(one: Component) -> tuple[int, str]:
    number = one.text("SEQUENCE")
    sequence = int(number) if re.fullmatch(r"[0-9]{1,9}", number) else 0
    return sequence, one.text("LAST-MODIFIED", "DTSTAMP")


def cancelled(one: Component) -> bool:
    """Whether an event does not take place, by its status or by what its calendar is sent for."""
    method = "" if one.calendar is None else one.calendar.text("METHOD").upper()
    return one.text("STATUS").upper() == "CANCELLED" or method == "CANCEL"


def for_the_future(one: Component) -> bool:
    """Whether a component changes an occurrence and all that follow."""
    line = one.first("RECURRENCE-ID")
    return line is not None and line.parameters.get("RANGE", "").upper() == "THISANDFUTURE"
