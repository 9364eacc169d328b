"""Whether a file or folder can be written, found out before the work and not after it."""

import os
from pathlib import Path

from ctrag.errors import InputError
from stores.files import make_private_folder


def check_writable_folder(option: str, folder: Path) -> None:
    """Make the folder, for its owner alone, where it is missing.

    Raises:
        ValueError: It cannot be made or written.
    """
    try:
        make_private_folder(folder)
        probe = folder / f".writable.{os.getpid()}.tmp"
        probe.touch(0o600)
        probe.unlink()
    except OSError as error:
        raise InputError(f"{option}: {folder} cannot be written: {error.strerror}") from None


def check_writable_file(option: str, path: Path | None) -> None:
    """Make the file's folder where it is missing; nothing where `path` is None.

    Raises:
        ValueError: The file cannot be made or appended to.
    """
    if path is None:
        return
    if path.exists() and not path.is_dir():
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
        except OSError as error:
            raise InputError(f"{option}: {path} cannot be written: {error.strerror}") from None
        return
    if path.is_dir():
        raise InputError(f"{option}: {path} is a folder, not a file")
    check_writable_folder(option, path.parent)
