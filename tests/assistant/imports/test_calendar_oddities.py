"""Calendars of programs that read the standard in their own way: what is meant is stored."""

from collections.abc import Callable
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.found import Owner
from ctrag.assistant.imports.kinds import kind_of
from tests.assistant.imports.test_calendars import BERLIN, calendar, event, only, read, starts

NOON = "DTSTART:20261201T110000Z"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=HOURLY;INTERVAL=24;COUNT=2", ["2026-12-01 12:00", "2026-12-02 12:00"]),
        ("FREQ=MINUTELY;INTERVAL=1440;COUNT=2", ["2026-12-01 12:00", "2026-12-02 12:00"]),
        (
            "FREQ=HOURLY;INTERVAL=8;COUNT=3",
            ["2026-12-01 12:00", "2026-12-01 20:00", "2026-12-02 04:00"],
        ),
        ("FREQ=HOURLY;COUNT=2", ["2026-12-01 12:00", "2026-12-01 13:00"]),
        ("RRULE:FREQ=DAILY;COUNT=2", ["2026-12-01 12:00", "2026-12-02 12:00"]),
    ],
)
def test_rules_of_hours_are_followed_where_they_can_be_listed(
    rule: str, expected: list[str]
) -> None:
    found = read(event("UID:pills", "SUMMARY:Pills", NOON, f"RRULE:{rule}"))
    assert (starts(found), found.left_out) == (expected, [])


@pytest.mark.parametrize("rule", ["FREQ=HOURLY", "FREQ=MINUTELY;INTERVAL=7", "FREQ=SECONDLY"])
def test_a_rule_that_repeats_too_often_keeps_its_first_time_and_says_so(rule: str) -> None:
    found = read(event("UID:beat", "SUMMARY:Beat", NOON, f"RRULE:{rule}"))
    assert starts(found) == ["2026-12-01 12:00"]
    assert "too often" in found.left_out[0].why


@pytest.mark.parametrize("method", ["COUNTER", "REFRESH", "DECLINECOUNTER", "REPLY"])
def test_an_answer_to_an_invitation_is_no_event(method: str) -> None:
    found = read(event("UID:roof", "SUMMARY:Roof", NOON), head=f"METHOD:{method}\n")
    assert (found.items, [one.on_purpose for one in found.left_out]) == ([], [True])
    answer = event("UID:roof", "SUMMARY:Roof", "DTSTART:20261202T110000Z", f"METHOD:{method}")
    both = read(event("UID:roof", "SUMMARY:Roof", NOON), answer)
    assert (starts(both), len(both.left_out)) == (["2026-12-01 12:00"], 1)


@pytest.mark.parametrize(
    "lines",
    [
        ("DTSTART;VALUE=DATE:20261201T000000",),
        (
            "DTSTART;TZID=Eastern Standard Time:20261201T000000",
            "DTEND;TZID=Eastern Standard Time:20261202T000000",
            "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE",
        ),
        ("DTSTART:20261130T230000Z", "DTEND:20261201T230000Z", "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE"),
    ],
)
def test_a_whole_day_is_that_day_in_every_zone(lines: tuple[str, ...]) -> None:
    item = only(read(event("UID:fair", "SUMMARY:Fair", *lines)))
    assert [f"{item.time(name):%m-%d %H:%M}" for name in ("start", "end")] == [
        "12-01 00:00",
        "12-02 00:00",
    ]


def test_a_time_that_the_clock_leaves_out_is_the_one_that_it_shows_then() -> None:
    item = only(
        read(event("UID:gap", "DTSTART;TZID=Europe/Berlin:20270328T023000", "DURATION:PT1H"))
    )
    assert [f"{item.time(name):%H:%M}" for name in ("start", "end")] == ["03:30", "04:30"]


def test_a_changed_occurrence_without_a_start_is_where_it_would_have_been() -> None:
    master = event("UID:run", "SUMMARY:Run", NOON, "RRULE:FREQ=DAILY;COUNT=2")
    changed = event("UID:run", "SUMMARY:Long run", "RECURRENCE-ID:20261202T110000Z")
    found = read(master, changed)
    assert {one.text("title"): f"{one.time('start'):%d}" for one in found.items} == {
        "Run": "01",
        "Long run": "02",
    }


def test_two_series_of_one_identity_both_stay() -> None:
    first = event("UID:same", "SUMMARY:Choir", NOON, "RRULE:FREQ=WEEKLY;COUNT=2")
    second = event(
        "UID:same", "SUMMARY:Band", "DTSTART:20261203T110000Z", "RRULE:FREQ=WEEKLY;COUNT=2"
    )
    titles = sorted(one.text("title") for one in read(first, second).items)
    assert titles == ["Band", "Band", "Choir", "Choir"]


