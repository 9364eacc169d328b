"""Times of mails, as they are written, on the person's clock."""

from datetime import datetime
from io import BytesIO
from zoneinfo import ZoneInfo

import pytest

from ctrag.assistant.imports.found import Owner
from ctrag.assistant.imports.mail.dates import read_time
from ctrag.assistant.imports.mails import mails_in, read_mail
from stores.people.items import Item
from tests.assistant.imports.mail.conftest import NORA, letter, read_all

OSLO = ZoneInfo("Europe/Oslo")


@pytest.mark.parametrize(
    ("said", "hour"),
    [
        ("Tue, 24 Nov 2026 18:30:00 +0100", 18),
        ("Di, 24 Nov 2026 18:30:00 +0100", 18),
        ("Di., 24. Nov. 2026 18:30:00 MEZ", 18),
        ("mar., 24 nov. 2026 18:30:00 +0100", 18),
        ("2026-11-24 18:30:00", 18),
        ("2026-11-24T18:30:00Z", 19),
        ("2026-11-24 18:30:00 +0100", 18),
        ("Tue Nov 24 18:30:00 CET 2026", 18),
        ("Tue, 24 Nov 2026 09:30:00 -0800 (Pacific Standard Time)", 18),
        ("Tue, 24 Nov 2026 09:30:00 PST", 18),
        ("24 Nov 26 17:30 GMT", 18),
        ("Tue, 24 Nov 2026 17:30:00 UT", 18),
        ("Tue, 24 Nov 2026 18:30:00 GMT+0100", 18),
        ("Tue Nov 24 2026 18:30:00 GMT+0100 (CET)", 18),
        ("Tue, 24 Nov 2026 18:30:00 +01:00", 18),
        ("Tue, 24 Nov 2026 17:30:00 -0000", 18),
        ("Tue,24 Nov 2026 18:30:00+0100", 18),
        ("Tue, 24 Nov 2026 18.30.00 +0100", 18),
        ("Tue, 24 Nov 2026 18:30:60 +0100", 18),
        ("Tue, 24 Nov 126 18:30:00 +0100", 18),
        ("Tuesday, November 24, 2026 6:30 PM", 18),
        ("11/24/2026 6:30 PM", 18),
        ("Tue, 24 Nov 2026 18:30:00", 18),
        ("=?utf-8?q?Tue,_24_Nov_2026_18:30:00_+0100?=", 18),
        ("1795541400", 18),
    ],
)
def test_a_time_is_read_however_it_is_written(said: str, hour: int) -> None:
    assert read_time(said, OSLO) == datetime(2026, 11, 24, hour, 30)


@pytest.mark.parametrize(
    ("said", "month"), [("24. Dezember 2026 18:30", 12), ("24 mai 2026 18:30", 5)]
)
def test_months_are_known_in_other_languages(said: str, month: int) -> None:
    assert read_time(said, OSLO) == datetime(2026, month, 24, 18, 30)


@pytest.mark.parametrize(
    "said",
    [
        *("", "soon", "1", "9" * 5000, "Tue, 24 Nov 99999 18:30:00 +0000", "(" * 5000),
        *("Tue, 24 Nov 2026 99:99:99 +0000", "Tue, 1 Jan 0001 00:00:00 +1400", "November"),
        "Fri, 31 Dec 9999 23:59:00 -2300",
    ],
)
def test_what_is_no_time_is_none(said: str) -> None:
    assert read_time(said, OSLO) is None


def test_the_persons_zone_decides_what_the_clock_shows() -> None:
    tokyo = Owner("nora", ZoneInfo("Asia/Tokyo"), NORA.now)
    [mail] = read_mail(letter().encode(), tokyo).items
    assert mail.time("received_at") == datetime(2026, 11, 25, 2, 30)


RECEIVED = "from a by b; Mon, 23 Nov 2026 10:00:00 +0100"


@pytest.mark.parametrize("date", [None, "soon", "Thu, 1 Jan 1970 00:00:00 +0000"])
def test_without_a_date_the_time_of_arrival_counts(date: str | None) -> None:
    [mail], left = read_all(letter(Date=date, received=RECEIVED).encode(), "a.eml")
    assert mail.time("received_at") == datetime(2026, 11, 23, 10, 0)
    assert left == []


def test_without_any_header_the_line_before_the_mail_counts() -> None:
    data = b"From pia@example.org Sun Nov 22 07:05:00 2026\n" + letter(Date=None).encode()
    [mail], _ = read_all(data)
    assert mail.time("received_at") == datetime(2026, 11, 22, 7, 5)


def test_a_mail_that_says_no_time_is_left_out_and_named() -> None:
    assert read_mail(letter(Date=None).encode(), NORA).items == []
    [left] = read_mail(letter(Date=None).encode(), NORA).left_out
    assert (left.kind, left.what, left.lost) == ("mail", "Quay", True)
    assert "when it was sent" in left.why


def test_the_time_of_its_file_is_better_than_none_and_is_said() -> None:
    found = read_mail(letter(Date=None).encode(), NORA, kept=datetime(2026, 11, 1, 9, 0))
    assert found.items[0].time("received_at") == datetime(2026, 11, 1, 9, 0)
    [left] = found.left_out
    assert not left.lost
    assert "the time of its file is stored" in left.why


@pytest.mark.parametrize(
    "said",
    [
        "mardi 24 novembre 2026 18:30",
        "martes, 24 de noviembre de 2026 18:30",
        "二, 24 11月 2026 18:30:00 +0100",
        "2026-11-24 18:30",
    ],
)
def test_a_weekday_that_looks_like_a_month_is_none(said: str) -> None:
    assert read_time(said, NORA.zone) == datetime(2026, 11, 24, 18, 30)


def test_a_mail_without_a_date_has_that_of_the_mail_before_it_or_of_its_file() -> None:
    undated = letter("Bring rope.", Date=None, message_id="<2@x>")
    data = f"From x\n{letter()}\n\nFrom x\n{undated}\n".encode()
    (first, second), [left] = read_all(data)
    assert second.time("received_at") == first.time("received_at")
    assert "the time of the mail before it is stored" in left.why
    changed = datetime(2026, 11, 2, 8, 0)
    found = [*mails_in(BytesIO(undated.encode()), NORA, name="a.eml", changed=changed)]
    assert [one.time("received_at") for one in found if isinstance(one, Item)] == [changed]
