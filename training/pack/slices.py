"""Files cut into slices of a bounded size, each with its hash. Needs the standard library alone."""

from collections.abc import Iterable, Iterator
from hashlib import file_digest, sha256
from pathlib import Path, PurePosixPath
from typing import TypedDict

_BLOCK = 1 << 20


class Slice(TypedDict):
    """A slice as job and result files name it."""

    file: str
    bytes: int
    sha256: str


def cut(blocks: Iterable[bytes], folder: Path, name: str, most: int) -> list[Slice]:
    """Write what the blocks hold as `name-000`, `name-001`, … of at most `most` bytes each."""
    found: list[Slice] = []
    held = bytearray()

    def write(content: bytes) -> None:
        file = f"{name}-{len(found):03d}"
        (folder / file).write_bytes(content)
        found.append(Slice(file=file, bytes=len(content), sha256=sha256(content).hexdigest()))

    for block in blocks:
        held += block
        while len(held) >= most:
            write(bytes(held[:most]))
            del held[:most]
    if held or not found:
        write(bytes(held))
    return found


def blocks_of(path: Path) -> Iterator[bytes]:
    """The content of a file."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def joined(slices: Iterable[Slice], folder: Path) -> Iterator[bytes]:
    """The content that was cut.

    Raises:
        ValueError: A slice is missing, or is not what was written.
    """
    for one in slices:
        path = within(folder, one["file"])
        check(path, one["sha256"])
        yield path.read_bytes()


def within(folder: Path, name: str) -> Path:
    """A file that a job or a result names; ValueError where it is not in the folder itself."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or parts[0] == "/" or (folder / name).is_symlink():
        raise ValueError(f"{folder}: names {name[:80]!r}, which is not in it")
    return folder / name


def check(path: Path, wanted: str) -> None:
    """Raise ValueError unless the file has that SHA-256."""
    if not path.is_file():
        raise ValueError(f"{path}: is missing; copy the whole folder")
    found = digest(path)
    if found != wanted:
        raise ValueError(f"{path}: has sha256 {found}, not {wanted}; copy the folder again")


def digest(path: Path) -> str:
    """The file's SHA-256."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
