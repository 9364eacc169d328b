"""An mbox file divides into its mails where they were joined, and nowhere else."""

import base64
import io
import tracemalloc

import pytest

from ctrag.assistant.imports.mail.mbox import is_separator, messages
from tests.assistant.imports.mail.conftest import SEPARATOR, as_bytes, letter, mbox, read_all


def bodies(data: bytes) -> list[str]:
    return [mail.text("body") for mail in read_all(data)[0]]


def test_a_line_of_the_text_that_begins_with_from_is_text() -> None:
    text = "Hi,\n\nFrom the market we need quinces.\nFrom all of us\n\nFrom Pia"
    assert bodies(mbox(letter(text), letter("second"))) == [text, "second"]


@pytest.mark.parametrize(
    "line",
    [
        "From pia@example.org Tue Nov 24 18:30:00 2026",  # not after an empty line
        "\nFrom pia@example.org Tue Nov 24 18:30:00 2026 was the date",
        "\nFrom Pia Moe on Tue Nov 24 18:30:00 2026",
        "\nFrom pia@example.org Tue Nov 24 18:30:00 2026\nand no header follows",
        "\nFrom Monday on: we meet at nine",
    ],
)
def test_a_line_that_only_looks_like_a_separator_is_text(line: str) -> None:
    assert bodies(mbox(letter(f"one\n{line}\ntwo"))) == [f"one\n{line}\ntwo"]


@pytest.mark.parametrize(
    "line",
    [
        "From - Tue Nov 24 18:30:00 2026",
        "From MAILER-DAEMON Tue Nov  4 18:30:00 2026",
        "From 1234567890@xxx Tue Nov 24 18:30:00 +0000 2026",
        "From ???@??? Tue Nov 24 18:30:00 2026",
        "From pia@example.org Tue Nov 24 18:30 CET 2026",
        "From pia@example.org  Tue, 24 Nov 2026 18:30:00 +0100",
        "From pia@example.org 2026-11-24T18:30:00+01:00",
        'From "Pia Moe"@example.org Tue Nov 24 18:30:00 2026',
        "From pia Tue Nov 24 18:30:00 2026 remote from quay",
    ],
)
def test_separators_of_all_programs_divide(line: str) -> None:
    assert is_separator(as_bytes(line + "\n"))
    assert bodies(as_bytes(f"{line}\n{letter('one')}\n\n{line}\n{letter('two')}\n")) == [
        "one",
        "two",
    ]


def test_a_mailbox_whose_separators_have_no_date_divides_too() -> None:
    data = as_bytes(f"From pia\n{letter('one')}\n\nFrom pia\n{letter('two')}\n")
    assert bodies(data) == ["one", "two"]


def test_escaped_lines_lose_one_sign_of_their_escape() -> None:
    assert bodies(mbox(letter("a\n>From here\n>>From there\n> From\n>Frommage"))) == [
        "a\nFrom here\n>From there\n> From\n>Frommage"
    ]


def with_length(text: str, length: int | None = None) -> str:
    return letter(text, content_length=str(len(text) if length is None else length))


FORGED = f"one\n\n{SEPARATOR}Subject: forged\nFrom: boss@example.org\n\nPay at once."


def test_a_mail_inside_of_a_mail_is_text_where_the_length_says_so() -> None:
    assert bodies(mbox(with_length(FORGED), letter("two"))) == [FORGED, "two"]
    assert bodies(mbox(letter("zero"), with_length(FORGED))) == ["zero", FORGED]


@pytest.mark.parametrize("length", [0, 1, 10, 10**6, 10**11])
def test_a_wrong_length_neither_joins_nor_cuts_mails(length: int) -> None:
    assert bodies(mbox(with_length("one", length), letter("two"), letter("three"))) == [
        "one",
        "two",
        "three",
    ]


def test_what_comes_before_the_first_header_of_a_mail_is_no_mail() -> None:
    assert list(messages(io.BytesIO(b"hello\n\n" + mbox(letter())))) == []
    assert bodies(b"\xef\xbb\xbf\n\n" + mbox(letter("one"))) == ["one"]


@pytest.mark.parametrize("ends", [b"\r\n", b"\r"])
def test_mailboxes_of_other_machines_divide_alike(ends: bytes) -> None:
    assert bodies(mbox(letter("one"), letter("two")).replace(b"\n", ends)) == ["one", "two"]


def test_a_large_attachment_takes_little_memory_and_the_text_around_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("_PLENTY", "_BEGINNING", "_CHUNK"):
        monkeypatch.setattr(f"ctrag.assistant.imports.mail.mbox.{name}", 20_000)
    film = base64.encodebytes(bytes(2_000_000)).decode()
    message = letter(
        f"--b\n\nBefore.\n--b\nContent-Type: video/mp4; name=film.mp4\n"
        f"Content-Transfer-Encoding: base64\n\n{film}--b\n\nAfter.\n--b--\n",
        content_type="multipart/mixed; boundary=b",
    )
    data = mbox(message, letter("second"))
    del film, message
    tracemalloc.start()
    found = bodies(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == ["Before.\n\nAfter.\n\nAttachments: film.mp4", "second"]
    assert peak < 1_000_000


def test_a_mail_of_endless_text_is_read_in_part_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ctrag.assistant.imports.mail.mbox._PLENTY", 10_000)
    monkeypatch.setattr("ctrag.assistant.imports.mail.mbox.LARGEST", 100_000)
    [mail], left = read_all(mbox(letter("some words, not a film\n" * 10_000)))
    assert mail.text("body").startswith("some words")
    assert "only its first 8 MB were read" in [one.why for one in left]


def test_mails_are_given_before_the_file_is_read_to_its_end() -> None:
    class Watched(io.BytesIO):
        taken = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            self.taken += len(data)
            return data

    file = Watched(mbox(*[letter("x" * 1_000)] * 5_000))
    next(messages(file))
    assert file.taken < 2_000_000


def test_a_mail_whose_last_line_is_not_ended_by_an_empty_one_ends_before_the_next() -> None:
    line = SEPARATOR.strip()
    joined = f"{line}\n{letter('one').rstrip()}\n{line}\n{letter('two')}\n"
    assert bodies(joined.encode()) == ["one", "two"]
    quoted = f"one\n{line}\nNote: the ferry is late"
    assert bodies(mbox(letter(quoted))) == [quoted]


def test_a_mailbox_whose_separators_are_of_no_known_form_divides_before_headers_of_mails() -> None:
    line = "From Pia Moe on the 24th of November\n"
    text = "".join(f"{line}{letter(body, subject=body)}\n\n" for body in ("one", "two"))
    items, left = read_all(as_bytes(text))
    assert ([one.text("subject") for one in items], left) == (["one", "two"], [])


def test_mails_between_lines_of_control_signs_are_divided_there() -> None:
    line = "\x01\x01\x01\x01\n"
    text = "".join(
        f"{line}{letter(f'From {body} on', subject=body)}\n{line}" for body in ("one", "two")
    )
    items, left = read_all(as_bytes(text), "post.mmdf")
    assert ([one.text("body") for one in items], left) == (["From one on", "From two on"], [])


@pytest.mark.parametrize(
    "line",
    [
        "From - Di Nov 24 18:30:00 2026\n",
        "From - mar. nov. 24 18:30:00 2026\n",
        'From "Pia Moe" <pia@example.org> Tue Nov 24 18:30:00 2026\n',
        "From pia at example.org Tue Nov 24 18:30:00 2026\n",
    ],
)
def test_separators_in_other_languages_and_with_names_divide(line: str) -> None:
    assert is_separator(line.encode())
