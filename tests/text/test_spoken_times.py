"""Claims about times and dates as people say them; "first" is the first one offered."""

from datetime import date, datetime
from time import perf_counter

import pytest

from ctrag.text.dates.clock_words import find_clocks
from ctrag.text.dates.day_words import find_days
from ctrag.text.dates.temporal_expressions import find_expressions, offered_dates, offered_datetimes
from ctrag.text.dates.time_phrases import MAX_TEXT

NOON = datetime(2025, 6, 18, 12, 0)
"""A Wednesday at noon."""


def first(text: str, now: datetime = NOON) -> str:
    return offered_datetimes(text, now)[0].isoformat(" ", "minutes")


def first_day(text: str, now: datetime = NOON) -> str:
    return offered_dates(text, now)[0].isoformat()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("flights on the third of July", "2025-07-03"),
        ("flights july third", "2025-07-03"),
        ("on march twenty second", "2026-03-22"),
        ("on march twenty-second", "2026-03-22"),
        ("on May the ninth", "2026-05-09"),
        ("in may, the tenth, from Oslo", "2026-05-10"),
        ("ninth october", "2025-10-09"),
        ("the first of march", "2026-03-01"),
        ("the thirty-first of August", "2025-08-31"),
        ("until may the ninth", "2026-05-09"),
        ("on 3 July 2027", "2027-07-03"),
        ("the second of January, 2030", "2030-01-02"),
    ],
)
def test_month_stands_on_either_side_of_an_ordinal(text: str, day: str) -> None:
    assert first_day(text) == day


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("monday the tenth of november at seven", "2025-11-10 07:00"),
        ("on the fourteenth at noon", "2025-07-14 12:00"),
        ("Monday the thirtieth, twenty past nine", "2025-06-30 09:20"),
        ("the twentieth, twenty past nine", "2025-06-20 09:20"),
        ("on the twentieth buy milk at ten", "2025-06-20 10:00"),
        ("on the third at two fifteen", "2025-07-03 14:15"),
        ("june thirtieth at two fifteen", "2025-06-30 14:15"),
        ("Saturday the 5th at three", "2025-07-05 15:00"),
        ("the 20th at ten to four", "2025-06-20 15:50"),
        ("the first of next month at ten", "2025-07-01 10:00"),
    ],
)
def test_ordinals_name_a_day_that_a_clock_time_is_on(text: str, point: str) -> None:
    assert first(text) == point


def test_weekday_next_to_a_number_chooses_the_month() -> None:
    assert first_day("Friday the fifteenth") == "2025-08-15"
    assert first_day("the fifteenth, three o'clock") == "2025-07-15"


