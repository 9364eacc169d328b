"""Mails of Nora Voss in Bergen, made for the tests."""

from datetime import datetime
from io import BytesIO
from zoneinfo import ZoneInfo

from ctrag.assistant.imports.found import LeftOut, Owner
from ctrag.assistant.imports.mails import MailOptions, mails_in, read_mail
from stores.people.items import Item

NORA = Owner("nora", ZoneInfo("Europe/Oslo"), datetime(2026, 11, 26, 12), ("nora@example.org",))
WHEN = "Tue, 24 Nov 2026 18:30:00 +0100"
SEPARATOR = "From pia@example.org Tue Nov 24 18:30:00 2026\n"


def letter(body: str = "See you at the quay.", /, **headers: str | None) -> str:
    """A mail from Pia to Nora; a header of None is left out, `content_type` is `Content-Type`."""
    known: dict[str, str | None] = {
        "From": "Pia Moe <pia@example.org>",
        "To": "Nora Voss <nora@example.org>",
        "Subject": "Quay",
        "Date": WHEN,
        "Message-ID": "<1@example.org>",
    }
    known |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    known["Message-ID"] = known.pop("Message-Id", known["Message-ID"])
    lines = [f"{name}: {value}" for name, value in known.items() if value is not None]
    return "\n".join(lines) + f"\n\n{body}"


def mbox(*letters: str) -> bytes:
    """The mails as an mbox file."""
    return b"".join(as_bytes(f"{SEPARATOR}{one}\n\n") for one in letters)


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def read_all(
    data: bytes, name: str = "post.mbox", options: MailOptions | None = None
) -> tuple[list[Item], list[LeftOut]]:
    """Items, and what was left out, of a file."""
    found = list(mails_in(BytesIO(data), NORA, name=name, options=options))
    return (
        [one for one in found if isinstance(one, Item)],
        [one for one in found if isinstance(one, LeftOut)],
    )


def read(message: str | bytes) -> Item:
    """The mail that one message is, whole."""
    data = as_bytes(message) if isinstance(message, str) else message
    found = read_mail(data, NORA)
    assert found.left_out == []
    return found.items[0]
