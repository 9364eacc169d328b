"""Claims about days that are counted from others, and about weekdays and weekends of months."""

from datetime import datetime

import pytest

from ctrag.text.dates.temporal_expressions import find_expressions, offered_dates, offered_datetimes

NOON = datetime(2025, 6, 18, 12, 0)
"""A Wednesday at noon."""


def first(text: str) -> str:
    return offered_datetimes(text, NOON)[0].isoformat(" ", "minutes")


def first_day(text: str) -> str:
    return offered_dates(text, NOON)[0].isoformat()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("a week tomorrow", "2025-06-26"),
        ("tomorrow week", "2025-06-26"),
        ("today week", "2025-06-25"),
        ("a week today", "2025-06-25"),
        ("four weeks today", "2025-07-16"),
        ("five weeks from today", "2025-07-23"),
        ("two weeks on Friday", "2025-07-04"),
        ("a fortnight on Saturday", "2025-07-05"),
        ("a fortnight tomorrow", "2025-07-03"),
        ("Saturday fortnight", "2025-07-05"),
        ("two weeks from Monday", "2025-07-07"),
        ("three days from tomorrow", "2025-06-22"),
        ("two days before Saturday", "2025-06-19"),
        ("the day before Saturday", "2025-06-20"),
        ("the day after Saturday", "2025-06-22"),
        ("day after Boxing Day", "2025-12-27"),
        ("three days before Christmas", "2025-12-22"),
        ("a week after New Year's Day", "2026-01-08"),
        ("the Sunday before the 1st", "2025-06-29"),
        ("the night before the 20th", "2025-06-19"),
        ("a couple of days after the 3rd of July", "2025-07-05"),
    ],
)
def test_days_are_counted_from_the_day_that_is_named(text: str, day: str) -> None:
    assert first_day(text) == day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the 3rd of next month", "2025-07-03"),
        ("the 20th of this month", "2025-06-20"),
        ("the first Monday in July", "2025-07-07"),
        ("first Monday of the month", "2025-07-07"),
        ("the last Friday of the month", "2025-06-27"),
        ("second Tuesday of next month", "2025-07-08"),
        ("the last Sunday in May", "2026-05-31"),
        ("what was on the last Sunday in May", "2025-05-25"),
        ("after the weekend", "2025-06-23"),
        ("after next weekend", "2025-06-30"),
        ("before the weekend", "2025-06-20"),
        ("who rang before the weekend", "2025-06-13"),
        ("the week after next", "2025-06-30"),
        ("Tuesday of the week after next", "2025-07-01"),
        ("the weekend after next", "2025-07-05"),
        ("the month after next", "2025-08-01"),
    ],
)
def test_months_weeks_and_weekends_have_edges(text: str, day: str) -> None:
    assert first_day(text) == day


def test_a_day_that_is_counted_has_an_hour_beside_it() -> None:
    assert first("two days before Saturday at nine") == "2025-06-19 09:00"
    assert first("a week tomorrow at half four") == "2025-06-26 16:30"
    assert first("this time next week") == "2025-06-25 12:00"
    assert first("the night before the 20th") == "2025-06-19 21:00"


def test_how_long_and_how_often_counts_no_days() -> None:
    assert first_day("book a cottage for two weeks from Friday") == "2025-06-20"
    assert first_day("every two weeks on Friday") == "2025-06-20"
    assert first_day("how many days before Christmas") == "2025-12-25"
    assert find_expressions("the plan of the week", NOON) == []