@pytest.mark.parametrize(
    "text",
    [
        "the second of two songs",
        "on the third floor",
        "for the first time",
        "the tenth anniversary",
        "the first thing I said",
        "play the fifth symphony",
        "to the second friday",
        "I may second that",
        "the second may be wrong",
    ],
)
def test_ordinals_of_other_things_are_no_days(text: str) -> None:
    assert not [days for days in find_days(text, NOON.date(), [], False) if days.dated]


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("at ten past five", "2025-06-18 17:10"),
        ("at twenty to three", "2025-06-18 14:40"),
        ("tomorrow at ten to six in the evening", "2025-06-19 17:50"),
        ("Saturday morning at twenty to five", "2025-06-21 04:40"),
        ("at twenty past four tomorrow morning", "2025-06-19 04:20"),
        ("Wednesday at ten to nine", "2025-06-25 08:50"),
        ("at twenty-five past one", "2025-06-18 13:25"),
        ("at five minutes to two", "2025-06-18 13:55"),
        ("at half past four", "2025-06-18 16:30"),
        ("ten to midnight", "2025-06-18 23:50"),
        ("at quarter past noon", "2025-06-18 12:15"),
        ("at eight thirty tonight", "2025-06-18 20:30"),
        ("thursday at nine forty-five", "2025-06-19 09:45"),
        ("Monday nine thirty", "2025-06-23 09:30"),
        ("Tuesday five thirty", "2025-06-24 17:30"),
        ("tomorrow, five a m", "2025-06-19 05:00"),
        ("tomorrow five pm", "2025-06-19 17:00"),
        ("at seven p m", "2025-06-18 19:00"),
        ("noon tomorrow", "2025-06-19 12:00"),
        ("midnight tomorrow", "2025-06-20 00:00"),
        ("tomorrow at half past four in the afternoon", "2025-06-19 16:30"),
        ("tomorrow at six in the morning before I start", "2025-06-19 06:00"),
    ],
)
def test_clock_times_are_read_as_said(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on New Year's Eve", "2025-12-31"),
        ("new years day", "2026-01-01"),
        ("on Christmas Eve", "2025-12-24"),
        ("Christmas Day", "2025-12-25"),
        ("on christmas", "2025-12-25"),
        ("Boxing Day", "2025-12-26"),
        ("on halloween", "2025-10-31"),
        ("Easter Monday", "2026-04-06"),
        ("Good Friday", "2026-04-03"),
        ("last day of the month", "2025-06-30"),
        ("the end of the month", "2025-06-30"),
        ("end of next month", "2025-07-31"),
        ("the last day of august", "2025-08-31"),
        ("the end of the week", "2025-06-20"),
        ("start of next week", "2025-06-23"),
        ("the end of the year", "2025-12-31"),
        ("friday week", "2025-06-27"),
        ("next friday week", "2025-06-27"),
        ("a week on friday", "2025-06-27"),
        ("friday next week", "2025-06-27"),
        ("next week on Tuesday", "2025-06-24"),
    ],
)
def test_feasts_ends_of_months_and_weeks_are_days(text: str, day: str) -> None:
    assert first_day(text) == day


def test_feast_that_describes_a_thing_is_no_day() -> None:
    assert find_expressions("play Christmas songs and Easter hymns", NOON) == []


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("New Year's Eve at four", "2025-12-31 16:00"),
        ("last day of the month at noon", "2025-06-30 12:00"),
        ("first thing in the morning", "2025-06-19 08:00"),
        ("first thing tomorrow", "2025-06-19 08:00"),
        ("first thing tomorrow, at six", "2025-06-19 06:00"),
        ("last thing at night", "2025-06-18 22:00"),
        ("by the end of the day", "2025-06-18 17:00"),
        ("in half an hour", "2025-06-18 12:30"),
        ("in forty minutes", "2025-06-18 12:40"),
        ("in an hour and a half to move the laundry", "2025-06-18 13:30"),
        ("in an hour and twenty minutes", "2025-06-18 13:20"),
        ("in an hour and a quarter", "2025-06-18 13:15"),
        ("in two and a half hours", "2025-06-18 14:30"),
    ],
)
def test_parts_of_the_day_and_waits_have_a_usual_moment(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("monday at two, no make it three", "2025-06-23 15:00"),
        ("Saturday at nine, no, he doesn't open till ten, make it ten", "2025-06-21 10:00"),
        ("on saturday at ten, no wait, half ten", "2025-06-21 10:30"),
        ("at four fifteen in the morning, no wait, four ten", "2025-06-19 04:10"),
        ("tomorrow at two, I mean three", "2025-06-19 15:00"),
        ("tomorrow at two, sorry, three", "2025-06-19 15:00"),
        ("next Saturday, no, Sunday at ten", "2025-06-22 10:00"),
        ("tonight at eight, actually tomorrow", "2025-06-19 20:00"),
        ("on Friday the 20th at nine, scratch that, at eleven", "2025-06-20 11:00"),
    ],
)
def test_correction_comes_first_and_keeps_the_rest(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on the fifteenth, no wait that's the wedding, the sixteenth of March", "2026-03-16"),
        ("for the ninth of October, I mean the tenth", "2025-10-10"),
        ("from the third to the fifth of July", "2025-07-03"),
    ],
)
def test_two_days_share_the_month_that_one_of_them_names(text: str, day: str) -> None:
    assert first_day(text) == day


