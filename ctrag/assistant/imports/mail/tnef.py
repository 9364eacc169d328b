"""`winmail.dat` (TNEF), in which Outlook sends text and attachments: names and plain text of it."""

import struct
from collections.abc import Iterator

from ctrag.assistant.imports.mail.charset import decoded

_SIGNATURE = b"\x78\x9f\x3e\x22"
_TITLE, _BODY = 0x00018010, 0x0002800C
"""A file's name, and the plain text."""
_MOST = 1_000


def names_and_text(data: bytes) -> tuple[list[str], str]:
    """Names of the files in it, in order, and the plain text; both empty where it is none."""
    names: list[str] = []
    text = ""
    for number, (kind, value) in enumerate(_attributes(data)):
        if number > _MOST:
            break
        if kind == _TITLE:
            names.append(" ".join(decoded(value.rstrip(b"\0")).split())[:200])
        elif kind == _BODY:
            text = decoded(value.rstrip(b"\0")).replace("\r\n", "\n").strip()
    return [one for one in names if one], text


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(kind, value) of each attribute, until the data end or make no sense."""
    if not data.startswith(_SIGNATURE):
        return
    place = 6
    while place + 9 <= len(data) and data[place] in (1, 2):
        kind, size = struct.unpack_from("<II", data, place + 1)
        place += 9
        if place + size > len(data):
            return
        yield kind, data[place : place + size]
        place += size + 2  # a checksum
