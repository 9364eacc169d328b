"""Folders that are made once and kept: whole or absent, and made anew when they are damaged."""

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ctrag.text.terminal import note
from stores.files import sync, write_text

SEAL = "sha256.json"
"""File with size, time of change and digest of each file of the folder."""
_LEFT = re.compile(r"\..+\.(\d+)")
_checked: set[Path] = set()
"""Folders that this process has found whole."""


def made(target: Path, make: Callable[[Path], None]) -> Path:
    """The folder `target`, filled by `make` when it does not exist or is damaged.

    Two processes may make it at once; the first to finish wins, and it appears atomically, flushed
    to the disk.

    Raises:
        OSError: It cannot be written, or a damaged one cannot be taken away.
    """
    if target in _checked and target.exists():
        return target
    if target.exists() and not intact(target):
        note(f"{target} is damaged and made anew")
        _take_away(target)
    if not target.exists():
        if sys.stderr.isatty():
            note(f"preparing {target.name}, once …")
        _remove_leftovers(target.parent)
        _make(target, make)
    _checked.add(target)
    return target


def intact(folder: Path, *, thoroughly: bool = False) -> bool:
    """Whether a folder's files are as they were made.

    Args:
        folder: What `made` made.
        thoroughly: Read every file, not only those whose size or time of change differs: a broken
            disk changes neither.
    """
    sealed = _sealed(folder)
    if sealed is None:  # made by an earlier version, or its seal is damaged
        whole = all(one.stat().st_size for one in _files(folder)) and not (folder / SEAL).exists()
        if whole:
            with suppress(OSError):  # a folder that only others may write stays as it is
                _seal(folder)
        return whole
    changed = False
    for name, (size, time, digest) in sealed.items():
        path = folder / name
        try:
            found = path.stat()
            if found.st_size != size:
                return False
            if thoroughly or found.st_mtime_ns != time:
                changed |= found.st_mtime_ns != time
                if _digest(path) != digest:
                    return False
        except OSError:
            return False
    if changed:  # copied or touched, and whole
        with suppress(OSError):
            _seal(folder)
    return True


def drop_damaged(folder: Path) -> list[Path]:
    """Take away the made folders inside that are damaged, after reading all files of each, and what
    killed processes left; returns the damaged ones, which are made when they are needed."""
    _remove_leftovers(folder)
    inside = sorted(folder.iterdir()) if folder.exists() else []
    damaged = [one for one in inside if (one / SEAL).exists() and not intact(one, thoroughly=True)]
    for one in damaged:
        _take_away(one)
        _checked.discard(one)
    return damaged


def drop_unused(folder: Path) -> list[tuple[Path, int]]:
    """Take away the made folders inside that this process has not opened, which are made again
    when they are needed; returns them with their sizes in bytes."""
    dropped = []
    for one in sorted(folder.iterdir()) if folder.exists() else []:
        if (one / SEAL).exists() and one not in _checked:
            size = sum(file.stat().st_size for file in _files(one))
            _take_away(one)
            dropped.append((one, size))
    return dropped


def _make(target: Path, make: Callable[[Path], None]) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        make(temporary)
        _seal(temporary)
        for path in _files(temporary):
            sync(path)
        sync(temporary)
        if not target.exists():
            try:
                temporary.rename(target)
            except OSError:
                if not target.exists():
                    raise
        with suppress(OSError):
            sync(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _take_away(target: Path) -> None:
    aside = target.with_name(f".{target.name}-old.{os.getpid()}")
    shutil.rmtree(aside, ignore_errors=True)
    target.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed left half made."""
    for path in folder.glob(".*") if folder.exists() else ():
        found = _LEFT.fullmatch(path.name)
        if found and path.is_dir() and not _runs(int(found[1])):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is another user's
        return True
    return True


def _seal(folder: Path) -> None:
    facts = {}
    for path in _files(folder):
        found = path.stat()
        name = path.relative_to(folder).as_posix()
        facts[name] = [found.st_size, found.st_mtime_ns, _digest(path)]
    write_text(folder / SEAL, json.dumps(facts, indent=1) + "\n")


def _sealed(folder: Path) -> dict[str, tuple[int, int, str]] | None:
    try:
        facts = json.loads((folder / SEAL).read_text(encoding="utf-8"))
        return {str(name): (int(one[0]), int(one[1]), str(one[2])) for name, one in facts.items()}
    except (OSError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return None


def _files(folder: Path) -> list[Path]:
    return sorted(one for one in folder.rglob("*") if one.is_file() and one.name != SEAL)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
