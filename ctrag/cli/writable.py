"""Options that name what will be written: whether it can be is said before the work begins."""

import errno
import os
import tempfile
from pathlib import Path


def file_to_write(path: Path | None) -> Path | None:
    """The path of an option, as a file that can be written; nothing is left behind by looking.

    Raises:
        OSError: It cannot be written, or a folder on the way cannot be made.
    """
    if path is None:
        return None
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists():
        with path.open("ab"):
            return path
    _holds_new_files(path.parent)
    return path


def folder_to_write(path: Path | None) -> Path | None:
    """The path of an option, as a folder that can be written; errors as for `file_to_write`."""
    if path is not None:
        _holds_new_files(path)
    return path


def _holds_new_files(folder: Path) -> None:
    """Try to write into the folder, or into the nearest one above that exists."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not there.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(there))
    try:
        with tempfile.TemporaryFile(dir=there):
            return
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(folder)) from None
