"""The JSON result of an experiment: figures with everything needed to reproduce them."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ctrag.errors import InputError, NotFound
from stores.compressed import SUFFIX, kept, read_kept
from stores.files import write_text

LIBRARIES = (
    "ctrag",
    "numpy",
    "scipy",
    "duckdb",
    "ir-measures",
    "lightgbm",
    "scikit-learn",
    "torch",
    "transformers",
    "sentence-transformers",
    "onnxruntime",
    "llguidance",
    "bm25s",
)
"""Distributions whose versions can change a figure."""


class Experiment(BaseModel):
    """One experiment's result; percentages run 0-100."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    experiment: str
    """Which one: context, tools, planner, ..."""
    data: str | None
    """The data folder as the user gave it; None if there was none."""
    data_sha256: str | None
    seed: int
    versions: dict[str, str]
    settings: dict[str, JsonValue]
    figures: dict[str, JsonValue]
    """Methods only, each with its measures."""
    intervals: dict[str, JsonValue] = Field(default_factory=dict)
    """Bounds [low, high] under the keys of `figures`."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Breakdowns and ablations."""
    skipped: dict[str, str] = Field(default_factory=dict)
    """Per method that could not run, the reason."""
    seconds: float

    def write(self, path: Path | str) -> None:
        """Write the file whole or not at all.

        Raises:
            FileNotFoundError: if the folder does not exist.
            ValueError: if a figure is not finite, which JSON cannot represent.
        """
        path = Path(path)
        if not path.parent.is_dir():
            raise NotFound(f"{path}: the folder {path.parent} does not exist")
        try:
            text = json.dumps(self.model_dump(), indent=2, ensure_ascii=False, allow_nan=False)
        except ValueError as error:
            raise InputError(f"{path}: a figure is infinite or not a number") from error
        write_text(path, f"{text}\n")


def hash_of(data: Path) -> str:
    """Hash of a data folder, or of one file such as a recording."""
    return _file_sha256(data) if data.is_file() else data_sha256(data)


def folders_sha256(folders: Sequence[Path]) -> str:
    """One hash of several data folders or files: of one its own, else that of their hashes."""
    own = [hash_of(folder) for folder in folders]
    return own[0] if len(own) == 1 else hashlib.sha256("".join(own).encode()).hexdigest()


def data_sha256(folder: Path | str) -> str:
    """Hash a data folder: what `sha256sum FILES | sha256sum` prints inside it.

    FILES are, of a data set, apps.yaml, personas.jsonl, queries.jsonl and toolbox.yaml, where
    there; of a folder without personas.jsonl all *.json, *.jsonl and *.yaml at its top; sorted by
    name. A compressed file counts under its plain name, by its content.

    Raises:
        ValueError: if the folder does not exist or holds none of these files.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder")
    if kept(folder / "personas.jsonl").is_file():
        names = ["apps.yaml", "personas.jsonl", "queries.jsonl", "toolbox.yaml"]
    else:
        found = {path.name.removesuffix(SUFFIX) for path in folder.iterdir() if path.is_file()}
        names = sorted(name for name in found if name.endswith((".json", ".jsonl", ".yaml")))
    files = [folder / name for name in names if kept(folder / name).is_file()]
    if not files:
        raise InputError(f"{folder}: holds no *.json, *.jsonl or *.yaml file")
    lines = (f"{_file_sha256(path)}  {path.name}\n" for path in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of those of LIBRARIES that are installed."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _file_sha256(path: Path) -> str:
    return hashlib.sha256(read_kept(path)).hexdigest()
