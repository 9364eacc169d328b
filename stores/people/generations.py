"""Generations of store files: built beside the old one, swapped in by renaming a manifest.

A stores folder looks like this::

    manifest.json      which generation is current
    write.lock         the lease of the writer
    g000002/           people.duckdb, mail.duckdb, calendar.duckdb, …

Readers read the manifest and open files of that generation; a reader that began before a swap keeps
its files, and one that finds them gone reads the manifest again. Names of generations are never
reused, so an old manifest cannot lead to half-built files. A crash while building leaves the old
manifest, hence the old data.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stores.database import WRITE_TIMEOUT, StoreUnavailable
from stores.errors import InputError, NotFound
from stores.files import sync, write_text

MANIFEST = "manifest.json"
FORMAT = 1
# A writer that crashed leaves its write-ahead log: it belongs to the file.
_STORE_FILE = re.compile(r".+\.duckdb(\.wal.*)?")
_NAME = re.compile(r"g\d{6,}")


class Manifest(BaseModel):
    """Which generation of files is current."""

    model_config = ConfigDict(extra="forbid")
    format: int = FORMAT
    generation: str = Field(pattern=r"^g\d{6,}$")
    previous: str | None = Field(default=None, pattern=r"^g\d{6,}$")
    """The generation before, kept so that an import can be undone; None when it is gone."""
    changed_at: int
    """When this generation became current, in nanoseconds since the epoch."""
    summary: str
    encoder: str | None = None
    """The encoder that made the vectors; None before the first import."""
    apps: tuple[str, ...] = ()
    """Applications that have a file here; if the file of one is missing, it was lost."""
    counter: int = 0
    """The highest number that any generation of this folder ever had."""


def read_manifest(root: Path) -> Manifest:
    """The current manifest.

    Raises:
        FileNotFoundError: `root` is no stores folder.
        ValueError: The manifest is damaged, or lost.
    """
    path = root / MANIFEST
    if was_lost(root):
        raise InputError(f"{path}: lost; `ctrag doctor --repair` makes it anew")
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        problem = error.errors()[0]
        field = "".join(f"{part}: " for part in problem["loc"])
        raise InputError(f"{path}: damaged manifest ({field}{problem['msg']})") from None
    if manifest.format != FORMAT:
        raise InputError(
            f"{path}: format: these stores have format {manifest.format}, this ctrag reads {FORMAT}"
        )
    return manifest


def was_lost(root: Path) -> bool:
    """Whether only the manifest is missing: a generation is there with its copy of it."""
    if (root / MANIFEST).exists() or not root.is_dir():
        return False
    return any((one / MANIFEST).is_file() for one in others(root, set()))


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Make `manifest` the current one, by rename; a copy stays in its generation.

    All files of the generation are on the disk before the rename.
    """
    text = manifest.model_dump_json(indent=1)
    folder = root / manifest.generation
    write_text(folder / MANIFEST, text, private=True)
    for path in (*folder.iterdir(), folder):
        sync(path)
    write_text(root / MANIFEST, text, private=True)


@contextmanager
def lease(root: Path, timeout: float = WRITE_TIMEOUT) -> Iterator[None]:
    """The exclusive right to change anything under `root`, within the block.

    Raises:
        StoreUnavailable: Another process keeps the lease for longer than `timeout` seconds.
    """
    if not root.is_dir():
        raise NotFound(f"no stores in {root}: run `ctrag import` first")
    lock = FileLock(root / "write.lock", mode=0o600)
    try:
        lock.acquire(timeout=timeout, poll_interval=0.01)
    except Timeout:
        raise StoreUnavailable(
            str(root), f"being changed by another process for more than {timeout:g} s; try again"
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def building(root: Path, current: Manifest | None) -> Iterator[Path]:
    """A folder for the next generation, holding copies of the current files.

    The folder is removed again when the block raises before its manifest was written. The
    caller holds the lease.
    """
    number = 1 if current is None else 1 + max(current.counter, number_of(current.generation))
    folder = root / f"g{number:06d}"
    shutil.rmtree(folder, ignore_errors=True)  # left over from a crash: never was current
    try:
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)  # whatever the umask
        if current is not None:
            for path in sorted((root / current.generation).iterdir()):
                if _STORE_FILE.fullmatch(path.name) and path.is_file():
                    shutil.copy2(path, folder / path.name)
        yield folder
    except BaseException:
        if not _is_current(root, folder.name):  # Ctrl-C may come after the swap
            shutil.rmtree(folder, ignore_errors=True)
        raise


def number_of(generation: str) -> int:
    """The number in a generation's name."""
    return int(generation[1:])


def prune(root: Path, keep: set[str]) -> None:
    """Remove generations that are not in `keep`; files that a reader has open stay readable."""
    for path in others(root, keep):
        shutil.rmtree(path, ignore_errors=True)


def others(root: Path, keep: set[str]) -> list[Path]:
    """Folders of generations that are not in `keep`, crashed ones included."""
    return [
        path
        for path in root.iterdir()
        if path.is_dir() and _NAME.fullmatch(path.name) and path.name not in keep
    ]


def _is_current(root: Path, generation: str) -> bool:
    try:
        return read_manifest(root).generation == generation
    except (OSError, ValueError):
        return False
