"""Headers are taken apart before their words are decoded."""

import pytest

from ctrag.assistant.imports.mail.headers import decoded_words, parse_headers, people
from tests.assistant.imports.mail.conftest import letter, read


def named(value: str | bytes) -> list[tuple[str, str]]:
    data = value if isinstance(value, bytes) else value.encode()
    headers, _ = parse_headers(b"From: " + data)
    return [(one.name, one.address) for one in people(headers, "from")]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("=?utf-8?Q?L=C3=B8ken=2C_Siri?= <s@example.org>", "Løken, Siri"),
        ("=?utf-8?Q?Løken,_Siri?= <s@example.org>", "Løken, Siri"),
        ('"=?utf-8?Q?L=C3=B8ken?=, Siri" <s@example.org>', "Løken, Siri"),
        ("=?utf-8?B?TMO4a2VuLCBTaXJp?= <s@example.org>", "Løken, Siri"),
        ("=?utf-8?B?TMO4a2VuLCBTaXJ?= <s@example.org>", "Løken, Sir"),
        ("Løken, Siri <s@example.org>", "Løken, Siri"),
        ('"Moe, Per (Ext)" <s@example.org>', "Moe, Per (Ext)"),
        ("s@example.org (Siri Moe)", "Siri Moe"),
        ("'Siri Moe' <s@example.org>", "Siri Moe"),
        ("Siri Moe <mailto:s@example.org>", "Siri Moe"),
        ("Siri Moe <s@example.org", "Siri Moe"),
        ('"Siri \\"Sis\\" Moe" <s@example.org>', 'Siri "Sis" Moe'),
        ("\"'Siri Moe' via Choir\" <s@example.org>", "'Siri Moe' via Choir"),
        ("=?koi8-r?B?6dfBzg==?= <s@example.org>", "Иван"),
        ("Løken <s@example.org>".encode("latin-1"), "Løken"),
        ("s@example.org <s@example.org>", "s@example.org"),
    ],
)
def test_a_person_keeps_their_whole_name(value: str | bytes, name: str) -> None:
    assert named(value) == [(name, "s@example.org")]


def test_a_list_of_people_is_each_of_them_once() -> None:
    value = 'Choir: a@x.no, "Moe, Per" <p@x.no>, Moe, Siri <s@x.no>, a@x.no; undisclosed:;'
    assert named(value) == [
        ("", "a@x.no"),
        ("Moe, Per", "p@x.no"),
        ("Moe, Siri", "s@x.no"),
    ]


@pytest.mark.parametrize("value", ["undisclosed-recipients:;", "<>", "", "@", ",,,"])
def test_nobody_is_nobody(value: str) -> None:
    assert named(value) == []


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("=?UTF-8?Q?K=C3?= =?UTF-8?Q?=A6re?= Ada", "Kære Ada"),
        ("=?utf-8?b?w4Y=?=\n =?utf-8?b?w5g=?=", "ÆØ"),
        ("a =?utf-8?q?b?= c", "a b c"),
        ("=?utf-8*nb?q?=C3=A6?=", "æ"),
        ("=?undefined?q?plain?=", "plain"),
        ("=?x?b?!!!?=", "=?x?b?!!!?="),
        ("=?gb2312?B?xOO6ww==?=", "你好"),
        ("2 =?= 3", "2 =?= 3"),
    ],
)
def test_encoded_words_are_decoded_where_they_can_be(raw: str, text: str) -> None:
    assert decoded_words(raw.replace("\n", "")) == text


@pytest.mark.parametrize("charset", ["iso-8859-1", "utf-8"])
def test_headers_of_raw_bytes_are_read(charset: str) -> None:
    message = letter("Hei på deg", From="Bjørn Åse <b@example.org>", subject="Møte på brygga")
    mail = read(message.encode(charset))
    assert (mail.text("sender"), mail.text("subject")) == ("Bjørn Åse", "Møte på brygga")


def test_the_charset_of_the_text_explains_raw_headers() -> None:
    message = letter("Привет", subject="Лодка", content_type="text/plain; charset=koi8-r")
    assert read(message.encode("koi8-r")).text("subject") == "Лодка"


def test_a_header_holds_no_second_one() -> None:
    hidden = "=?utf-8?q?Quay=0D=0ABcc:_eve@example.org?="
    for subject in (hidden, "Quay\rBcc: eve@example.org"):
        mail = read(letter(subject=subject))
        assert mail.text("subject") == "Quay Bcc: eve@example.org"
        assert mail.fields["recipients"] == ()


def test_a_header_that_was_folded_without_a_space_goes_on() -> None:
    mail = read(letter(subject="The boat\nis blue"))
    assert mail.text("subject") == "The boat is blue"


def test_text_that_no_empty_line_divides_from_the_headers_is_text() -> None:
    message = letter().replace("\n\nSee", "\nSee you, Nora\nSee")
    assert read(message).text("body").startswith("See you, Nora")


def test_a_line_of_spaces_ends_the_headers_only_where_none_follow() -> None:
    inside = letter("Low tide at six.").replace("Subject: Quay", "Subject: Quay\n \n and rope\n\t")
    assert (read(inside).text("subject"), read(inside).text("body")) == (
        "Quay and rope",
        "Low tide at six.",
    )
    after = letter("Low tide at six.").replace("\n\n", "\n \n")
    assert read(after).text("body") == "Low tide at six."
