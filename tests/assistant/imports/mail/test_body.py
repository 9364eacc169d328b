"""What a mail says, of all its parts."""

import base64
import struct
import time

import pytest

from ctrag.assistant.imports.mails import read_mail
from tests.assistant.imports.mail.conftest import NORA, as_bytes, letter, read


def parts(kind: str, *children: str) -> dict[str, str]:
    """A multipart of that kind, as headers and body of a letter."""
    body = "".join(f"--b\n{child}\n" for child in children) + "--b--\n"
    return {"content_type": f'multipart/{kind}; boundary="b"', "body": body}


def multipart(kind: str, *children: str) -> str:
    made = parts(kind, *children)
    return letter(made["body"], content_type=made["content_type"])


PLAIN = "Content-Type: text/plain; charset=utf-8\n\nSee you at the quay."
HTML = "Content-Type: text/html\n\n<p>See <b>you</b> at the quay, Nora.</p>"
TICKET = 'Content-Type: application/pdf; name="ticket.pdf"\nContent-Disposition: attachment\n\nJVBE'
LOGO = "Content-Type: image/png; name=logo.png\nContent-ID: <l>\n\niVBO"


def test_the_text_of_a_mail_that_is_html_alone_is_read() -> None:
    mail = read(letter("<p>Your table is <b>booked</b>.</p>", content_type="text/html"))
    assert mail.text("body") == "Your table is booked."


def test_html_that_is_called_plain_is_read_as_html() -> None:
    assert read(letter("<html><p>Your table</p></html>")).text("body") == "Your table"


def test_plain_text_is_preferred_to_html() -> None:
    assert read(multipart("alternative", PLAIN, HTML)).text("body") == "See you at the quay."
    assert read(multipart("alternative", HTML, PLAIN)).text("body") == "See you at the quay."


@pytest.mark.parametrize("stub", ["", " \n", "Your program shows no HTML."])
def test_a_plain_text_that_says_nothing_gives_way_to_html(stub: str) -> None:
    page = f"Content-Type: text/html\n\n<p>{'The ferry leaves at six from quay four. ' * 5}</p>"
    body = read(multipart("alternative", f"Content-Type: text/plain\n\n{stub}", page)).text("body")
    assert body.startswith("The ferry leaves at six")


def test_related_and_alternative_parts_are_one_text_without_the_logo() -> None:
    inner = multipart("alternative", PLAIN, HTML).partition("Content-Type")
    inner_part = f"Content-Type{inner[2]}".replace('"b"', '"c"').replace("--b", "--c")
    assert read(multipart("related", inner_part, LOGO)).text("body") == "See you at the quay."


def test_texts_around_an_attachment_are_joined_and_its_name_is_there_to_search() -> None:
    body = read(multipart("mixed", PLAIN, TICKET, "\nBring the ticket.")).text("body")
    assert body == "See you at the quay.\n\nBring the ticket.\n\nAttachments: ticket.pdf"


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Content-Disposition: attachment; filename*=utf-8''b%C3%A5t.pdf", "båt.pdf"),
        ("Content-Disposition: attachment; filename*0=long-; filename*1=name.pdf", "long-name.pdf"),
        ('Content-Disposition: attachment; filename="=?utf-8?q?b=C3=A5t.pdf?="', "båt.pdf"),
        ('Content-Disposition: attachment; filename="..\\\\..\\\\b.pdf"', "b.pdf"),
        ("Content-Disposition: attachment; filename*=undefined''b.pdf", "b.pdf"),
    ],
)
def test_names_of_attachments_are_read_in_every_spelling(header: str, name: str) -> None:
    part = f"Content-Type: application/pdf\n{header}\n\nJVBE"
    assert read(multipart("mixed", part)).text("body") == f"Attachments: {name}"


def test_an_inline_uuencoded_file_is_an_attachment() -> None:
    body = "Here it is.\nbegin 644 map.gif\n#0V%T\n`\nend\nBye."
    assert read(letter(body)).text("body") == "Here it is.\n\nBye.\n\nAttachments: map.gif"


