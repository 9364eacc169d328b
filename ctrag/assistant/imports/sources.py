"""The files under paths: in folders and in zip archives, each opened only when it is read.

Nothing is unpacked onto the disk, and no link is followed but one that the user named.
"""

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from ctrag.assistant.imports.found import LeftOut
from ctrag.assistant.imports.mail.proton import is_beside_a_mail

_MOST_ENTRIES = 200_000
_SMALL = 1 << 30
"""Bytes that an archive may unpack to, however well it is compressed."""
_RATIO = 100
"""Times its size that a larger one may unpack to: text and mails shrink to a tenth or a third."""
_DEEPEST = 3
"""Archives inside of each other."""
_LARGEST_INSIDE = 256 << 20
"""Bytes of an archive inside of another, which is read into memory as a whole."""
_PASSED = {".ds_store", "thumbs.db", "desktop.ini", "__macosx", ".git", ".obsidian", ".trash"}


@dataclass(frozen=True, slots=True)
class Source:
    """One file, or a Maildir folder."""

    name: str
    """Its path from the path that was given, `/` between folders."""
    size: int
    open: Callable[[], BinaryIO]
    modified: datetime | None = None
    """When it was changed, with a zone."""
    folder: Path | None = None
    """Where it is a Maildir."""
    named: bool = False
    """Whether the user named it, rather than a folder or archive that holds it."""


def sources_in(path: Path) -> Iterator[Source | LeftOut]:
    """The files that a path holds, in the order of their names; what cannot be opened is told."""
    if path.is_dir():
        yield from _folder(path)
        return
    one = _file(path, path.name, named=True)
    if isinstance(one, Source) and zipfile.is_zipfile(path) and _is_archive(path):
        yield from _archive(path)
    else:
        yield one


class _Room:
    """How many files and bytes an archive, with all that are inside of it, may still unpack to."""

    def __init__(self, size: int) -> None:
        self.files = _MOST_ENTRIES
        self.bytes = max(_SMALL, size * _RATIO)

    def takes(self, entries: list[zipfile.ZipInfo]) -> bool:
        """Whether there is room for these entries, which is theirs then."""
        total = sum(one.file_size for one in entries)
        if len(entries) > self.files or total > self.bytes:
            return False
        self.files -= len(entries)
        self.bytes -= total
        return True


def _folder(root: Path) -> Iterator[Source | LeftOut]:
    problems: list[OSError] = []
    for folder, folders, names in os.walk(root, onerror=problems.append):
        here = Path(folder)
        folders.sort()
        if _is_maildir(here):
            shown = str(PurePosixPath(root.name, *here.relative_to(root).parts))
            yield Source(shown, 0, _no_file, folder=here, named=here == root)
            folders[:] = []  # `mails_in` reads the Maildirs inside of this one too
            continue
        passed = [one for one in folders if one.casefold() in _PASSED]
        for name in [one for one in passed if not _is_maildir(here / one)]:
            folders.remove(name)
        for name in [one for one in folders if (here / one).is_symlink()]:
            yield _link(root, here / name)
        for name in sorted(names):
            if name.casefold() in _PASSED or name.startswith("._"):
                continue
            if is_beside_a_mail(here / name):
                continue  # it is read with the mail
            one = _file(
                here / name, str(PurePosixPath(root.name, *(here / name).relative_to(root).parts))
            )
            if isinstance(one, Source) and _is_archive(here / name):
                yield from _archive(here / name)
            else:
                yield one
    for problem in problems:
        name = str(problem.filename or root)
        yield LeftOut(
            "file", Path(name).name, f"the folder cannot be read: {problem.strerror}", name
        )


def _is_maildir(folder: Path) -> bool:
    """Whether it holds mails, each a file; its name may be `.Trash`, as that of what notebooks
    throw away."""
    inside = {one for one in ("cur", "new", "tmp") if (folder / one).is_dir()}
    return "cur" in inside and len(inside) > 1


