"""Files that are stored plain, or compressed as `NAME.bz2`; the plain one takes precedence."""

import bz2
import io
from pathlib import Path
from typing import IO

from stores.errors import InputError

SUFFIX = ".bz2"


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
        return io.BytesIO(bz2.decompress(packed))
    except (OSError, ValueError) as error:
        raise InputError(f"{found}: not bzip2: {error}") from None


def read_kept(path: Path) -> bytes:
    """The whole content of `open_kept`."""
    with open_kept(path) as file:
        return file.read()
