"""Arrays of artefacts: files of few bits, and low-rank changes of weights.

A file holds three arrays, whatever the number of those kept in it: a member each costs some 300
bytes of headers, and an adapter has hundreds. `rows`: the matrices of 8 bits, one after another.
`halves`: the rest in float16, (2, values): the high bytes, then the low ones, because high bytes
alone compress well. `shapes`: JSON, name → shape, in their order. A name that another one with
`|scale` at its end belongs to is in `rows`.
"""

import json
import math
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
    packed = _packed(arrays, eight_bits)
    rows = [one.ravel() for one in packed.values() if one.dtype == np.int8]
    halves = [one.ravel() for one in packed.values() if one.dtype == np.float16]
    shapes = json.dumps({name: one.shape for name, one in packed.items()}).encode()
    with replacing(path) as file:
        np.savez_compressed(
            file,
            allow_pickle=False,
            rows=np.concatenate([*rows, np.empty(0, np.int8)]),
            halves=_bytes_apart(np.concatenate([*halves, np.empty(0, np.float16)])),
            shapes=np.frombuffer(shapes, np.uint8),
        )


def load_arrays(path: Path) -> dict[str, Matrix]:
    """What `save_arrays` wrote, as float32; also files of older versions, an array a member.

    Raises:
        FileNotFoundError: There is no file.
        ValueError: It is damaged, or holds numbers that are not finite.
    """
    with reading_arrays(path) as arrays:
        packed = (
            _taken_apart(arrays["rows"], arrays["halves"], json.loads(arrays["shapes"].tobytes()))
            if set(arrays.files) == {"rows", "halves", "shapes"}
            else {name: arrays[name] for name in arrays.files}
        )
        found = {
            name: _unpacked(one, packed[f"{name}{SCALE}"])
            if f"{name}{SCALE}" in packed
            else one.astype(np.float32)
            for name, one in packed.items()
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


def _bytes_apart(values: NDArray[np.float16]) -> NDArray[np.uint8]:
    pairs = values.astype("<f2").view(np.uint8).reshape(-1, 2)
    return np.stack([pairs[:, 1], pairs[:, 0]])


def _taken_apart(
    rows: NDArray[np.int8], halves: NDArray[np.uint8], shapes: Mapping[str, list[int]]
) -> dict[str, NDArray[np.generic]]:
    """The arrays that `save_arrays` put one after another."""
    values = np.ascontiguousarray(halves[::-1].T).view("<f2").ravel()
    found: dict[str, NDArray[np.generic]] = {}
    places = {True: 0, False: 0}
    for name, shape in shapes.items():
        eight_bits = f"{name}{SCALE}" in shapes
        start, stop = places[eight_bits], places[eight_bits] + math.prod(shape)
        found[name] = (rows if eight_bits else values)[start:stop].reshape(shape)
        places[eight_bits] = stop
    if places != {True: len(rows), False: len(values)}:
        raise ValueError("its shapes do not add up to its values")
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
