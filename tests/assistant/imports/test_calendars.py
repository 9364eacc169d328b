"""Calendars as phones and programs export them: nothing lost without a word, times as meant."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.found import Found, Owner
from stores.people.items import Item

NOW = datetime(2026, 11, 26, 12, 0)
"""A Thursday."""
BERLIN = Owner("me", ZoneInfo("Europe/Berlin"), NOW, addresses=("ada@firm.example",))


def calendar(*components: str, head: str = "") -> bytes:
    lines = f"BEGIN:VCALENDAR\nVERSION:2.0\n{head}" + "\n".join(components) + "\nEND:VCALENDAR\n"
    return lines.replace("\n", "\r\n").encode()


def event(*lines: str, kind: str = "VEVENT") -> str:
    return "\n".join([f"BEGIN:{kind}", *lines, f"END:{kind}"])


GOOD = event("UID:good", "SUMMARY:Good", "DTSTART:20261201T090000Z")


def read(*components: str, head: str = "", owner: Owner = BERLIN) -> Found:
    return read_calendar(calendar(*components, head=head), owner)


def only(found: Found) -> Item:
    [item] = found.items
    return item


def starts(found: Found) -> list[str]:
    return [f"{item.time('start'):%Y-%m-%d %H:%M}" for item in found.items]


WEEKLY = ("UID:choir", "SUMMARY:Choir", "DTSTART;TZID=Europe/Berlin:20260107T193000")


def test_a_weekly_event_is_there_in_every_week_from_last_year_to_the_year_after_next() -> None:
    found = starts(read(event(*WEEKLY, "RRULE:FREQ=WEEKLY;BYDAY=WE")))
    assert "2026-12-02 19:30" in found
    assert "2027-07-07 19:30" in found  # summer time: the clock's time stays
    assert found[0] == "2026-01-07 19:30"
    assert found[-1] == "2028-11-22 19:30"


def test_the_window_is_around_the_moment_of_the_import() -> None:
    later = Owner("me", BERLIN.zone, datetime(2031, 5, 1))
    found = starts(read(event(*WEEKLY, "RRULE:FREQ=WEEKLY"), owner=later))
    assert (found[0][:4], found[-1][:4]) == ("2030", "2033")


def test_a_daily_event_is_bounded_around_now() -> None:
    found = starts(read(event("UID:d", "SUMMARY:Pill", "DTSTART:20200101", "RRULE:FREQ=DAILY")))
    assert len(found) == 110 + 400
    assert "2026-11-26 00:00" in found


def test_count_exdate_and_rdate_are_followed() -> None:
    bins = event(
        "UID:bin",
        "SUMMARY:Bins",
        "DTSTART;VALUE=DATE:20261103",
        "RRULE:FREQ=WEEKLY;COUNT=4",
        "EXDATE;VALUE=DATE:20261110",
        "RDATE;VALUE=DATE:20261231",
    )
    assert [one[:10] for one in starts(read(bins))] == [
        "2026-11-03",
        "2026-11-17",
        "2026-11-24",
        "2026-12-31",
    ]


def test_single_further_dates_make_a_series_too() -> None:
    found = read(event(*WEEKLY, "RDATE;TZID=Europe/Berlin:20260114T180000,20300101T100000"))
    assert starts(found) == ["2026-01-07 19:30", "2026-01-14 18:00", "2030-01-01 10:00"]


def test_a_day_that_is_left_out_leaves_out_the_time_on_it() -> None:
    found = starts(read(event(*WEEKLY, "RRULE:FREQ=WEEKLY", "EXDATE;VALUE=DATE:20261202")))
    assert "2026-12-02 19:30" not in found
    assert "2026-12-09 19:30" in found


def test_a_birthday_before_1970_comes_every_year() -> None:
    birthday = event("UID:b", "SUMMARY:Ida", "DTSTART;VALUE=DATE:19490228", "RRULE:FREQ=YEARLY")
    assert starts(read(birthday)) == [f"{year}-02-28 00:00" for year in (2026, 2027, 2028)]


def test_a_moved_occurrence_replaces_its_place_and_a_cancelled_one_leaves_it_empty() -> None:
    moved = event(
        "UID:choir",
        "SUMMARY:Choir in the church",
        "RECURRENCE-ID;TZID=Europe/Berlin:20261202T193000",
        "DTSTART;TZID=Europe/Berlin:20261203T200000",
    )
    cancelled = event(
        "UID:choir",
        "SUMMARY:Choir",
        "RECURRENCE-ID:20261209T183000Z",
        "DTSTART:20261209T183000Z",
        "STATUS:CANCELLED",
    )
    found = read(event(*WEEKLY, "RRULE:FREQ=WEEKLY"), moved, cancelled)
    december = {start for start in starts(found) if start.startswith("2026-12-0")}
    assert december == {"2026-12-03 20:00"}
    assert "2026-12-16 19:30" in starts(found)
    assert [(one.kind, one.what, one.why) for one in found.left_out] == [
        ("event", "Choir", "cancelled")
    ]


def test_this_and_all_that_follow_may_change() -> None:
    later = event(
        "UID:choir",
        "SUMMARY:Choir, later",
        "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20261202T193000",
        "DTSTART;TZID=Europe/Berlin:20261202T203000",
    )
    found = read(event(*WEEKLY, "RRULE:FREQ=WEEKLY"), later)
    there = {f"{one.time('start'):%m-%d %H:%M}": one.text("title") for one in found.items[40:]}
    assert there["11-25 19:30"] == "Choir"
    assert there["12-09 20:30"] == "Choir, later"


def test_an_occurrence_that_was_changed_and_then_taken_out_is_gone() -> None:
    moved = event(
        "UID:choir",
        "SUMMARY:x",
        "SEQUENCE:1",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260114T193000",
        "DTSTART;TZID=Europe/Berlin:20260115T193000",
    )
    series = (*WEEKLY, "SEQUENCE:2", "RRULE:FREQ=WEEKLY;COUNT=3")
    found = read(moved, event(*series, "EXDATE;TZID=Europe/Berlin:20260114T193000"))
    assert starts(found) == ["2026-01-07 19:30", "2026-01-21 19:30"]


@pytest.mark.parametrize("newest_first", [True, False])
def test_the_highest_sequence_counts_wherever_it_stands(newest_first: bool) -> None:
    new = event("UID:a", "SUMMARY:New", "SEQUENCE:3", "DTSTART:20261203T150000Z")
    old = event("UID:a", "SUMMARY:Old", "SEQUENCE:0", "DTSTART:20261203T080000Z")
    order = (new, old) if newest_first else (old, new)
    assert only(read(*order)).text("title") == "New"


def test_of_one_sequence_the_last_change_counts() -> None:
    new = event("UID:a", "SUMMARY:Walk", "LAST-MODIFIED:20261120T1000Z", "DTSTART:20261203T150000Z")
    old = event("UID:a", "SUMMARY:Walk", "LAST-MODIFIED:20261101T1000Z", "DTSTART:20261203T080000Z")
    found = read(new, old)
    assert starts(found) == ["2026-12-03 16:00"]
    assert [one.why for one in found.left_out] == ["an older version: a newer one counts"]


def test_a_cancelled_event_is_none_and_is_said() -> None:
    found = read(event("UID:c", "SUMMARY:Tour", "STATUS:CANCELLED", "DTSTART:20261205T09"), GOOD)
    assert only(found).text("title") == "Good"
    assert [(one.what, one.why) for one in found.left_out] == [("Tour", "cancelled")]


def test_an_event_that_the_owner_declined_is_left_out() -> None:
    mine = "ATTENDEE;PARTSTAT=DECLINED:mailto:Ada@firm.example"
    found = read(event("UID:d", "SUMMARY:Townhall", "DTSTART:20261205T090000Z", mine))
    assert (found.items, found.left_out[0].why) == ([], "you declined it")


def test_who_organises_comes_first_and_who_declined_not_at_all() -> None:
    found = read(
        event(
            "UID:k",
            "SUMMARY:Kick-off",
            "DTSTART:20261208T080000Z",
            "ATTENDEE;CN=Per Moe;PARTSTAT=DECLINED:mailto:per@firm.example",
            'ATTENDEE;CN="Lund, Eva (Sales)":mailto:eva@firm.example',
            "ATTENDEE;CUTYPE=ROOM;CN=Room 5:mailto:room5@firm.example",
            "ATTENDEE;CN=Bo Aas:MAILTO:BO@firm.example",
            "ATTENDEE;CN=Moss & Sons, Inc.:mailto:moss@firm.example",
            "ORGANIZER;CN=Bo Aas:mailto:bo@firm.example",
        )
    )
    assert only(found).fields["attendees"] == ("Bo Aas", "Eva Lund (Sales)", "Moss & Sons, Inc.")


@pytest.mark.parametrize(
    "zone",
    [
        "Tokyo Standard Time",
        "Tokyo Standard Time 1",
        '"(UTC+09:00) Osaka, Sapporo, Tokyo"',
        "(UTC+09:00) Osaka, Sapporo, Tokyo",
        "(GMT+09.00) Seoul",
        "/vendor.example/20070129_1/Asia/Tokyo",
        "/softwarestudio.org/Olson_20011030_5/Asia/Tokyo",
        "asia/tokyo",
        "UTC+9",
        "+0900",
    ],
)
def test_a_zone_is_known_by_any_name_that_programs_have_for_it(zone: str) -> None:
    found = read(event("UID:z", "SUMMARY:Call", f"DTSTART;TZID={zone}:20260715T210000"))
    assert starts(found) == ["2026-07-15 14:00"]
    assert found.left_out == []


@pytest.mark.parametrize("zone", ['"tzone://Microsoft/Utc"', "tzone://Microsoft/Utc", "UTC", "GMT"])
def test_utc_is_known_by_any_name(zone: str) -> None:
    found = read(event("UID:z", "SUMMARY:Call", f"DTSTART;TZID={zone}:20260115T203000"))
    assert starts(found) == ["2026-01-15 21:30"]


@pytest.mark.parametrize(
    ("zone", "summer"),
    [
        ('"(UTC-05:00) Eastern Time (US & Canada)"', "2026-07-15 14:00"),
        ("(UTC+01:00) Amsterdam\\, Berlin\\, Bern", "2026-07-15 08:00"),
        ('"(UTC+10:00) Canberra, Melbourne, Sydney"', "2026-07-15 00:00"),
        ('"(UTC-03:00) Brasilia"', "2026-07-15 13:00"),
    ],
)
def test_names_as_windows_shows_them_have_their_summer_time(zone: str, summer: str) -> None:
    found = read(event("UID:z", "SUMMARY:Call", f"DTSTART;TZID={zone}:20260715T080000"))
    assert starts(found) == [summer]


RULES = """BEGIN:VTIMEZONE
TZID:{name}
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0300
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0300
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE"""


def test_a_zone_of_the_files_own_is_read_by_its_rules_and_its_series_by_a_zone_like_it() -> None:
    own = RULES.format(name="Customized Time Zone")
    times = "DTSTART;TZID=Customized Time Zone"
    found = read(
        own,
        event("UID:1", "SUMMARY:a", f"{times}:20261028T120000"),
        event("UID:2", "SUMMARY:b", f"{times}:20260707T120000", "RRULE:FREQ=WEEKLY;COUNT=2"),
    )
    assert starts(found) == ["2026-10-28 11:00", "2026-07-07 11:00", "2026-07-14 11:00"]
    assert 'TZID="' in found.items[1].text("repeats")
    assert "Customized" not in found.items[1].text("repeats")


def test_an_unknown_zone_is_taken_as_the_persons_and_said() -> None:
    found = read(event("UID:z", "SUMMARY:Call", "DTSTART;TZID=Nowhere Time:20260115T203000"))
    assert starts(found) == ["2026-01-15 20:30"]
    [told] = found.left_out
    assert not told.lost
    assert told.why == (
        "its time zone is unknown (Nowhere Time): its times are taken as Europe/Berlin"
    )


def test_floating_times_are_the_calendars_own_zones_or_else_the_persons() -> None:
    floating = event("UID:f", "SUMMARY:Train", "DTSTART:20260910T083000")
    assert starts(read(floating)) == ["2026-09-10 08:30"]
    assert starts(read(floating, head="X-WR-TIMEZONE:America/New_York\n")) == ["2026-09-10 14:30"]


def test_the_persons_zone_decides_and_not_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    evening = event("UID:u", "SUMMARY:Train", "DTSTART:20261204T223000Z")
    assert starts(read(evening)) == ["2026-12-04 23:30"]
    lisbon = Owner("me", ZoneInfo("Europe/Lisbon"), NOW)
    assert starts(read(evening, owner=lisbon)) == ["2026-12-04 22:30"]


def test_a_night_when_the_clocks_change_ends_when_it_says() -> None:
    night = event(
        "UID:n",
        "SUMMARY:Night shift",
        "DTSTART;TZID=Europe/Berlin:20261024T220000",
        "DTEND;TZID=Europe/Berlin:20261025T060000",
    )
    assert only(read(night)).time("end") == datetime(2026, 10, 25, 6)


def test_days_are_days_also_where_an_end_has_a_time() -> None:
    span = event("UID:s", "SUMMARY:Trip", "DTSTART;VALUE=DATE:20261221", "DTEND:20261224T000000Z")
    item = only(read(span))
    assert (item.time("start"), item.time("end")) == (
        datetime(2026, 12, 21),
        datetime(2026, 12, 24, 1),
    )


def test_a_broken_alarm_costs_nothing() -> None:
    alarm = "BEGIN:VALARM\nTRIGGER:PT-2H\nACTION:nonsense\nBEGIN:X\nEND:VALARM"
    found = read(event("UID:a", "SUMMARY:Walk", alarm, "DTSTART:20261201T090000Z"), GOOD)
    assert ([one.text("title") for one in found.items], found.left_out) == (["Walk", "Good"], [])


@pytest.mark.parametrize(
    ("start", "why"),
    [
        ("DTSTART:20261131T100000", "'20261131T100000' is no day or time that there is"),
        ("DTSTART:tomorrow", "'tomorrow' is not a time"),
        ("DTSTART:00010101T000000Z\nDTEND:20260101", None),
        ("LOCATION:somewhere", "it has no start"),
    ],
)
def test_an_impossible_date_costs_only_its_event_and_is_said(start: str, why: str | None) -> None:
    found = read(event("UID:x", "SUMMARY:Boiler", *start.split("\n")), GOOD)
    assert found.items[-1].text("title") == "Good"
    assert [(one.what, one.why) for one in found.left_out] == (
        [] if why is None else [("Boiler", why)]
    )


def test_events_without_a_title_are_kept() -> None:
    place = event("UID:1", "DTSTART:20261202T140000Z", "LOCATION:Clinic", "CLASS:PRIVATE")
    empty = event("UID:2", "SUMMARY:", "DTSTART:20261203T140000Z", "DESCRIPTION:Bring the X-ray")
    busy = event("UID:3", "DTSTART:20261204T140000Z", "CLASS:PRIVATE")
    found = read(place, empty, busy)
    assert [one.text("title") for one in found.items] == ["(no title)", "(no title)", "Busy"]


def test_todos_become_reminders_and_journals_notes() -> None:
    found = read(
        event("UID:1", "SUMMARY:Permit", "DUE;TZID=Europe/Berlin:20261204T180000", kind="VTODO"),
        event("UID:2", "SUMMARY:Drill", "STATUS:COMPLETED", kind="VTODO"),
        event("UID:3", "SUMMARY:Old", "STATUS:CANCELLED", kind="VTODO"),
        event("UID:4", "SUMMARY:Water", "DUE:20260105", "RRULE:FREQ=WEEKLY", kind="VTODO"),
        event("UID:5", "DTSTART:20261120", "SUMMARY:Wifi", "DESCRIPTION:heron", kind="VJOURNAL"),
        head="X-WR-CALNAME:Home\n",
    )
    rows = [(one.app, one.text("title"), one.time("due"), one.flag("done")) for one in found.items]
    assert rows == [
        ("reminders", "Permit", datetime(2026, 12, 4, 18), False),
        ("reminders", "Drill", None, True),
        ("reminders", "Water", datetime(2026, 11, 30), False),
        ("notes", "Wifi", None, False),
    ]
    assert found.items[0].text("list") == found.items[3].text("folder") == "Home"
    assert found.items[3].text("body") == "heron"
    assert [(one.kind, one.what, one.why) for one in found.left_out] == [
        ("to-do", "Old", "cancelled")
    ]


def test_markup_in_notes_is_read_as_text() -> None:
    html = '<html><body><p style="margin:0">Code <b>8841</b>&nbsp;&ndash; knock</p></body></html>'
    found = read(event("UID:h", "SUMMARY:Tom &amp; Ina", "DTSTART:20261207", f"DESCRIPTION:{html}"))
    assert only(found).text("notes") == "Code 8841 – knock"
    assert only(found).text("title") == "Tom & Ina"


def test_text_that_only_looks_like_markup_stays() -> None:
    found = read(event("UID:h", "SUMMARY:x", "DTSTART:20261207", "DESCRIPTION:if a <b and c> d"))
    assert only(found).text("notes") == "if a <b and c> d"


WHALE = calendar(event("UID:w", "SUMMARY:Zoë 🐋 café", "DTSTART:20261207"))


@pytest.mark.parametrize(
    "data",
    [
        WHALE,
        b"\xef\xbb\xbf" + WHALE,
        WHALE.decode().encode("utf-16"),
        WHALE.decode().encode("utf-16-le"),
        WHALE.decode().encode("utf-16-be"),
        WHALE.replace(b"\x90\x8b", b"\x90\r\n \x8b"),
        WHALE.replace(b"\r\n", b"\n"),
        WHALE.replace(b"\r\n", b"\r"),
        b"Exported by a program\r\n\r\n" + WHALE,
        WHALE.replace(b"END:VCALENDAR\r\n", b"").replace(b"END:VEVENT\r\n", b""),
        WHALE.replace(b"SUMMARY", b"summary"),
    ],
)
def test_a_title_is_read_however_the_file_is_written(data: bytes) -> None:
    assert only(read_calendar(data, BERLIN)).text("title") == "Zoë 🐋 café"


def test_files_of_old_programs_are_read_in_their_charset() -> None:
    data = calendar(event("UID:w", "SUMMARY:Größe", "DTSTART:20261207")).decode().encode("cp1252")
    assert only(read_calendar(data, BERLIN)).text("title") == "Größe"


def test_lines_of_a_text_that_were_never_folded_still_belong_to_it() -> None:
    text = ["DESCRIPTION:Bring:", "boots", "a hat", "DTSTART:20261207T090000Z"]
    item = only(read(event("UID:w", "SUMMARY:Walk", *text)))
    assert item.text("notes") == "Bring:\nboots\na hat"
    assert item.time("start") == datetime(2026, 12, 7, 10)


def test_events_without_uid_have_the_same_ids_each_time() -> None:
    first = event("SUMMARY:Eye test", "DTSTART:20261201T090000Z")
    second = event("SUMMARY:Eye test", "DTSTART:20261208T090000Z")
    ids = {one.id for one in read(first, second).items}
    assert len(ids) == 2
    assert {one.id for one in read(second, first).items} == ids


def test_an_event_that_vanished_from_the_next_export_can_be_told() -> None:
    holiday = event("UID:h", "SUMMARY:Holiday", "DTSTART:20261221")
    before, after = read(holiday, GOOD), read(GOOD)
    gone = {one.id for one in before.items} - {one.id for one in after.items}
    assert gone == {one.id for one in before.items if one.text("title") == "Holiday"}


@pytest.mark.parametrize("data", [b"", b"hello", b"\xff\xfe\x00", b"BEGIN:VCARD\r\nFN:x\r\n"])
def test_what_is_no_calendar_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not an iCalendar file: it has no line BEGIN:VCALENDAR"):
        read_calendar(data, BERLIN)


def test_a_period_lasts_as_long_as_it_says() -> None:
    found = read(
        event(
            "UID:p",
            "SUMMARY:Shift",
            "DTSTART:20261201T100000",
            "DURATION:PT1H",
            "RDATE;VALUE=PERIOD:20261205T100000/PT2H,20261207T100000/20261207T103000",
        )
    )
    assert [f"{one.time('end'):%d %H:%M}" for one in found.items] == [
        "01 11:00",
        "05 12:00",
        "07 10:30",
    ]


def test_two_events_of_one_identity_both_stay_and_a_newer_version_replaces() -> None:
    one = event("UID:1", "SUMMARY:Dentist", "DTSTART:20261201T100000")
    two = event("UID:1", "SUMMARY:Optician", "DTSTART:20261205T100000")
    assert starts(read(one, two)) == ["2026-12-01 10:00", "2026-12-05 10:00"]
    newer = event("UID:1", "SEQUENCE:1", "SUMMARY:Dentist", "DTSTART:20261205T100000")
    assert starts(read(one, newer)) == ["2026-12-05 10:00"]


def test_the_end_of_a_day_is_its_24th_hour() -> None:
    found = read(event("UID:1", "SUMMARY:x", "DTSTART:20261201T220000", "DTEND:20261201T240000"))
    assert only(found).time("end") == datetime(2026, 12, 2)


@pytest.mark.parametrize(
    ("rule", "days"),
    [
        ("W1 TU TH #3", ["01", "03", "08"]),
        ("D2 20261205T100000Z", ["01", "03", "05"]),
        ("MP1 1+ TU #1", ["01"]),
        ("MD1 1 #1", ["01"]),
        ("D1", ["01", "02"]),
        ("nonsense", ["01"]),
    ],
)
def test_rules_of_the_first_version_are_followed(rule: str, days: list[str]) -> None:
    found = read(
        event("UID:1", "SUMMARY:x", "DTSTART:20261201T100000Z", f"RRULE:{rule}"), head="X-A:b\n"
    )
    assert [one[8:10] for one in starts(found)] == days


def test_quoted_printable_of_the_first_version_is_read_over_its_soft_breaks() -> None:
    text = "SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Z=C3=A4hne =\nUID:no=0D=0Aline"
    found = only(read(event("UID:1", text, "DALARM:20261201T090000Z", "DTSTART:20261201T100000")))
    assert found.text("title") == "Zähne UID:no line"


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        ("Mitteleuropäische Zeit", 10),
        ("US-Eastern", 16),
        ("US/Eastern", 16),
        ("W. Europe", 10),
        ("AUS Eastern Standard Time", 0),
        ("/citadel.org/20210210_1/America/New_York", 16),
    ],
)
def test_zones_are_known_by_the_names_of_other_programs(zone: str, hour: int) -> None:
    found = read(event("UID:1", "SUMMARY:x", f"DTSTART;TZID={zone}:20261201T100000"))
    assert (only(found).time("start") or NOW).hour == hour
    assert found.left_out == []


def test_times_of_a_series_without_a_zone_are_in_that_of_its_first() -> None:
    york = ("UID:y", "DTSTART;TZID=America/New_York:20261201T100000", "RRULE:FREQ=DAILY;COUNT=4")
    moved = event(
        "UID:y",
        "SUMMARY:Moved",
        "RECURRENCE-ID:20261202T100000",
        "DTSTART;TZID=America/New_York:20261202T150000",
    )
    found = read(event(*york, "SUMMARY:Call", "EXDATE:20261203T100000"), moved)
    assert sorted(starts(found)) == ["2026-12-01 16:00", "2026-12-02 21:00", "2026-12-04 16:00"]


@pytest.mark.parametrize(
    ("start", "rule", "days"),
    [
        ("DTSTART:20261201T100000", "FREQ=DAILY;INTERVAL=2", ["02", "04"]),
        ("DTSTART;VALUE=DATE:20261201", "FREQ=WEEKLY;BYDAY=WE", ["01", "03", "04"]),
    ],
)
def test_a_rule_may_take_occurrences_out(start: str, rule: str, days: list[str]) -> None:
    lines = ("UID:1", "SUMMARY:x", start, "RRULE:FREQ=DAILY;COUNT=4", f"EXRULE:{rule}")
    assert [one[8:10] for one in starts(read(event(*lines)))] == days
