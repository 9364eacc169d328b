"""Claims about arrays that are kept in few bits."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ctrag.errors import InputError
from ctrag.models.arrays import arrays_digest, load_arrays, save_arrays

DRAW = np.random.default_rng(0)
ARRAYS = {
    "large": DRAW.normal(size=(64, 128)).astype(np.float32),
    "small": DRAW.normal(size=(3, 4)).astype(np.float32),
    "row": DRAW.normal(size=5000).astype(np.float32),
    "zero": np.zeros((64, 128), np.float32),
}


def test_half_precision_is_kept_by_default(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", ARRAYS)
    found = load_arrays(tmp_path / "a.npz")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert np.array_equal(found[name], array.astype(np.float16).astype(np.float32))


def test_large_matrices_in_eight_bits_are_right_to_half_a_step(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", ARRAYS, eight_bits=True)
    found = load_arrays(tmp_path / "a.npz")
    assert found.keys() == ARRAYS.keys()
    step = np.abs(ARRAYS["large"]).max(axis=1, keepdims=True) / 127
    assert (np.abs(found["large"] - ARRAYS["large"]) <= 0.52 * step).all()
    assert not found["zero"].any()
    assert np.array_equal(found["small"], ARRAYS["small"].astype(np.float16).astype(np.float32))
    assert (tmp_path / "a.npz").stat().st_size < 4 * 64 * 128


def test_saving_again_what_was_loaded_changes_nothing(tmp_path: Path) -> None:
    for name, arrays in (("a", ARRAYS), ("b", None)):
        given = load_arrays(tmp_path / "a.npz") if arrays is None else arrays
        save_arrays(tmp_path / f"{name}.npz", given, eight_bits=True)
    first, again = load_arrays(tmp_path / "a.npz"), load_arrays(tmp_path / "b.npz")
    assert all(np.array_equal(first[name], again[name]) for name in first)
    digests = {arrays_digest("x", one, eight_bits=True) for one in (ARRAYS, first, again)}
    assert len(digests) == 1
    assert arrays_digest("y", ARRAYS, eight_bits=True) not in digests


def _saved(path: Path) -> bytes:
    save_arrays(path, {"a": np.arange(9, dtype=np.float32).reshape(3, 3)})
    return path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: b"junk" * 20,
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:50] + b"\xff" * 30 + whole[80:],
        lambda whole: whole[:-40] + bytes(40),
    ],
)
def test_a_damaged_file_is_told_by_its_name(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "adapter.npz"
    path.write_bytes(damage(_saved(path)))
    with pytest.raises(InputError, match=r"adapter\.npz: damaged \("):
        load_arrays(path)


def test_a_single_array_a_pickle_and_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "adapter.npz"
    with path.open("wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(InputError, match="damaged"):
        load_arrays(path)
    with path.open("wb") as file:
        np.savez(file, a=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="allow_pickle=False"):
        load_arrays(path)
    save_arrays(path, {"a": np.full((2, 2), np.nan, np.float32)})
    with pytest.raises(InputError, match="a holds values that are no finite numbers"):
        load_arrays(path)
