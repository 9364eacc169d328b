"""Arrays of artefacts: half-precision files, and low-rank changes of weights."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np

from ctrag.models.encoder import Matrix
from stores.files import replacing


def save_arrays(path: Path, arrays: Mapping[str, Matrix]) -> None:
    """Write arrays as float16, compressed and atomically."""
    half = {name: array.astype(np.float16) for name, array in arrays.items()}
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **half)


def load_arrays(path: Path) -> dict[str, Matrix]:
    """What `save_arrays` wrote, as float32; FileNotFoundError when there is no file."""
    with np.load(path) as arrays:
        return {name: arrays[name].astype(np.float32) for name in arrays.files}


def arrays_digest(settings: str, arrays: Mapping[str, Matrix]) -> str:
    """Fingerprint of an artefact: its settings and its arrays as saved."""
    content = sha256(settings.encode())
    for name in sorted(arrays):
        content.update(name.encode())
        content.update(arrays[name].astype(np.float16).tobytes())
    return content.hexdigest()[:16]


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