def test_no_in_a_message_corrects_nothing() -> None:
    assert first("remind me at six to say no to Bob on Friday") == "2025-06-18 18:00"


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("friday before twelve", "2025-06-20 12:00"),
        ("this afternoon, not later than four", "2025-06-18 16:00"),
        ("saturday at nine, not after ten", "2025-06-21 09:00"),
        ("tomorrow any time before two, let's say one", "2025-06-19 13:00"),
        ("not before nine tomorrow", "2025-06-19 09:00"),
        ("tomorrow at ten instead of half nine", "2025-06-19 10:00"),
        ("dinner at eight, not seven", "2025-06-18 20:00"),
        ("half seven tonight, six is too early", "2025-06-18 19:30"),
        ("I can't come so move it to six", "2025-06-18 18:00"),
        ("don't let me forget tomorrow at ten", "2025-06-19 10:00"),
        ("bring it forward to half four, the chemist shuts at five", "2025-06-18 16:30"),
        ("move it to six, because I'm not back at five", "2025-06-18 18:00"),
    ],
)
def test_wanted_time_precedes_limits_and_refused_ones(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("block tomorrow from two to four", "2025-06-19 14:00"),
        ("tomorrow between two and four", "2025-06-19 14:00"),
        ("from half past two to four", "2025-06-18 14:30"),
        ("gym from five to six thirty on friday", "2025-06-20 17:00"),
        ("move the dentist tomorrow from nine to eleven", "2025-06-19 11:00"),
        ("thursday between eight and nine, at eight", "2025-06-19 08:00"),
    ],
)
def test_range_starts_with_its_first_time_unless_a_thing_is_moved(text: str, point: str) -> None:
    assert first(text) == point


@pytest.mark.parametrize(
    ("hour", "text", "point"),
    [
        (12, "at five", "2025-06-18 17:00"),
        (18, "at five", "2025-06-19 05:00"),
        (0, "at half past four", "2025-06-18 04:30"),
        (22, "at ten to eleven", "2025-06-18 22:50"),
        (15, "at two", "2025-06-19 14:00"),
    ],
)
def test_time_alone_is_the_next_such_moment(hour: int, text: str, point: str) -> None:
    assert first(text, NOON.replace(hour=hour)) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("dinner with Ana on friday at half past seven", "2025-06-20 19:30"),
        ("poker night tomorrow at eight", "2025-06-19 20:00"),
        ("remind me to buy wine for dinner tomorrow at eight", "2025-06-19 08:00"),
        ("tomorrow at eight in the evening", "2025-06-19 20:00"),
    ],
)
def test_things_of_the_evening_are_after_noon(text: str, point: str) -> None:
    assert first(text) == point


def test_six_tomorrow_is_the_morning_when_said_late() -> None:
    assert first("tomorrow at six") == "2025-06-19 18:00"
    assert first("tomorrow at six", NOON.replace(hour=22)) == "2025-06-19 06:00"


@pytest.mark.parametrize(
    "text",
    [
        "send ten euros",
        "by ten euros",
        "book for five people",
        "read chapter three with me",
        "lesson six is too long",
        "add milk to two lists",
        "write to three friends",
        "between two and four people",
        "an hour and a half to go",
        "a quarter to a half of it",
        "get two, not three eggs",
    ],
)
def test_numbers_of_things_are_no_clock_times(text: str) -> None:
    assert find_clocks(text) == []


@pytest.mark.parametrize(
    "unit",
    [
        "the third ", "no, ", "from ten to ", "monday the ", "march, the twenty ", "twenty-",
        "not later than ", "make it ", "because ", "at ten past ", "a-", "first thing ", "end of the ",
        "friday next week ", "at two, no make it three, ", "the third of july to ",
    ],
)  # fmt: skip
def test_long_texts_of_spoken_times_are_read_quickly(unit: str) -> None:
    text = (unit * MAX_TEXT)[:MAX_TEXT]
    begin = perf_counter()
    offered_datetimes(text, NOON, [NOON])
    offered_dates(text, NOON, [NOON])
    assert perf_counter() - begin < 0.5