def test_an_end_that_is_no_day_is_said() -> None:
    found = read(event("UID:e", "SUMMARY:Fitting", NOON, "DTEND:20261131T110000Z"))
    assert f"{only(found).time('end'):%d %H:%M}" == "01 13:00"
    assert [(one.lost, "end is left out" in one.why) for one in found.left_out] == [(False, True)]


def test_what_a_to_do_or_a_journal_says_without_a_title_is_kept() -> None:
    todo = event("UID:t", "DESCRIPTION:Return the drill\\nto Bo", kind="VTODO")
    journal = event("UID:j", "SUMMARY:Log", "DESCRIPTION:Fog", "DESCRIPTION:Sun", kind="VJOURNAL")
    found = read(todo, journal)
    assert [one.text("title") for one in found.items] == ["Return the drill", "Log"]
    assert found.items[1].text("body") == "Fog\nSun"
    assert [one.why for one in found.left_out] == ["reminders have no notes: these are not kept"]


def test_links_in_markup_and_apples_places_are_kept() -> None:
    place = 'X-APPLE-STRUCTURED-LOCATION;X-ADDRESS="Kai 1\\n5003 Bergen";X-TITLE="Cafe":geo:1,2'
    notes = 'DESCRIPTION:<p>Call <a href="https://meet.example/7">here</a></p>'
    item = only(read(event("UID:c", "SUMMARY:<b>Call</b>", NOON, notes, place)))
    assert (item.text("title"), item.text("location")) == ("Call", "Cafe, Kai 1, 5003 Bergen")
    assert item.text("notes") == "Call here <https://meet.example/7>"


def test_spaces_before_colons_and_old_line_ends_are_read() -> None:
    data = calendar(event("UID :s", "SUMMARY :Spaced", "DTSTART : 20261201T110000Z"))
    for lines in (data, data.replace(b"\r\n", b"\r")):
        assert only(read_calendar(lines, BERLIN)).text("title") == "Spaced"


def test_a_zone_with_its_short_name_behind_it_is_that_zone() -> None:
    found = read(event("UID:z", "SUMMARY:Z", "DTSTART;TZID=Asia/Tokyo (JST):20261201T120000"))
    assert (starts(found), found.left_out) == (["2026-12-01 04:00"], [])


def test_an_event_without_a_calendar_around_it_is_read() -> None:
    alone = event("UID:fair", "SUMMARY:Fair", NOON).encode()
    assert kind_of(alone, "fair.ics") == "calendar"
    assert starts(read_calendar(alone, BERLIN)) == ["2026-12-01 12:00"]


@pytest.mark.parametrize("end", ["20261201", "20261130"])
def test_a_whole_day_that_ends_when_it_begins_lasts_a_day(end: str) -> None:
    lines = ("DTSTART;VALUE=DATE:20261201", f"DTEND;VALUE=DATE:{end}")
    item = only(read(event("UID:fair", "SUMMARY:Fair", *lines)))
    assert f"{item.time('start'):%d %H} {item.time('end'):%d %H}" == "01 00 02 00"


@pytest.mark.parametrize("length", ["-PT1H", "1H"])
def test_a_length_that_is_none_is_said(length: str) -> None:
    found = read(event("UID:fair", "SUMMARY:Fair", NOON, f"DURATION:{length}"))
    assert [(one.lost, length in one.why) for one in found.left_out] == [(False, True)]
    assert f"{only(found).time('end'):%H:%M}" == "13:00"


def test_an_organiser_without_a_name_and_an_address_is_nobody() -> None:
    item = only(read(event("UID:fair", "SUMMARY:Fair", NOON, "ORGANIZER;CN=:mailto")))
    assert item.fields["attendees"] == ()


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        ("GMT -0500 (Standard) / GMT -0400 (Daylight)", 18),
        ("Western/Central Europe", 12),
        ("大阪、札幌、東京", 5),
        ("Mexico Standard Time", 20),
    ],
)
def test_zones_of_lotus_groupwise_and_older_windows_are_known(zone: str, hour: int) -> None:
    found = read(event("UID:fair", "SUMMARY:Fair", f'DTSTART;TZID="{zone}":20260701T120000'))
    assert (starts(found), found.left_out) == ([f"2026-07-01 {hour:02d}:00"], [])


PLANTS = ("UID:plants", "SUMMARY:Water plants")
WEEKLY = (*PLANTS, "DTSTART:20261101T080000Z", "DUE:20261101T090000Z", "RRULE:FREQ=WEEKLY")


def dues(*components: tuple[str, ...]) -> list[tuple[str, bool]]:
    items = read(*(event(*lines, kind="VTODO") for lines in components)).items
    return sorted((f"{one.time('due'):%m-%d %H:%M}", one.flag("done")) for one in items)


