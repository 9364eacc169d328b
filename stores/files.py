"""Writing files so that a crash leaves either the old content or the new."""

import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` through a temporary name in the same folder and a rename.

    Raises:
        OSError: The folder is missing or read-only, or the disk is full; `path` is untouched.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    # The new content is in place: a folder that cannot be synced must not look like a failure.
    with suppress(OSError):
        sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
