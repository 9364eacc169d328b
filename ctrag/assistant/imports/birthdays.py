"""Birthdays: as address books write them, and as days of the calendar."""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from ctrag.assistant.imports.found import Owner, item_id
from stores.people.items import Contact, Item

_FORMS = (
    re.compile(r"(?P<y>\d{4})-?(?P<m>\d\d)-?(?P<d>\d\d)(?:[T ].*)?"),
    re.compile(r"(?P<y>--)-?(?P<m>\d\d)-?(?P<d>\d\d)(?:[T ].*)?"),
    re.compile(r"(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})"),
    re.compile(r"(?P<y>\d{4})(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<d>\d{1,2})"),
    re.compile(r"(?P<d>\d{1,2})[ -](?P<name>[A-Za-z]{3})[a-z]*[ -](?P<y>\d{4})"),
    re.compile(r"(?P<name>[A-Za-z]{3})[a-z]* (?P<d>\d{1,2}), ?(?P<y>\d{4})"),
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NO_YEAR = {"0000", "1604", "--"}
"""Years that phones write for none."""
_YEARS = range(-1, 3)
"""Years of the calendar for which birthdays are written, around this one."""


def birthday(text: str, *, without_year: str = "") -> str | None:
    """`1984-05-02`, or `--05-02` without a year; None where the text is no day.

    Args:
        text: As it is written.
        without_year: A year that stands for none.
    """
    for form in _FORMS:
        found = form.fullmatch(text.strip())
        if found is None:
            continue
        parts = found.groupdict()
        name = parts.get("name", "").casefold()
        if name and name not in _MONTHS:
            return None
        month = _MONTHS.index(name) + 1 if name else int(parts["m"])
        year, day = parts["y"], int(parts["d"])
        unknown = year in _NO_YEAR or year == without_year
        try:
            date(2000 if unknown else int(year), month, day)
        except ValueError:
            return None
        return f"{'-' if unknown else year}-{month:02}-{day:02}"
    return None


def birthdays(contacts: tuple[Contact, ...], owner: Owner) -> Iterator[Item]:
    """Birthdays of contacts as all-day events: last year's to those of two years on."""
    for one in contacts:
        if one.birthday:
            title, uid = f"{one.name}'s birthday", f"birthday {one.name}"
            yield from yearly(title, one.birthday, uid, owner, since="born")


def yearly(title: str, day: str, uid: str, owner: Owner, *, since: str = "since") -> Iterator[Item]:
    """A day of every year as all-day events: last year's to those of two years on.

    Args:
        title: The events' title.
        day: As `birthday` returns it.
        uid: What it is and whose.
        owner: Whose calendar.
        since: Word before the first day in the notes.
    """
    year, month, number = day.rsplit("-", 2)
    for one in (owner.now.year + step for step in _YEARS):
        try:
            start = datetime.combine(date(one, int(month), int(number)), time())
        except ValueError:  # 29 February
            start = datetime(one, 2, 28)
        years = f", {one - int(year)} years" if year.isdigit() and one > int(year) else ""
        yield Item(
            item_id(owner.person_id, "calendar", f"{uid} {month}{number} {one}"),
            "calendar",
            {
                "title": title,
                "start": start,
                "end": start + timedelta(days=1),
                "location": None,
                "attendees": (),
                "notes": f"{since} {day}{years}" if year.isdigit() else None,
            },
        )
