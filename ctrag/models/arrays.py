"""Arrays of artefacts: files of few bits, and low-rank changes of weights."""

import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ctrag.errors import InputError
from ctrag.models.encoder import Matrix
from stores.files import replacing

SCALE = "|scale"
"""Ends the names of the row scales in a file."""
_SMALLEST = 4096
"""Values of a matrix from which it is kept in 8 bits."""
_DAMAGE = (
    *(ValueError, TypeError, LookupError, EOFError, MemoryError, NotImplementedError, SyntaxError),
    *(BadZipFile, zlib.error, struct.error),
)
"""What numpy and zipfile raise for damaged files."""


def save_arrays(path: Path, arrays: Mapping[str, Matrix], eight_bits: bool = False) -> None:
    """Write arrays, compressed and atomically.

    Args:
        path: The file.
        arrays: By name.
        eight_bits: Keep matrices in 8 bits with a scale per row, and only the rest as float16.
    """
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **_packed(arrays, eight_bits))


def load_arrays(path: Path) -> dict[str, Matrix]:
    """What `save_arrays` wrote, as float32.

    Raises:
        FileNotFoundError: There is no file.
        ValueError: It is damaged, or holds numbers that are not finite.
    """
    with reading_arrays(path) as arrays:
        found = {
            name: _unpacked(arrays[name], arrays[f"{name}{SCALE}"])
            if f"{name}{SCALE}" in arrays.files
            else arrays[name].astype(np.float32)
            for name in arrays.files
            if not name.endswith(SCALE)
        }
    for name, array in found.items():
        if not np.isfinite(array).all():
            raise InputError(f"{path}: {name} holds values that are no finite numbers")
    return found


@contextmanager
def reading_arrays(path: Path) -> Iterator[Any]:
    """The arrays in a file, by name; what is damaged in it is an error that names it.

    Raises:
        FileNotFoundError: There is no file.
        ValueError: It is damaged.
    """
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            if not hasattr(arrays, "files"):
                raise InputError(f"{path}: damaged (one array, not several)")
            yield arrays
    except InputError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise InputError(f"{path}: damaged ({error.strerror})") from None  # seeking before it
    except _DAMAGE as error:
        why = str(error).partition(". ")[0]  # numpy goes on with how to load it unsafely
        raise InputError(f"{path}: damaged ({type(error).__name__}: {why})") from None


def arrays_digest(settings: str, arrays: Mapping[str, Matrix], eight_bits: bool = False) -> str:
    """Fingerprint of an artefact: its settings and its arrays as saved."""
    content = sha256(settings.encode())
    packed = _packed(arrays, eight_bits)
    for name in sorted(packed):
        content.update(name.encode())
        content.update(packed[name].tobytes())
    return content.hexdigest()[:16]


def _packed(arrays: Mapping[str, Matrix], eight_bits: bool) -> dict[str, NDArray[np.generic]]:
    found: dict[str, NDArray[np.generic]] = {}
    for name, array in arrays.items():
        if not eight_bits or array.ndim != 2 or array.size < _SMALLEST:
            found[name] = array.astype(np.float16)
            continue
        scale = (np.abs(array).max(axis=1) / 127).astype(np.float16)
        steps = np.where(scale == 0, 1, scale).astype(np.float32)[:, None]
        found[name] = np.clip(np.rint(array / steps), -127, 127).astype(np.int8)
        found[f"{name}{SCALE}"] = scale
    return found


def _unpacked(rows: NDArray[np.generic], scale: NDArray[np.generic]) -> Matrix:
    return rows.astype(np.float32) * scale.astype(np.float32)[:, None]


def low_rank_changes(arrays: Mapping[str, Matrix], encoder: str, scale: float) -> dict[str, Matrix]:
    """Changes that are added to an encoder's weights: "layer.map" → (outputs, inputs).

    Args:
        arrays: `encoder/layer.map.A` (rank, inputs) and `.B` (outputs, rank), among others.
        encoder: Name of the encoder.
        scale: Factor of the products.
    """
    return {
        name.removeprefix(f"{encoder}/").removesuffix(".A"): np.asarray(
            scale * (arrays[name.removesuffix("A") + "B"] @ down), dtype=np.float32
        )
        for name, down in arrays.items()
        if name.startswith(f"{encoder}/") and name.endswith(".A")
    }
