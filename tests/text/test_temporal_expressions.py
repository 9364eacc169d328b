"""Claims about the times that a request names and the points offered for them."""

from datetime import date, datetime, timedelta
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.text.dates.clock_words import find_clocks
from ctrag.text.dates.duration_words import find_durations
from ctrag.text.dates.temporal_expressions import (
    MAX_DATES,
    MAX_DATETIMES,
    find_expressions,
    offered_beginnings,
    offered_dates,
    offered_datetimes,
)
from ctrag.text.dates.time_phrases import MAX_TEXT

THURSDAY = datetime(2025, 4, 17, 14, 50)
"""17 April 2025, ten to three in the afternoon."""
ITEM = datetime(2025, 4, 22, 10, 0)
"""An item on the Tuesday after."""

WORDS = (
    "at to past half quarter ten eight seven thirty noon tonight tomorrow yesterday Monday since "
    "the 24th of February April that day before after evening morning an hour and a half later "
    "ago in two weeks next last week not can't till push back fifteen 7:30 pm 2025-02-30 , . '"
).split()
TEXTS = st.one_of(
    st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join)
)
TIMES = st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2100, 1, 1))


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        ("half past seven", 7, 30),
        ("half nine", 9, 30),
        ("quarter to nine", 8, 45),
        ("ten to one", 12, 50),
        ("three thirty", 3, 30),
        ("seven oh five", 7, 5),
        ("the 6 o'clock thing", 6, 0),
        ("by 5.30", 5, 30),
        ("Tuesday two p.m.", 14, 0),
        ("nineteen is too early", 19, 0),
        ("till midnight", 0, 0),
    ],
)
def test_british_and_american_clock_words_are_read(text: str, hour: int, minute: int) -> None:
    assert [(clock.hour, clock.minute) for clock in find_clocks(text)] == [(hour, minute)]


@pytest.mark.parametrize(
    "text", ["at six months", "to four of them", "since two weeks", "by 5 euros", "two to 4 people"]
)
def test_numbers_that_count_things_are_no_clock_times(text: str) -> None:
    assert find_clocks(text) == []


def test_durations_say_how_they_are_tied_to_a_point() -> None:
    text = "in an hour and a half, forty minutes before, a quarter hour later, the last two days"
    read = [(found.amount, found.unit, found.relation) for found in find_durations(text)]
    assert read == [
        (1.5, "hour", "from_now"),
        (40, "minute", "earlier"),
        (0.25, "hour", "later"),
        (2, "day", "past"),
    ]


def test_bare_clock_time_gives_each_reading_with_the_next_one_first() -> None:
    expressions = find_expressions("ugh, can't make the 6 o'clock thing", THURSDAY)
    assert [expression.start for expression in expressions] == [
        datetime(2025, 4, 17, 18),
        datetime(2025, 4, 18, 6),
        datetime(2025, 4, 18, 18),
    ]
    assert {(expression.phrase, expression.grain) for expression in expressions} == {
        ("6 o'clock", "hour")
    }


@pytest.mark.parametrize(
    ("text", "start", "end", "grain"),
    [
        ("what's on tomorrow", "2025-04-18T00:00", "2025-04-19T00:00", "day"),
        ("dinner on Saturday 12 April 2025", "2025-04-12T00:00", "2025-04-13T00:00", "day"),
        ("rain on the 9th of Feb", "2026-02-09T00:00", "2026-02-10T00:00", "day"),
        ("what was on last night", "2025-04-16T18:00", "2025-04-17T04:00", "part"),
        ("who called since yesterday lunch", "2025-04-16T12:00", "2025-04-17T14:50", "part"),
        ("what did we hear on Monday", "2025-04-14T00:00", "2025-04-15T00:00", "day"),
        ("what have I got on Monday", "2025-04-21T00:00", "2025-04-22T00:00", "day"),
        ("anything next week", "2025-04-21T00:00", "2025-04-28T00:00", "week"),
        ("the weekend", "2025-04-19T00:00", "2025-04-21T00:00", "part"),
        ("in ten minutes", "2025-04-17T15:00", "2025-04-17T15:01", "minute"),
        ("wake me at two tonight", "2025-04-18T02:00", "2025-04-18T03:00", "hour"),
    ],
)
def test_likeliest_moment_of_a_request(text: str, start: str, end: str, grain: str) -> None:
    best = find_expressions(text, THURSDAY)[0]
    assert (best.start, best.end) == (datetime.fromisoformat(start), datetime.fromisoformat(end))
    assert best.grain == grain


