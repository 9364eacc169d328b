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
)
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
        year, month, day = found["y"], int(found["m"]), int(found["d"])
        unknown = year in _NO_YEAR or year == without_year
        try:
            date(2000 if unknown else int(year), month, day)
        except ValueError:
            return None
        return f"{'-' if unknown else year}-{month:02}-{day:02}"
    return None


def birthdays(contacts: tuple[Contact, ...], owner: Owner) -> Iterator[Item]:
    """Birthdays of contacts as all-day events: last year's to those of two years on."""
    for contact in contacts:
        if not contact.birthday:
            continue
        year, month, day = contact.birthday.rsplit("-", 2)
        for one in (owner.now.year + step for step in _YEARS):
            try:
                start = datetime.combine(date(one, int(month), int(day)), time())
            except ValueError:  # born on 29 February
                start = datetime(one, 2, 28)
            born = f"born {contact.birthday}" if year.isdigit() else None
            age = f", {one - int(year)} years" if year.isdigit() and one > int(year) else ""
            yield Item(
                item_id(owner.person_id, "calendar", f"birthday {contact.name} {month}{day} {one}"),
                "calendar",
                {
                    "title": f"{contact.name}'s birthday",
                    "start": start,
                    "end": start + timedelta(days=1),
                    "location": None,
                    "attendees": (),
                    "notes": f"{born}{age}" if born else None,
                },
            )
