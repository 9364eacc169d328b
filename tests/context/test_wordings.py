"""Claims about plain words for moments, hours, numbers, kinds and places."""

from datetime import datetime, timedelta

import pytest

from ctrag.context.prior import KINDS
from ctrag.context.wordings import (
    KINDS_SAID,
    closest,
    counted,
    happens,
    hours_words,
    lapse,
    percent,
    place_words,
    quoted,
    when,
)
from tests.context.conftest import NOW


def test_every_kind_has_words() -> None:
    assert set(KINDS_SAID) == {*KINDS} - {"other"}


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        (NOW, "right now"),
        (NOW + timedelta(minutes=1), "in 1 minute"),
        (NOW - timedelta(minutes=59), "59 minutes ago"),
        (NOW + timedelta(hours=1), "today at 13:00"),
        (NOW - timedelta(hours=13), "yesterday at 23:00"),
        (NOW + timedelta(hours=12), "tomorrow at 00:00"),
        (NOW + timedelta(days=6), "on Wednesday at 12:00"),
        (NOW - timedelta(days=20), "on 28 March, 3 weeks ago"),
        (datetime(2026, 4, 17), "on 17 April 2026, 12 months ahead"),
    ],
)
def test_moments_are_said_as_people_say_them(moment: datetime, told: str) -> None:
    assert when(moment, NOW) == told


@pytest.mark.parametrize(
    ("usual", "asked", "told"),
    [
        ((5,), 5, "around 05:30"),
        ((23, 0), 12, "between 23:00 and 01:00"),
        ((7, 8, 20), 6, "between 07:00 and 09:00"),
        ((7, 8, 20), 22, "around 20:30"),
        (tuple(range(24)), 3, "at any hour"),
    ],
)
def test_of_the_usual_hours_the_nearest_are_said(
    usual: tuple[int, ...], asked: int, told: str
) -> None:
    assert hours_words(usual, asked) == told


def test_numbers_are_said_no_rounder_than_they_are() -> None:
    assert [percent(share) for share in (0, 0.001, 0.62, 0.999, 1)] == [
        "0 %", "under 1 %", "62 %", "over 99 %", "100 %",
    ]  # fmt: skip
    assert [closest(rank) for rank in (1, 2, 11, 23)] == [
        "the closest", "the 2nd closest", "the 11th closest", "the 23rd closest",
    ]  # fmt: skip
    assert [lapse(minutes) for minutes in (1, 90, 36 * 60, 21 * 24 * 60)] == [
        "1 minute", "2 hours", "2 days", "3 weeks",
    ]  # fmt: skip


def test_a_further_application_and_place_have_words_too() -> None:
    assert counted("photos", 1) == "1 photos item"
    assert counted("photos", 3) == "3 photos items"
    assert happens("taken_at", NOW - timedelta(minutes=5), NOW) == "its time was 5 minutes ago"
    assert happens("received_at", NOW + timedelta(minutes=5), NOW) == "its time is in 5 minutes"
    assert [place_words(place) for place in ("Home", "commute", "The Lough ")] == [
        "at home", "on the way", "at The Lough",
    ]  # fmt: skip
    assert quoted(["a", "b", "c"]) == "“a”, “b” and “c”"
