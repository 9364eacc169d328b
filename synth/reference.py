"""The packaged people: `train` and the scenes for training, `dev` for choosing."""

from importlib.resources import files
from pathlib import Path

from ctrag.errors import InputError
from stores.compressed import open_kept

SPLITS = ("dev", "train")


def split_folder(split: str) -> Path:
    """The data set folder of a split.

    Raises:
        ValueError: There is no such split.
    """
    if split not in SPLITS:
        raise InputError(f"split: must be one of {', '.join(SPLITS)}, not {split!r}")
    return Path(str(files("synth").joinpath("data", "reference", split)))


def folder_with(person_id: str) -> Path | None:
    """The split that holds a person, or None."""
    marker = f'"persona_id": "{person_id}"'.encode()
    for split in SPLITS:
        folder = split_folder(split)
        with open_kept(folder / "personas.jsonl") as file:
            if any(marker in line[:200] for line in file):
                return folder
    return None


def scenes_folder() -> Path:
    """The packaged scenes: further people with many requests about few items, for training."""
    return Path(str(files("synth").joinpath("data", "scenes")))
