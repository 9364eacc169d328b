"""Calendars that would keep a library busy for ever, or bring it down, cost only themselves."""

import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.found import Owner

OWNER = Owner("me", ZoneInfo("Europe/Berlin"), datetime(2026, 11, 26, 12, 0))
GOOD = "BEGIN:VEVENT\r\nUID:g\r\nSUMMARY:Good\r\nDTSTART:20261201T090000Z\r\nEND:VEVENT\r\n"


def around(text: str) -> bytes:
    return f"BEGIN:VCALENDAR\r\n{text}{GOOD}END:VCALENDAR\r\n".encode()


def series(rule: str, start: str = "20260106T183000") -> bytes:
    lines = ("BEGIN:VEVENT", "UID:x", "SUMMARY:x", f"DTSTART:{start}", f"RRULE:{rule}")
    return around("\r\n".join([*lines, "END:VEVENT", ""]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY",
        "FREQ=SECONDLY;COUNT=1000000000",
        "FREQ=MINUTELY;UNTIL=99991231T235959Z",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYSETPOS=5",
        "FREQ=MONTHLY;BYDAY=6MO",
        "FREQ=MONTHLY;BYDAY=5MO;BYMONTHDAY=1",
        "FREQ=MONTHLY;INTERVAL=12;BYMONTH=5",
        "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6",
        "FREQ=YEARLY;INTERVAL=999999999",
        "FREQ=DAILY;BYHOUR=" + ",".join(map(str, range(24))),
        "FREQ=FORTNIGHTLY",
        "FREQ=WEEKLY;UNTIL=soon",
        "nonsense",
    ],
)
def test_of_a_rule_that_cannot_be_worked_out_the_first_time_is_kept_and_said(rule: str) -> None:
    began = time.process_time()
    found = read_calendar(series(rule), OWNER)
    assert [one.text("title") for one in found.items] == ["x", "Good"]
    [told] = found.left_out
    assert (told.kind, told.what, told.lost) == ("event", "x", False)
    assert told.why.startswith("only its first time is kept: ")
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("rule", "count"),
    [
        ("FREQ=WEEKLY;COUNT=1000000000", 151),
        ("FREQ=WEEKLY;UNTIL=99991231T000000Z", 151),
        ("FREQ=WEEKLY;COUNT=-1", 151),
        ("FREQ=WEEKLY;INTERVAL=0", 151),
        ("FREQ=WEEKLY;COUNT=5;UNTIL=20270101", 5),
        ("FREQ=WEEKLY;COUNT=50;UNTIL=20260120", 3),
        ("FREQ=MONTHLY;BYDAY=1TU;COUNT=3;UNTL=20200101", 3),
    ],
)
def test_a_rule_that_only_looks_bad_is_followed(rule: str, count: int) -> None:
    found = read_calendar(series(rule), OWNER)
    assert len(found.items) - 1 == count
    assert found.left_out == []


@pytest.mark.parametrize("start", ["00010101T000000Z", "00010101", "99991231T235959Z", "99991231"])
@pytest.mark.parametrize("rule", ["FREQ=DAILY", "FREQ=YEARLY", "FREQ=MONTHLY;BYDAY=1MO"])
def test_series_at_the_ends_of_time_cost_only_themselves(start: str, rule: str) -> None:
    assert read_calendar(series(rule, start), OWNER).items[-1].text("title") == "Good"


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN:VEVENT\r\n" * 3000 + "END:VEVENT\r\n" * 3000,
        "BEGIN:VEVENT\r\nBEGIN:X-A\r\n" + "BEGIN:X-B\r\n" * 3000 + "END:VEVENT\r\n",
        "BEGIN:VCALENDAR\r\n" * 3000,
        "BEGIN:VEVENT\r\nSUMMARY:" + "(" * 5000 + "\r\nATTENDEE;CN=" + "[" * 5000 + "\r\n",
        'BEGIN:VEVENT\r\nDTSTART;TZID="' + "x" * 50_000 + ":20261201T100000\r\nEND:VEVENT\r\n",
        "BEGIN:VEVENT\r\nDTSTART" + ";A=b" * 20_000 + ":20261201\r\nEND:VEVENT\r\n",
    ],
    ids=["events", "parts", "calendars", "brackets", "quote", "parameters"],
)
def test_nesting_and_long_lines_cost_only_their_own_event(text: str) -> None:
    assert read_calendar(around(text), OWNER).items[-1].text("title") == "Good"


def test_markup_nested_too_deep_is_still_text() -> None:
    deep = "<div>" * 5000 + "the code is 12" + "</div>" * 5000
    text = f"BEGIN:VEVENT\r\nSUMMARY:x\r\nDTSTART:20261201\r\nDESCRIPTION:{deep}\r\nEND:VEVENT\r\n"
    assert read_calendar(around(text), OWNER).items[0].text("notes") == "the code is 12"


def test_a_zone_with_rules_of_every_second_is_left_to_its_name() -> None:
    rules = (
        "BEGIN:VTIMEZONE\r\nTZID:Evil\r\nBEGIN:STANDARD\r\nDTSTART:20200101T000000\r\n"
        "TZOFFSETFROM:+9900\r\nTZOFFSETTO:+9900\r\nRRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\n"
        "END:VTIMEZONE\r\n"
    )
    one = "BEGIN:VEVENT\r\nSUMMARY:x\r\nDTSTART;TZID=Evil:20261201T100000\r\nEND:VEVENT\r\n"
    found = read_calendar(around(rules + one), OWNER)
    assert found.items[0].time("start") == datetime(2026, 12, 1, 10)
    assert "its time zone is unknown (Evil)" in found.left_out[0].why
