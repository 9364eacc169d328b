"""Damage in what is kept beside the stores of what people taught and used (`learned`)."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from stores.files import write_text
from stores.people.learned import FOLDER, PERSONAL, USAGE
from stores.people.usage import readable_lines


def rights(root: Path) -> Iterator[Path]:
    """Files that others than their owner may read."""
    for path in sorted((root / FOLDER).glob("*")):
        if path.is_file() and path.stat().st_mode & 0o077:
            yield path


def left_over(root: Path) -> list[Path]:
    """What a crash left half written."""
    return sorted((root / FOLDER).glob(".*.tmp"))


def damaged(root: Path) -> Iterator[tuple[Path, str, str, str]]:
    """Path, problem, what is lost and what `mend` would do, of each damaged file."""
    for path in sorted((root / FOLDER).glob(f"*.{USAGE}")):
        lines, good = readable_lines(path)
        if bad := lines - len(good):
            many = f"{bad} of {lines} lines cannot be read"
            yield path, many, f"{bad} recorded requests", "take those lines out"
    for path in sorted((root / FOLDER).glob(f"*.{PERSONAL}")):
        if not _is_whole(path):
            lost = "what was learned of one person's use"
            yield path, "damaged", lost, "remove it; `ctrag train ranker --from-usage` makes it"


def mend(path: Path) -> None:
    """Keep what can be read of a damaged file."""
    if path.suffix == f".{USAGE}":
        write_text(path, "".join(readable_lines(path)[1]), private=True)
    else:
        path.unlink()


def _is_whole(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError):
        return False
