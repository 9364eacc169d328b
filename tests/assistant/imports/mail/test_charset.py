"""Bytes become the text that was meant, whatever charset they are said to have."""

import pytest

from ctrag.assistant.imports.mail.charset import decoded

LONG_RUSSIAN = "Привет! Мы встречаемся завтра вечером у старой пристани, возьми с собой зонт."


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (b"It\x92s \x80 40 \x96 bring it", "iso-8859-1", "It’s € 40 – bring it"),
        (b"It\x92s", "us-ascii", "It’s"),
        ("Kjære".encode(), "iso-8859-1", "Kjære"),
        ("Kjære".encode("latin-1"), "utf-8", "Kjære"),
        ("Kjære".encode("latin-1"), None, "Kjære"),
        ("Kjære".encode(), "unknown-8bit", "Kjære"),
        ("Привет".encode("koi8-r"), "KOI8-R", "Привет"),
        (LONG_RUSSIAN.encode("cp1251"), "x-unknown", LONG_RUSSIAN),
        ("你好㐀".encode("gb18030"), "gb2312", "你好㐀"),
        ("①".encode("cp932"), "shift_jis", "①"),
        ("日本".encode("iso-2022-jp"), "iso-2022-jp", "日本"),
        (b"at nine", "utf-16", "at nine"),
        ("at nine".encode("utf-16"), "utf-16", "at nine"),
        (b"\xef\xbb\xbfat nine", "iso-8859-1", "at nine"),
        (b"Zo\xc3\xab at the qua\xc3", "utf-8", "Zoë at the qua\ufffd"),
        (b"a\x00b\x1b[2Jc", "utf-8", "ab[2Jc"),
    ],
)
def test_text_is_what_the_sender_meant(data: bytes, charset: str | None, text: str) -> None:
    assert decoded(data, charset) == text


@pytest.mark.parametrize(
    "charset",
    [
        *("undefined", "unicode_escape", "raw_unicode_escape", "idna", "punycode", "charmap"),
        *("hex", "rot13", "zlib", "base64", "mbcs", "unicode_internal", "utf-8;DROP", "..", "os"),
        *("a\0b", "x" * 5000, "", "'utf-8'", "utf8mb4"),
    ],
)
def test_what_is_no_charset_costs_no_word(charset: str) -> None:
    assert decoded(b"\\ud800 at \xc3\xb8vre kai", charset) == "\\ud800 at øvre kai"


def test_half_a_character_is_replaced_and_can_be_stored() -> None:
    assert decoded(b"+2AA-!", "utf-7").encode() == "\ufffd!".encode()