def test_leap_day_and_days_that_a_month_lacks_do_not_raise() -> None:
    assert offered_dates("on the thirty-first of february", NOON)[0] == date(2025, 6, 18)
    assert offered_dates("the twenty-ninth of february", NOON)[0] == date(2028, 2, 29)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("journal club on Thursday 11 to 11:45", "2025-05-22T11:00"),
        ("gym tomorrow 18:00-19:30", "2025-05-22T18:00"),
        ("the court on 3 June 5pm to 6pm", "2025-06-03T17:00"),
        ("choir Tuesday 7.30 to 9 pm", "2025-05-27T19:30"),
        ("meet tomorrow 11pm to 1am", "2025-05-22T23:00"),
        ("Friday at 11 - 12 guests", "2025-05-23T11:00"),
        ("remind me at 10 to 8", "2025-05-21T07:50"),
        ("move it from 10 to 11", "2025-05-21T11:00"),
    ],
)
def test_a_range_of_times_begins_at_its_first_one(text: str, begins: str) -> None:
    found = offered_datetimes(text, datetime(2025, 5, 21, 7, 0), [])
    assert found[0] == datetime.fromisoformat(begins)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("a reminder for five to find my gloves", "2025-05-21T17:00"),
        ("alarm for 6", "2025-05-21T18:00"),
        ("put it in for nine tomorrow", "2025-05-22T09:00"),
        ("on the 30th at half 9", "2025-05-30T09:30"),
        ("swim at 0630 tomorrow", "2025-05-22T06:30"),
        ("set the oven to 950 at half past six tomorrow", "2025-05-22T18:30"),
        ("swim moved to 745 tomorrow", "2025-05-22T07:45"),
        ("choir 1830 tomorrow", "2025-05-22T18:30"),
        ("a table for four at seven", "2025-05-21T19:00"),
    ],
)
def test_rarer_ways_to_say_an_hour_are_understood(text: str, begins: str) -> None:
    found = offered_datetimes(text, datetime(2025, 5, 21, 9, 40), [])
    assert found[0] == datetime.fromisoformat(begins)


@pytest.mark.parametrize(
    "text", ["milk for five children", "half 3 of the pie", "call 0141 496 0000"]
)
def test_numbers_that_are_no_hours_stay_numbers(text: str) -> None:
    assert offered_datetimes(text, datetime(2025, 5, 21, 9, 40), []) == []


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("tonight 22h", "2025-06-18 22:00"),
        ("optician 4 fri", "2025-06-20 16:00"),
        ("swim 8 not 715", "2025-06-18 20:00"),
        ("call in 14h", "2025-06-19 02:00"),
        ("run 0645 fri", "2025-06-20 06:45"),
        ("make it 2215", "2025-06-18 22:15"),
        ("choir 1845 instead", "2025-06-18 18:45"),
        ("bins 7 tmrw morn", "2025-06-19 07:00"),
        ("order 4 sunday papers", "2025-06-22 09:00"),
        ("write friday 2000 words", "2025-06-20 09:00"),
        ("chapter 3 friday", "2025-06-20 09:00"),
        ("dentist 24 june 0815", "2025-06-24 08:15"),
        ("choir on 12 July, a Saturday, 2.30pm", "2025-07-12 14:30"),
        ("gate inspection Monday 23 June, 11.15 sharp", "2025-06-23 11:15"),
        ("print it 845 mon", "2025-06-23 08:45"),
        ("feed the hens this time tomorrow", "2025-06-19 12:00"),
        ("tomorrow, six of the evening", "2025-06-19 18:00"),
        ("tomorrow at eight and a half in the morning", "2025-06-19 08:30"),
        ("the flat is 2.30 metres, friday", "2025-06-20 09:00"),
    ],
)
def test_times_typed_in_haste_are_times(text: str, point: str) -> None:
    assert first(text) == point
