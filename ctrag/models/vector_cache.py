"""Vectors of texts on disk, shared by processes."""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from ctrag.models.encoder import Encoder, Matrix

_AT_ONCE = 500
_TIMEOUT = 10.0


class CachedEncoder:
    """An encoder that caches vectors by the hash of their text.

    Tools go through `encode`. Requests go through `encode_new`, which caches nothing without
    `keep_requests`. A cache that cannot be used (damaged, locked, a full disk) is ignored.
    """

    def __init__(self, encoder: Encoder, folder: Path, *, keep_requests: bool = False) -> None:
        self.keep_requests = keep_requests
        self.name = encoder.name
        self.encoder = encoder
        safe = "".join(one if one.isalnum() or one in "-+." else "_" for one in encoder.name)
        self.path = folder / f"tool-vectors-{safe}.sqlite"

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`."""
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        held = self._read(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in held}
        if new:
            held.update(self._made(new))
        if len({len(one) for one in held.values()}) > 1:  # cut off, or another encoder's
            held = self._made(dict(zip(keys, texts, strict=True)))
        return np.stack([held[key] for key in keys]) if keys else self.encoder.encode([])

    def encode_new(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`; vectors of requests, which are cached only with `keep_requests`."""
        return self.encode(texts) if self.keep_requests else self.encoder.encode(texts)

    def _made(self, new: dict[bytes, str]) -> dict[bytes, Matrix]:
        made = dict(zip(new, self.encoder.encode(list(new.values())), strict=True))
        self._write(made)
        return made

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        held: dict[bytes, Matrix] = {}
        if not self.path.exists():
            return held
        try:
            with closing(sqlite3.connect(self.path, timeout=_TIMEOUT)) as connection:
                for start in range(0, len(keys), _AT_ONCE):
                    some = list(keys[start : start + _AT_ONCE])
                    marks = ",".join("?" * len(some))
                    rows = connection.execute(
                        f"SELECT hash, vector FROM vectors WHERE hash IN ({marks})", some
                    )
                    held.update((key, np.frombuffer(b, np.float32)) for key, b in rows if _whole(b))
        except sqlite3.Error:
            return {}
        return held

    def _write(self, made: dict[bytes, Matrix]) -> None:
        rows = [(key, np.asarray(one, np.float32).tobytes()) for key, one in made.items()]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_TIMEOUT)) as connection, connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (hash BLOB PRIMARY KEY, vector BLOB)"
                )
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except (sqlite3.Error, OSError):
            return  # the next process encodes them again


def _whole(blob: object) -> bool:
    """Whether what is stored is a vector of finite numbers."""
    if not isinstance(blob, bytes) or not blob or len(blob) % 4:
        return False
    return bool(np.isfinite(np.frombuffer(blob, np.float32)).all())