def _file(path: Path, shown: str, *, named: bool = False) -> Source | LeftOut:
    try:
        if path.is_symlink() and not named:
            return _link(path.parent, path)
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return LeftOut("file", shown, "it is no file: a device, pipe or socket", shown)
        path.open("rb").close()
    except OSError as error:
        return LeftOut("file", shown, f"it cannot be read: {error.strerror}", shown)
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    return Source(shown, status.st_size, lambda: path.open("rb"), modified, named=named)


def _link(root: Path, path: Path) -> LeftOut:
    return LeftOut("file", path.name, "a symbolic link is not followed; name its target", path.name)


def _is_archive(path: Path) -> bool:
    """Whether a file is an archive to look into, and not a document that is one inside."""
    try:
        with path.open("rb") as file:
            return _holds_files(file, path.name)
    except OSError:
        return False


def _holds_files(file: BinaryIO, name: str) -> bool:
    try:
        if not file.read(4).startswith(b"PK") or name.casefold().endswith(".olm"):
            return False
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist()[:20])
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False
    return not names & {"mimetype", "[Content_Types].xml", "META-INF/MANIFEST.MF"}


def _archive(path: Path) -> Iterator[Source | LeftOut]:
    with zipfile.ZipFile(path) as archive:
        yield from _inside(archive, path.name, _Room(path.stat().st_size), 1)


def _inside(
    archive: zipfile.ZipFile, name: str, room: _Room, depth: int
) -> Iterator[Source | LeftOut]:
    """The files of an archive that is called `name`, and of those inside of it."""
    entries = [one for one in archive.infolist() if not one.is_dir()]
    if not room.takes(entries):
        total, count = sum(one.file_size for one in entries), len(entries)
        why = f"it would unpack to {total:,} bytes in {count:,} files, which no export does"
        yield LeftOut("file", name, why, name)
        return
    for entry in sorted(entries, key=lambda one: one.filename):
        for one in _entry(archive, entry, name):
            inner = _archive_in(one, entry) if depth < _DEEPEST else None
            if inner is None:
                yield one
                continue
            with inner:
                yield from _inside(inner, f"{name}/{entry.filename}", room, depth + 1)


def _archive_in(one: Source | LeftOut, entry: zipfile.ZipInfo) -> zipfile.ZipFile | None:
    """The archive that a file in an archive is, in memory; None where it is none."""
    if isinstance(one, LeftOut) or entry.file_size > _LARGEST_INSIDE:
        return None
    try:
        with one.open() as file:
            head = file.read(4)
            if not head.startswith(b"PK"):
                return None
            data = BytesIO(head + file.read())
        if not _holds_files(data, one.name):
            return None
        return zipfile.ZipFile(data)
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile):
        return None  # told when it is read as a file


def _entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str
) -> Iterator[Source | LeftOut]:
    inside = PurePosixPath(entry.filename.replace("\\", "/"))
    shown = f"{name}/{inside}"
    parts = (*inside.parts[:-3], inside.name) if _in_maildir(inside) else inside.parts
    if any(part.casefold() in _PASSED or part.startswith("._") for part in parts):
        return
    if inside.is_absolute() or ".." in inside.parts or inside.parts[0].endswith(":"):
        yield LeftOut("file", shown, "its name leads out of the archive", name)
    elif stat.S_ISLNK(entry.external_attr >> 16):
        yield LeftOut("file", shown, "a symbolic link is not followed", name)
    elif entry.flag_bits & 1:
        why = "it is encrypted: unpack the archive and import the folder"
        yield LeftOut("file", shown, why, name)
    else:
        yield Source(shown, entry.file_size, lambda: _opened(archive, entry), _changed(entry))


def _in_maildir(inside: PurePosixPath) -> bool:
    return inside.parent.name in ("cur", "new")


def _opened(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> BinaryIO:
    try:
        file = archive.open(entry)
    except (NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        raise OSError(0, f"not readable in the archive: {error}") from None
    return file  # type: ignore[return-value]  # an IO[bytes] that reads as BinaryIO does


def _changed(entry: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*entry.date_time)
    except ValueError:
        return None


def _no_file() -> BinaryIO:
    raise IsADirectoryError
