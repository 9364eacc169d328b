"""Files cut into slices of a bounded size, each with its hash. Needs the standard library alone."""

from collections.abc import Iterable, Iterator
from hashlib import file_digest, sha256
from pathlib import Path
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
        check(folder / one["file"], one["sha256"])
        yield (folder / one["file"]).read_bytes()


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
