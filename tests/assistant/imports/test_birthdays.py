"""Birthdays of contacts are all-day events, so that they can be asked for."""

from datetime import datetime
from zoneinfo import ZoneInfo

from ctrag.assistant.imports.birthdays import birthdays
from ctrag.assistant.imports.found import Owner
from stores.people.items import Contact

OWNER = Owner("me", ZoneInfo("Europe/Oslo"), datetime(2026, 11, 26, 12))


def test_a_birthday_is_on_its_day_last_year_to_two_years_on() -> None:
    items = list(birthdays((Contact("Irma", birthday="1958-11-30"), Contact("Ola")), OWNER))
    assert [item.fields["start"] for item in items] == [
        datetime(year, 11, 30) for year in (2025, 2026, 2027, 2028)
    ]
    assert {item.text("title") for item in items} == {"Irma's birthday"}
    assert items[1].text("notes") == "born 1958-11-30, 68 years"
    assert items[1].fields["end"] == datetime(2026, 12, 1)


def test_a_birthday_without_a_year_says_no_age_and_a_leap_day_is_in_every_year() -> None:
    items = list(birthdays((Contact("Ola", birthday="--02-29"),), OWNER))
    days = [item.fields["start"] for item in items]
    assert days == [
        datetime(2025, 2, 28),
        datetime(2026, 2, 28),
        datetime(2027, 2, 28),
        datetime(2028, 2, 29),
    ]
    assert items[0].text("notes") == ""


def test_the_same_birthday_is_the_same_event() -> None:
    ola = (Contact("Ola", birthday="--02-28"),)
    assert [one.id for one in birthdays(ola, OWNER)] == [one.id for one in birthdays(ola, OWNER)]
