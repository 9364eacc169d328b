"""Six people of dev, and the packaged encoder that remembers what it has encoded."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.models.encoder import Matrix, load_encoder
from stores.compressed import read_kept
from synth.reference import split_folder


def copied(
    folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]] = lambda row: row
) -> Path:
    """The first six people of dev with their requests, each line through `change`."""
    source = split_folder("dev")
    people = read_kept(source / "personas.jsonl").decode().splitlines()[:6]
    known = {json.loads(line)["persona_id"] for line in people}
    asked = map(json.loads, read_kept(source / "queries.jsonl").decode().splitlines())
    rows = [json.dumps(change(row)) for row in asked if row["persona_id"] in known]
    folder.mkdir()
    (folder / "personas.jsonl").write_text("\n".join(people) + "\n", encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


class Remembering:
    """The packaged encoder; a text is encoded once, because the same six people come often."""

    def __init__(self) -> None:
        self.name = load_encoder().name
        self._known: dict[str, Matrix] = {}

    def encode(self, texts: Sequence[str]) -> Matrix:
        fresh = list(dict.fromkeys(text for text in texts if text not in self._known))
        self._known |= dict(zip(fresh, load_encoder().encode(fresh), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(-1, 1152)

    def __getattr__(self, name: str) -> Any:
        return getattr(load_encoder(), name)  # requests are read again