def test_a_forwarded_mail_is_read_with_its_sender() -> None:
    inner = "Content-Type: message/rfc822\n\nFrom: Landlord <l@x.no>\nSubject: Rent\n\nRent is 840."
    body = read(multipart("mixed", PLAIN, inner)).text("body")
    assert body == "See you at the quay.\n\nFrom: Landlord <l@x.no>\nSubject: Rent\n\nRent is 840."


def test_parts_of_a_digest_are_mails() -> None:
    body = read(multipart("digest", "\nFrom: a@x.no\nSubject: One\n\nfirst")).text("body")
    assert body == "From: a@x.no\nSubject: One\n\nfirst"


def test_a_signature_leaves_the_text() -> None:
    signature = "Content-Type: application/pgp-signature; name=s.asc\n\nabc"
    assert read(multipart("signed", PLAIN, signature)).text("body") == "See you at the quay."


@pytest.mark.parametrize(
    ("kind", "child"),
    [
        ("encrypted", "Content-Type: application/pgp-encrypted\n\nVersion: 1"),
        ("mixed", 'Content-Type: application/pkcs7-mime; name="smime.p7m"\n\nMIIB'),
    ],
)
def test_what_is_encrypted_is_said(kind: str, child: str) -> None:
    found = read_mail(multipart(kind, child).encode(), NORA)
    assert len(found.items) == 1
    [left] = found.left_out
    assert not left.lost
    assert "encrypted" in left.why


@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        ("base64", "U2VlIHlvdQ==", "See you"),
        ("base64", "U2VlIHlvdQ", "See you"),
        ("BASE64 ", "U2Vl\nIHlv!dQ==", "See you"),
        ("base64", "U2VlIHlvdQ==\n\n-- \nThe choir's list", "See you\n-- \nThe choir's list"),
        ("base64", "%%%", "%%%"),
        ("quoted-printable", "See =\nyou =C3=A5", "See you å"),
        ("x-uuencode", "begin 644 a\n'4V5E('EO=0``\n`\nend", "See you"),
        ("8bit", "See you å", "See you å"),
        ("nonsense", "See you", "See you"),
    ],
)
def test_transfer_encodings_are_undone(encoding: str, body: str, text: str) -> None:
    made = letter(
        body, content_transfer_encoding=encoding, content_type="text/plain; charset=utf-8"
    )
    assert read(made).text("body").replace("--\n", "-- \n") == text


def test_flowed_lines_become_paragraphs_again() -> None:
    body = "The ferry leaves \nat six.\n> quoted \n> words\n-- \nPia"
    flowed = letter(body, content_type="text/plain; format=flowed")
    assert read(flowed).text("body") == "The ferry leaves at six.\n> quoted words\n--\nPia"


def test_a_multipart_without_its_boundary_is_still_read() -> None:
    message = multipart("mixed", PLAIN).replace('; boundary="b"', "")
    assert read(message).text("body") == "See you at the quay."
    cut_off = multipart("mixed", PLAIN).replace("--b--\n", "")
    assert read(cut_off).text("body") == "See you at the quay."


def test_a_long_thread_is_kept_to_its_end() -> None:
    body = "> The gate?\n" * 1_000 + "We paint it green."
    assert read(letter(body)).text("body").endswith("We paint it green.")


def test_what_is_cut_of_a_text_is_counted_and_the_attachments_stay() -> None:
    long = "Content-Type: text/plain\n\n" + "word " * 20_000 + "end"
    found = read_mail(multipart("mixed", long, TICKET).encode(), NORA)
    assert found.items[0].text("body").endswith("Attachments: ticket.pdf")
    [left] = found.left_out
    assert (left.what, left.lost) == ("Quay", False)
    assert left.why == "the last 50003 characters of its text (CTRAG_MAIL_LONGEST_BODY)"


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\r\r\n"])
def test_line_ends_of_every_machine_are_the_same(ends: str) -> None:
    message = multipart("mixed", PLAIN, TICKET)
    assert read(message.replace("\n", ends)).text("body") == read(message).text("body")


def nested(depth: int) -> str:
    inner = "".join(
        f"--b{i}\nContent-Type: multipart/mixed; boundary=b{i + 1}\n\n" for i in range(depth)
    )
    return letter(inner + "deep", content_type="multipart/mixed; boundary=b0")


