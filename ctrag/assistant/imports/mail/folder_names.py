"""Names of mail folders as disks and servers spell them."""

import binascii
import re
import unicodedata
from collections.abc import Iterator

_SHIFTED = re.compile(r"&([A-Za-z0-9+,]*)-")
_COUNTED = re.compile(r"-\d+$|\s\(?\d{1,2}\)?$")
"""`Sent-1`, of a second account; `Junk (1)` and `Trash 2`, of a second export."""


def spellings(name: str) -> Iterator[str]:
    """What a folder may be called that a disk or server calls `name`, in small letters and
    composed: as it is, or without the encoding that IMAP or an archive gave it."""
    yield folded(_COUNTED.sub("", name.strip()))
    if not name.isascii() and (mended := _of_archive(name)) != name:
        yield from spellings(mended)
    if "&" in name and (plain := of_imap(name)) != name:
        yield from spellings(plain)


def folded(name: str) -> str:
    """A name in small letters, with `ü` as one sign: Apple writes two."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()


def of_imap(name: str) -> str:
    """A name in IMAP's modified UTF-7, such as `Entw&APw-rfe`, as people read it; what is no such
    name stays as it is."""
    return _SHIFTED.sub(_shifted, name)


def _shifted(found: re.Match[str]) -> str:
    if not found[1]:
        return "&"
    coded = found[1].replace(",", "/")
    try:
        # Two bytes a letter: what is over is padding.
        raw = binascii.a2b_base64(coded + "=" * (-len(coded) % 4))
        return raw[: len(raw) // 2 * 2].decode("utf-16-be")
    except (binascii.Error, UnicodeDecodeError):
        return found[0]


def _of_archive(name: str) -> str:
    """A name in UTF-8 that an archive does not say to be UTF-8, so that it was read as DOS would
    write it."""
    try:
        return name.encode("cp437").decode()
    except UnicodeError:
        return name