@pytest.mark.parametrize(
    "ticked",
    [
        ("RECURRENCE-ID:20261129T080000Z", "DUE:20261129T090000Z"),
        ("DTSTART:20261129T080000Z", "DUE:20261129T090000Z"),
        ("DUE:20261129T090000Z",),
    ],
)
def test_a_ticked_time_of_a_to_do_leaves_the_next_one_open(ticked: tuple[str, ...]) -> None:
    done = (*PLANTS, *ticked, "STATUS:COMPLETED", "SEQUENCE:3")
    expected = [("11-29 10:00", True), ("12-06 10:00", False)]
    assert dues(WEEKLY, done) == dues(done, WEEKLY) == expected


def test_a_to_do_whose_times_are_all_ticked_is_done() -> None:
    twice = (*WEEKLY[:-1], "RRULE:FREQ=WEEKLY;COUNT=2")
    ticked = [
        (*PLANTS, f"RECURRENCE-ID:202611{day}T080000Z", f"DUE:202611{day}T090000Z", "COMPLETED:x")
        for day in ("01", "08")
    ]
    assert {done for _, done in dues(twice, *ticked)} == {True}


def test_events_of_one_identity_with_neither_title_nor_start_in_common_all_stay() -> None:
    days = [
        event("UID:event@school", f"SUMMARY:{title}", f"DTSTART:{day}", f"DTSTAMP:{stamp}")
        for title, day, stamp in (
            ("Fair", "20261201", "20261101T100000Z"),
            ("Concert", "20261205", "20261102T100000Z"),
        )
    ]
    assert starts(read(*days)) == ["2026-12-01 00:00", "2026-12-05 00:00"]
    ids = [one.id for one in read(*days).items]
    assert [one.id for one in read(*reversed(days)).items] == ids
    moved = event("UID:event@school", "SUMMARY:Fair", "DTSTART:20261202", "DTSTAMP:20261103T1000Z")
    found = read(days[0], moved)
    assert starts(found) == ["2026-12-02 00:00"]
    assert [(one.what, one.on_purpose) for one in found.left_out] == [("Fair", True)]


DAY = "DTSTART;VALUE=DATE:20261130"
NEW_YORK = replace(BERLIN, zone=ZoneInfo("America/New_York"))


@pytest.mark.parametrize(
    ("owner", "line", "days"),
    [
        (BERLIN, "EXDATE:20261130T230000Z", ["30", "02"]),  # midnight in Berlin
        (BERLIN, "EXDATE:20261201T000000Z", ["30", "02"]),
        (NEW_YORK, "EXDATE:20261201T050000Z", ["30", "02"]),
        (NEW_YORK, "EXDATE:20261201T000000Z", ["30", "02"]),
        (NEW_YORK, "EXDATE;TZID=Asia/Tokyo:20261201T000000", ["30", "02"]),
        (BERLIN, "RDATE:20261204T230000Z", ["30", "01", "02", "05"]),
    ],
)
def test_a_day_of_a_series_of_days_is_meant_however_it_is_written(
    owner: Owner, line: str, days: list[str]
) -> None:
    rule = "RRULE:FREQ=DAILY;COUNT=3"
    found = read(event("UID:f", "SUMMARY:Fair", DAY, rule, line), owner=owner)
    assert [one[8:10] for one in starts(found)] == days


@pytest.mark.parametrize("owner", [BERLIN, NEW_YORK])
@pytest.mark.parametrize("until", ["20261203", "20261203T000000Z", "20261203T045959Z"])
def test_a_series_of_days_ends_on_the_day_that_is_meant(owner: Owner, until: str) -> None:
    day = 2 if owner is NEW_YORK and until.endswith("45959Z") else 3
    rule = f"RRULE:FREQ=DAILY;UNTIL={until}"
    found = read(event("UID:f", "SUMMARY:Fair", DAY, rule), owner=owner)
    assert starts(found)[-1] == f"2026-12-0{day} 00:00"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("https://x.example/?room=1&region=eu&copy=3&lt;=4", None),
        ("R&D &section plan", None),
        ("Tom &amp; Ida &#8211; caf&eacute;", "Tom & Ida – café"),
    ],
)
def test_entities_are_decoded_and_what_only_looks_like_one_stays(
    written: str, meant: str | None
) -> None:
    item = only(read(event("UID:e", f"SUMMARY:{written}", f"LOCATION:{written}", NOON)))
    assert (item.text("title"), item.text("location")) == (meant or written, meant or written)