@pytest.mark.parametrize(
    "message",
    [
        nested(10_000),
        letter("Content-Type: message/rfc822\n\n" * 10_000, content_type="message/rfc822"),
        letter("--b\n\nx\n" * 200_000, content_type="multipart/mixed; boundary=b"),
        letter("x", content_type="text/plain;" + ' a="b;' * 20_000),
        letter("x", content_type="text/plain;" + "".join(f" n*{i}=x;" for i in range(5_000))),
        letter("begin 644 a\n" * 50_000),
        letter("=" * 1_000_000, content_transfer_encoding="quoted-printable"),
        letter("x", To="(" * 5_000, Cc="<" * 5_000, From='"' * 5_000, subject="[" * 5_000),
        letter("x", To=",".join(f"n{i}@x.no" for i in range(20_000))),
        letter("x", subject="=?utf-8?q?a?=" * 20_000),
    ],
    ids=[
        *("nested", "forwarded", "parts", "parameters", "continuations", "uuencoded"),
        *("quoted-printable", "brackets", "recipients", "encoded words"),
    ],
)
def test_a_hostile_mail_takes_no_time_and_costs_itself_alone(message: str) -> None:
    started = time.process_time()
    found = read_mail(as_bytes(message), NORA)
    assert len(found.items) == 1
    assert not any(left.lost for left in found.left_out)
    assert time.process_time() - started < 5


def test_what_of_a_mail_was_too_much_is_said() -> None:
    whys = [
        left.why
        for message in (nested(40), letter("x", To=",".join(f"n{i}@x.no" for i in range(300))))
        for left in read_mail(message.encode(), NORA).left_out
    ]
    assert whys == [
        "parts nested deeper than 20",
        "the first 200 of 300 recipients are stored",
    ]


def winmail(*attributes: tuple[int, bytes]) -> str:
    data = b"\x78\x9f\x3e\x22\x01\x00"
    for kind, value in attributes:
        data += b"\x01" + struct.pack("<II", kind, len(value)) + value + b"\0\0"
    coded = base64.encodebytes(data).decode()
    head = "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64"
    return f"{head}\n\n{coded}"


def test_what_outlook_packs_into_winmail_dat_is_read() -> None:
    packed = winmail((0x2800C, b"Sail at ten.\r\n\0"), (0x18010, b"plan.pdf\0"))
    assert read(multipart("mixed", packed)).text("body") == "Sail at ten.\n\nAttachments: plan.pdf"
    beside = read(multipart("mixed", PLAIN, packed)).text("body")
    assert beside == "See you at the quay.\n\nAttachments: plan.pdf"


@pytest.mark.parametrize("broken", [winmail((0x18010, b"x"))[:-12], winmail(), "QQ=="])
def test_a_broken_winmail_dat_is_an_attachment_of_that_name(broken: str) -> None:
    head = "Content-Type: application/ms-tnef; name=winmail.dat\n\n"
    part = broken if broken.startswith("Content") else head + broken
    assert read(multipart("mixed", PLAIN, part)).text("body").endswith("Attachments: winmail.dat")


@pytest.mark.parametrize(
    "stub", ["This mail needs an HTML viewer.", "Open this in your browser: https://x.example/1"]
)
def test_a_short_plain_text_that_sends_elsewhere_gives_way_to_shorter_html(stub: str) -> None:
    html = "Content-Type: text/html\n\n<p>Gate <b>B22</b></p>"
    body = multipart("alternative", f"Content-Type: text/plain\n\n{stub}", html)
    assert read(body).text("body") == "Gate B22"


def test_a_calendar_that_is_attached_as_a_file_of_any_type_is_an_invitation() -> None:
    event = "BEGIN:VEVENT\nUID:1\nSUMMARY:Ferry\nDTSTART:20261202T070000Z\nEND:VEVENT"
    part = (
        'Content-Type: application/octet-stream; name="trip.ics"\n\n'
        f"BEGIN:VCALENDAR\n{event}\nEND:VCALENDAR"
    )
    found = read_mail(as_bytes(multipart("mixed", part)), NORA)
    assert [one.app for one in found.items] == ["mail", "calendar"]
    assert "Attachments: trip.ics" in found.items[0].text("body")