@pytest.mark.parametrize("text", ["", "the usual", "that day", "half an hour later", "film night"])
def test_requests_without_a_time_of_their_own_name_no_moment(text: str) -> None:
    assert find_expressions(text, THURSDAY) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("same time Monday", datetime(2025, 4, 21, 10)),
        ("push it to Friday", datetime(2025, 4, 18, 10)),
        ("half an hour later", ITEM + timedelta(minutes=30)),
        ("an hour before, remind me", ITEM - timedelta(hours=1)),
        ("bring it forward by an hour", ITEM - timedelta(hours=1)),
        ("push it back fifteen", ITEM + timedelta(minutes=15)),
        ("make it four", datetime(2025, 4, 22, 16)),
        ("wake me three thirty that day", datetime(2025, 4, 22, 3, 30)),
        ("9 pm the evening before", datetime(2025, 4, 21, 21)),
        ("move it to next week", datetime(2025, 4, 22, 10)),
    ],
)
def test_first_offer_reckons_from_the_best_item(text: str, expected: datetime) -> None:
    assert offered_datetimes(text, THURSDAY, [ITEM])[0] == expected


def test_refused_time_is_offered_after_the_wanted_one() -> None:
    offered = offered_datetimes("not tonight, tomorrow at eleven", THURSDAY)
    assert offered[0] == datetime(2025, 4, 18, 11)
    assert datetime(2025, 4, 17, 20) in offered[1:]


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("what did I play today", "2025-04-17T00:00"),
        ("the track that I had on this morning", "2025-04-17T00:00"),
        ("yesterday evening on the porch", "2025-04-16T18:00"),
        ("who rang last night", "2025-04-16T18:00"),
        ("missed calls of the last hour", "2025-04-17T13:50"),
        ("in the past two hours", "2025-04-17T12:50"),
        ("since noon", "2025-04-17T12:00"),
        ("in the last hour of the shift", None),
        ("anybody tomorrow?", None),
        ("who tried me", None),
    ],
)
def test_since_begins_where_what_is_named_began(text: str, begins: str | None) -> None:
    wanted = None if begins is None else datetime.fromisoformat(begins)
    assert next(iter(offered_beginnings(text, THURSDAY)), None) == wanted


def test_since_looks_back() -> None:
    assert offered_datetimes("who rang since five", THURSDAY)[0] == datetime(2025, 4, 17, 5)


@pytest.mark.parametrize(
    "said",
    [
        "a reminder to water the ferns on Wednesday, since they're out of town",
        "remind me on Wednesday to call Walt, he has been ill since Monday",
        "lunch on Wednesday because she was away on Tuesday",
    ],
)
def test_a_reason_that_lies_back_moves_no_day_into_the_past(said: str) -> None:
    assert datetime(2025, 4, 23).date() in [one.date() for one in offered_datetimes(said, THURSDAY)]
    assert min(offered_datetimes(said, THURSDAY)[:1]) > THURSDAY


def test_dates_come_as_named_then_of_items_then_today() -> None:
    assert offered_dates("flights on 19 December", THURSDAY, [ITEM])[:3] == [
        date(2025, 12, 19),
        ITEM.date(),
        THURSDAY.date(),
    ]


def test_day_that_the_month_lacks_is_taken_from_the_next_month() -> None:
    assert offered_dates("on the 31st", THURSDAY)[0] == date(2025, 5, 31)


@given(text=TEXTS, now=TIMES, anchors=st.lists(TIMES, max_size=4))
def test_any_text_gives_bounded_unique_whole_minutes(
    text: str, now: datetime, anchors: list[datetime]
) -> None:
    points = offered_datetimes(text, now, anchors)
    days = offered_dates(text, now, anchors)
    assert len(points) == len(set(points)) <= MAX_DATETIMES
    assert len(days) == len(set(days)) <= MAX_DATES
    assert all(point.second == point.microsecond == 0 for point in points)
    assert all(type(day) is date for day in days)
    assert all(expression.start < expression.end for expression in find_expressions(text, now))


@pytest.mark.parametrize("unit", ["a ", "half ", "what ", ", ", "5 \n", "the day before "])
def test_text_past_the_limit_is_not_read(unit: str) -> None:
    text = (unit * 10_000)[:10_000]
    begin = perf_counter()
    offered_datetimes(text, THURSDAY, [ITEM])
    assert perf_counter() - begin < 0.5
    assert find_expressions("x" * MAX_TEXT + " tomorrow", THURSDAY) == []
