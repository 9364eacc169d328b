"""Claims about times and dates as they are typed; "first" is the first one offered."""

from datetime import datetime

import pytest

from ctrag.text.dates.temporal_expressions import find_expressions, offered_datetimes
from ctrag.text.dates.written_times import as_said

NOON = datetime(2025, 6, 18, 12, 0)
"""A Wednesday at noon."""


def first(text: str) -> str:
    return offered_datetimes(text, NOON)[0].isoformat(" ", "minutes")


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("water the ferns at 8.15pm", "2025-06-18 20:15"),
        ("tomorrow at 8.15am", "2025-06-19 08:15"),
        ("cinema at 8.15 p.m. on Friday", "2025-06-20 20:15"),
        ("optician Monday 9.40am", "2025-06-23 09:40"),
        ("cinema 815pm", "2025-06-18 20:15"),
        ("at 1140am", "2025-06-19 11:40"),
        ("at 8 15 pm", "2025-06-18 20:15"),
        ("at 8 15", "2025-06-18 20:15"),
        ("call at 16 45 today", "2025-06-18 16:45"),
        ("at 20.15pm", "2025-06-18 20:15"),
        ("at 4 10pm", "2025-06-18 16:10"),
    ],
)
def test_minutes_behind_a_stop_a_space_or_nothing_are_of_the_hour(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("at half-past eight", "2025-06-18 20:30"),
        ("at a quarter-to eight", "2025-06-18 19:45"),
        ("at ten-to-six", "2025-06-18 17:50"),
        ("at twenty-five-past four", "2025-06-18 16:25"),
    ],
)
def test_hyphens_part_no_minutes_from_their_hour(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("optician on 24/6 at 9.40", "2025-06-24 09:40"),
        ("optician on 24/06 at quarter past nine", "2025-06-24 09:15"),
        ("optician 6/24 at 9:40am", "2025-06-24 09:40"),
        ("optician 03/07/2025 11:20", "2025-07-03 11:20"),
        ("optician 03.07.25 11:20", "2025-07-03 11:20"),
        ("optician 03-07-2025 at 11.20", "2025-07-03 11:20"),
        ("on 3.7. at 14:00", "2025-07-03 14:00"),
        ("on 3/7 at two", "2025-07-03 14:00"),
        ("lunch 24/6 1pm", "2025-06-24 13:00"),
        ("on the third of the seventh at half ten", "2025-07-03 10:30"),
        ("the 3rd of the 7th at noon", "2025-07-03 12:00"),
        ("optician 3rd 11.20", "2025-07-03 11:20"),
        ("put lunch in for 24/6 at one", "2025-06-24 13:00"),
    ],
)
def test_a_day_has_its_number_before_that_of_its_month(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    "text",
    [
        "pay £8.15 to Tom",
        "install version 3.5",
        "python 3.11.25",
        "ubuntu 22.04.1",
        "is the shop open 24/7",
        "add 1/2 cup of sugar",
        "buy 3/4 inch screws",
        "they won 3/1",
        "rate it 8/10",
        "chapter 3.12",
        "two tubes of 9/1",
        "flat 2/5",
        "the ping from 192.168.1.25",
        "50/50",
        "the first of the second lot",
        "the rate is 2.5. Tell Tom",
        "bring 2.5 kg of flour",
    ],
)
def test_versions_scores_prices_and_fractions_are_no_times(text: str) -> None:
    assert as_said(text, NOON) == text
    assert find_expressions(text, NOON) == []


def test_a_number_of_people_before_an_hour_is_none_of_its_minutes() -> None:
    assert as_said("table for 4 10 pm", NOON) == "table for 4 10 pm"
