"""Files that are stored plain, or compressed as `NAME.bz2`; the plain one takes precedence."""

import bz2
import io
from pathlib import Path
from typing import IO

from stores.errors import InputError

SUFFIX = ".bz2"
LARGEST = 256 << 20
"""Bytes of a compressed file's content at most."""


def kept(path: Path) -> Path:
    """Where a file's content is: `path`, or `path.bz2` where only that exists."""
    packed = path.with_name(path.name + SUFFIX)
    return packed if not path.exists() and packed.exists() else path


def open_kept(path: Path) -> IO[bytes]:
    """The content of `path` or of `path.bz2`, decompressed.

    Raises:
        FileNotFoundError: Neither exists.
        ValueError: The compressed file is broken.
    """
    found = kept(path)
    if found.suffix != SUFFIX:
        return found.open("rb")
    packed = found.read_bytes()
    try:
        return io.BytesIO(_decompressed(found, packed))
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{found}: not bzip2: {error}") from None


def _decompressed(path: Path, packed: bytes) -> bytes:
    """The content, decompressed piece by piece up to `LARGEST`: a few kilobytes can be gigabytes.

    Raises:
        ValueError: It is larger, or not bzip2.
    """
    content = bytearray()
    while packed:
        reader = bz2.BZ2Decompressor()
        while not reader.eof:
            piece = reader.decompress(packed, max_length=1 << 20)
            packed = b""
            content += piece
            if len(content) > LARGEST:
                raise InputError(f"{path}: holds more than {LARGEST >> 20} MB; decompress it first")
            if not piece and reader.needs_input:
                raise ValueError("it ends too early")
        packed = reader.unused_data
    return bytes(content)


def read_kept(path: Path) -> bytes:
    """The whole content of `open_kept`."""
    with open_kept(path) as file:
        return file.read()