def test_a_calendar_a_room_and_an_unknown_organiser_are_no_people() -> None:
    found = read(
        event(
            "UID:s",
            "SUMMARY:Swim",
            NOON,
            "ORGANIZER;CN=Family:mailto:abc@group.calendar.google.com",
            "ATTENDEE;CN=Unknown Organizer:mailto:unknownorganizer@calendar.google.com",
            "ATTENDEE;CN=Hall:mailto:x.example_1@resource.calendar.google.com",
            "ATTENDEE;CN=Feast days:mailto:en.no#holiday@group.v.calendar.google.com",
            "ATTENDEE;CUTYPE=ROOM;CN=Room 5:mailto:room5@x.example",
            "ATTENDEE;CN=Quist\\, Ida:mailto:ida@calendar.example",
        )
    )
    assert only(found).fields["attendees"] == ("Ida Quist",)


LABELLED = ("DESCRIPTION:Meeting about", "Location: see below", "Status: cancelled", "Contact: Jim")


def test_labels_in_a_text_that_was_never_folded_are_no_properties() -> None:
    item = only(read(event("UID:m", "SUMMARY:Talk", NOON, *LABELLED, "LOCATION:Room 5")))
    assert item.text("location") == "Room 5"
    notes = "Meeting about\nLocation: see below\nStatus: cancelled\nContact: Jim"
    assert item.text("notes").startswith(notes)


@pytest.mark.parametrize("written", [str.lower, str.title])
def test_a_file_may_write_its_names_in_small_letters(written: Callable[[str], str]) -> None:
    lines = [
        f"{written(name)}:{value}"
        for name, value in (
            ("BEGIN", "VEVENT"),
            ("UID", "m"),
            ("DESCRIPTION", "Bring\nboots"),
            ("SUMMARY", "Walk"),
            ("DTSTART", "20261201T110000Z"),
            ("END", "VEVENT"),
        )
    ]
    item = only(read("\n".join(lines)))
    assert (item.text("title"), item.text("notes")) == ("Walk", "Bring\nboots")


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("CONFERENCE;VALUE=URI;FEATURE=VIDEO:https://x.example/call", "https://x.example/call"),
        ("LOCATION:Zoom <https://x.example/j/123>", "https://x.example/j/123"),
        ("ATTACH;FILENAME=Agenda.pdf:https://x.example/1", "Agenda.pdf: https://x.example/1"),
        ("CONTACT:Jim 555-123", "Contact: Jim 555-123"),
        ("COMMENT:Bring a card", "Bring a card"),
    ],
)
def test_links_attachments_and_whom_to_ask_are_kept_in_the_notes(line: str, kept: str) -> None:
    item = only(read(event("UID:t", "SUMMARY:Talk", NOON, line)))
    assert item.text("notes") == kept
    said = only(read(event("UID:t", "SUMMARY:Talk", NOON, line, f"DESCRIPTION:Agenda: {kept}")))
    assert said.text("notes") == f"Agenda: {kept}"
    assert item.text("location") in ("", "Zoom")


def test_a_file_inside_of_an_event_is_said_not_to_be_kept() -> None:
    inside = "ATTACH;ENCODING=BASE64;VALUE=BINARY:aGVsbG8="
    found = read(event("UID:t", "SUMMARY:Talk", NOON, inside))
    assert only(found).text("notes") == ""
    assert [(one.why, one.lost) for one in found.left_out] == [
        ("files inside of it are not kept", False)
    ]


def test_an_event_is_cancelled_by_a_method_of_its_own() -> None:
    assert read(event("UID:t", "SUMMARY:Talk", NOON, "METHOD:CANCEL")).items == []


def test_a_sequence_may_be_a_moment_in_seconds() -> None:
    old, new = (
        event("UID:t", f"SUMMARY:{title}", f"SEQUENCE:179500000{number}", NOON)
        for number, title in enumerate(("Old", "New"))
    )
    assert only(read(new, old)).text("title") == "New"


@pytest.mark.parametrize("again", ["RECURRENCE-ID:20261201T110000Z", "RECURRENCE-ID:20261201"])
def test_an_event_that_does_not_repeat_is_what_its_only_occurrence_was_changed_to(
    again: str,
) -> None:
    later = "DTSTART:20261201T150000Z"
    found = read(event("UID:t", "SUMMARY:Talk", NOON), event("UID:t", "SUMMARY:Talk", again, later))
    assert starts(found) == ["2026-12-01 16:00"]
    assert [one.on_purpose for one in found.left_out] == [True]


def test_an_end_before_the_start_is_said() -> None:
    night = ("DTSTART:20261201T233000", "DTEND:20261201T003000")
    found = read(event("UID:t", "SUMMARY:Party", *night))
    assert [(one.why, one.lost) for one in found.left_out] == [
        ("its end is left out: it ends before it begins", False)
    ]
