"""An encoder that remembers: a text is encoded once, and never again by a later run."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from ctrag.encoder import Encoder, Matrix

_AT_ONCE = 256


class RememberingEncoder:
    """An encoder with a file of the vectors that it made, written every few hundred texts."""

    def __init__(self, encoder: Encoder, file: Path | None = None) -> None:
        self.name = encoder.name
        self._encoder = encoder
        self._file = file
        self._known: dict[str, Matrix] = {}
        if file is not None and file.exists():
            with np.load(file) as saved:
                vectors = saved["vectors"].astype(np.float32)
                self._known = dict(zip(saved["keys"].tolist(), vectors, strict=True))

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`; remembered vectors have half precision."""
        keys = [sha256(text.encode("utf-8", "replace")).hexdigest()[:32] for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        waiting = list(fresh.items())
        for start in range(0, len(waiting), _AT_ONCE):
            part = waiting[start : start + _AT_ONCE]
            vectors = self._encoder.encode([text for _, text in part])
            halved = vectors.astype(np.float16).astype(np.float32)
            self._known |= {key: row for (key, _), row in zip(part, halved, strict=True)}
            if len(waiting) >= _AT_ONCE:
                self._write()
        if not keys:
            return self._encoder.encode([])
        return np.stack([self._known[key] for key in keys])

    def _write(self) -> None:
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_name(f".{self._file.name}")
        with temporary.open("wb") as file:
            vectors = np.stack(list(self._known.values())).astype(np.float16)
            np.savez(file, keys=np.array(list(self._known)), vectors=vectors)
        temporary.replace(self._file)
