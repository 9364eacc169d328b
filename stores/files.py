"""Writing files so that a crash leaves either the old content or the new."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import IO, Any, Literal


@contextmanager
def replacing(
    path: Path, mode: Literal["w", "wb"] = "wb", *, private: bool = False
) -> Iterator[IO[Any]]:
    """A file under a temporary name in the same folder, which replaces `path` at the end.

    Args:
        path: The file that is written or replaced.
        mode: "w" writes UTF-8 text, "wb" bytes.
        private: Whether only its owner may read the file.

    Raises:
        OSError: The folder is missing or read-only, or the disk is full; `path` is untouched, as
            after an exception in the block.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}.tmp")
    try:
        if private:
            temporary.touch(0o600)
            temporary.chmod(0o600)  # whatever the umask
        with temporary.open(mode, encoding="utf-8" if mode == "w" else None) as file:
            yield file
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


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write `text` to `path`, atomically; `private` and errors as for `replacing`."""
    with replacing(path, "w", private=private) as file:
        file.write(text)


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path`, atomically; errors as for `replacing`."""
    with replacing(path) as file:
        file.write(content)


def sync(path: Path) -> None:
    """Wait until a file, or a folder's entries, is flushed to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner may enter; one that is there keeps its permissions.

    Folders above it are made as usual.

    Raises:
        OSError: It cannot be made, or a file is in its place.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
        path.chmod(0o700)  # whatever the umask
    except FileExistsError:
        if not path.is_dir():
            raise


def append_private(path: Path, text: str) -> None:
    """Append to a file that only its owner may read; one that is there keeps its permissions.

    Raises:
        OSError: It cannot be written.
    """
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(text)
