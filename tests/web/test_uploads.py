"""What a browser calls a file, and numbers of forms."""

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("starlette", reason="needs the extra web")

from starlette.requests import Request

from ctrag.errors import InputError
from ctrag.web.own_pages import _plain_name, _room_for
from ctrag.web.pages import whole


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("calendar.ics", "calendar.ics"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\notes.zip", "notes.zip"),
        ("C:mail.mbox", "mail.mbox"),
        ("..", "file"),
        (".\0.", "file"),
        ("\0", "file"),
        ("\ud800.ics", "?.ics"),
    ],
)
def test_a_file_keeps_the_last_part_of_its_name(given: str, kept: str) -> None:
    assert _plain_name(given) == kept


def test_a_long_name_in_any_script_fits_a_disk_and_keeps_its_suffix(tmp_path: Path) -> None:
    name = _plain_name("日本語の予定表" * 20 + ".ics")
    assert name.endswith("予定表.ics")
    (tmp_path / name).write_bytes(b"")


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    left = SimpleNamespace(free=2_500_000_000)
    monkeypatch.setattr("ctrag.web.own_pages.shutil.disk_usage", lambda folder: left)


@pytest.mark.parametrize(
    ("length", "why"),
    [("1200000000", r"1\.2 GB do not fit"), ("", "said beforehand"), ("9" * 5000, "beforehand")],
)
@pytest.mark.usefixtures("full")
def test_files_that_would_fill_the_disk_are_refused(length: str, why: str) -> None:
    with pytest.raises(InputError, match=f"files: .*{why}"):
        _room_for(_sent(length), Path())


@pytest.mark.usefixtures("full")
def test_files_that_fit_are_taken() -> None:
    _room_for(_sent("900000000"), Path())


def _sent(length: str) -> Request:
    return Request({"type": "http", "headers": [(b"content-length", length.encode())]})


@pytest.mark.parametrize(("text", "number"), [("12", 12), ("", 0), ("-1", 0), ("²", 0)])
def test_a_number_of_a_form_is_read(text: str, number: int) -> None:
    assert whole(text) == number


def test_a_number_without_end_is_none() -> None:
    assert whole("9" * 5000) == 0
