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


@pytest.mark.parametrize("eight_bits", [False, True])
def test_a_file_of_many_small_arrays_is_little_larger_than_they_are(
    tmp_path: Path, eight_bits: bool
) -> None:
    many = {f"layer.{k}.A": DRAW.normal(size=(8, 16)).astype(np.float32) for k in range(300)}
    save_arrays(tmp_path / "a.npz", many, eight_bits)
    assert (tmp_path / "a.npz").stat().st_size < 300 * (2 * 8 * 16 + 16)


def test_no_arrays_and_empty_and_single_values_come_back(tmp_path: Path) -> None:
    for arrays in ({}, {"none": np.empty((0, 4), np.float32), "one": np.array(2.5, np.float32)}):
        save_arrays(tmp_path / "a.npz", arrays, eight_bits=True)
        found = load_arrays(tmp_path / "a.npz")
        assert {name: one.tolist() for name, one in found.items()} == {
            name: one.tolist() for name, one in arrays.items()
        }
        assert all(found[name].shape == arrays[name].shape for name in arrays)


def test_a_file_with_an_array_a_member_as_older_versions_wrote_it_is_read(tmp_path: Path) -> None:
    scale = np.array([0.5, 0.25], np.float16)
    members = {
        "a": np.array([[2, -4], [8, 0]], np.int8),
        "a|scale": scale,
        "b": np.ones(3, np.float16),
    }
    np.savez_compressed(tmp_path / "a.npz", **members)
    found = load_arrays(tmp_path / "a.npz")
    assert {name: one.tolist() for name, one in found.items()} == {
        "a": [[1, -2], [2, 0]],
        "b": [1, 1, 1],
    }


def test_shapes_that_do_not_add_up_are_damage(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", ARRAYS)
    with np.load(tmp_path / "a.npz") as kept:
        short = {**kept, "halves": kept["halves"][:, :-1]}
    np.savez_compressed(tmp_path / "a.npz", **short)
    with pytest.raises(InputError, match=r"a\.npz: damaged \(ValueError"):
        load_arrays(tmp_path / "a.npz")


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
