"""Claims about waits, about times counted from others and about ranges; "first" is the first."""

from datetime import datetime

import pytest

from ctrag.text.dates.temporal_expressions import offered_datetimes

NOON = datetime(2025, 6, 18, 12, 0)
"""A Wednesday at noon."""
OPTICIAN = datetime(2025, 6, 19, 10, 0)


def first(text: str, *anchors: datetime) -> str:
    return offered_datetimes(text, NOON, anchors)[0].isoformat(" ", "minutes")


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("in 3 hours 20 minutes", "2025-06-18 15:20"),
        ("in 3 hrs 20 mins", "2025-06-18 15:20"),
        ("in one hour forty five minutes", "2025-06-18 13:45"),
        ("in an hour and ten", "2025-06-18 13:10"),
        ("in an hour and ten to call Jo", "2025-06-18 13:10"),
        ("in an hour thirty", "2025-06-18 13:30"),
        ("in 1h 30", "2025-06-18 13:30"),
        ("in 1hr30", "2025-06-18 13:30"),
        ("in 2h15m", "2025-06-18 14:15"),
        ("in an hour and ten people are here", "2025-06-18 13:00"),
    ],
)
def test_hours_and_minutes_are_one_wait(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("in twenty to turn the rice off", "2025-06-18 12:20"),
        ("in ten", "2025-06-18 12:10"),
        ("in 45", "2025-06-18 12:45"),
        ("in thirty five, please", "2025-06-18 12:35"),
    ],
)
def test_a_bare_number_to_wait_counts_minutes(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize("text", ["in 2025", "in ten shops", "sort it into twenty", "in 20.5"])
def test_other_numbers_are_no_wait(text: str) -> None:
    assert offered_datetimes(text, NOON) == []


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("half an hour before eight", "2025-06-18 19:30"),
        ("ten minutes before five tomorrow", "2025-06-19 16:50"),
        ("an hour before noon tomorrow", "2025-06-19 11:00"),
        ("half an hour before the five o'clock bus", "2025-06-18 16:30"),
        ("quarter of an hour after six", "2025-06-18 18:15"),
        ("an hour before midnight", "2025-06-18 23:00"),
        ("in one minute after one o'clock", "2025-06-18 13:00"),
    ],
)
def test_a_time_is_counted_from_another(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("at ten past", "2025-06-18 12:10"),
        ("at five to", "2025-06-18 12:55"),
        ("at twenty five to", "2025-06-18 12:35"),
        ("at ten past the hour", "2025-06-18 12:10"),
        ("at ten past to take the pie out", "2025-06-18 12:10"),
        ("at ten to take the pie out", "2025-06-18 22:00"),
        ("at eight, no, quarter to", "2025-06-18 19:45"),
    ],
)
def test_minutes_without_an_hour_are_of_the_next_one_or_of_that_corrected(
    text: str, point: str
) -> None:
    assert first(text) == point


def test_a_part_of_the_day_is_of_the_day_of_what_is_moved() -> None:
    assert first("move it to the afternoon", OPTICIAN) == "2025-06-19 15:00"
    assert first("move it to the evening", OPTICIAN) == "2025-06-19 19:00"
    assert first("move it to this afternoon", OPTICIAN) == "2025-06-18 15:00"
    assert first("push it to the morning", datetime(2025, 6, 18, 18)) == "2025-06-19 09:00"
    assert first("remind me in the evening to move the car", OPTICIAN) == "2025-06-18 19:00"


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("at one in the morning", "2025-06-19 01:00"),
        ("at half past two in the morning", "2025-06-19 02:30"),
        ("at 1 in the morning on Friday", "2025-06-20 01:00"),
        ("at three at night", "2025-06-19 03:00"),
        ("Friday at two in the morning", "2025-06-20 02:00"),
        ("Friday at twelve in the morning", "2025-06-20 12:00"),
        ("tired that morning, so the plumber at two", "2025-06-18 14:00"),
    ],
)
def test_the_morning_begins_at_midnight_where_an_hour_of_it_is_named(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("block out 2 to 4 on Thursday", "2025-06-19 14:00"),
        ("the hall two till four on Saturday", "2025-06-21 14:00"),
        ("workshop nine to half ten on Friday", "2025-06-20 09:00"),
        ("workshop half nine to eleven on Friday", "2025-06-20 09:30"),
        ("I'm working ten till six on Saturday", "2025-06-21 10:00"),
        ("put swimming in for six till seven tomorrow", "2025-06-19 18:00"),
        ("quarter past nine to ten on Friday", "2025-06-20 09:15"),
        ("five past two to four on Friday", "2025-06-20 14:05"),
        ("duty 10-6 on Saturday", "2025-06-21 10:00"),
    ],
)
def test_a_range_beside_a_day_starts_with_its_first_hour(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("at ten to six on Friday", "2025-06-20 17:50"),
        ("five to nine on Friday", "2025-06-20 08:55"),
        ("twenty to ten on Friday", "2025-06-20 09:40"),
        ("they beat Leeds 3-1 on Saturday", "2025-06-21 09:00"),
        ("six to seven people on Friday", "2025-06-20 09:00"),
        ("two to three hours tomorrow", "2025-06-18 15:00"),
    ],
)
def test_minutes_to_an_hour_scores_and_counts_are_no_range(text: str, point: str) -> None:
    assert first(text) == point
