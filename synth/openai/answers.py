"""A disk cache of answers, so that nothing is paid for twice."""

import json
import sqlite3
import threading
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from ctrag.errors import InputError

_FILE = "answers.sqlite"
_PATIENCE = 60.0
"""Seconds to wait for other processes that write."""


class Answers:
    """One SQLite file; each answer is on disk before it is used.

    Several threads and processes may share the folder.
    """

    def __init__(self, folder: Path) -> None:
        """Open the cache in `folder`, which is created when missing.

        Raises:
            OSError: The folder cannot be created.
            ValueError: The file is not a cache of answers.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / _FILE
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(self.path, _PATIENCE, check_same_thread=False)
        try:
            with self._connection as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, "
                    "answer TEXT NOT NULL, cut INTEGER NOT NULL, "
                    "prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL)"
                )
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise InputError(f"{self.path}: {error}; remove the file to start over") from None

    def get(self, key: str) -> tuple[str, bool] | None:
        """(answer, whether it was truncated), or None."""
        with self._lock:
            row = self._connection.execute(
                "SELECT answer, cut FROM answers WHERE key = ?", [key]
            ).fetchone()
        return None if row is None else (str(row[0]), bool(row[1]))

    def put(self, key: str, answer: str, cut: bool, prompt: int, completion: int) -> None:
        """Store an answer with its tokens; the first one of a key is kept."""
        with self._lock, self._connection as connection:
            connection.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)",
                [key, answer, int(cut), prompt, completion],
            )

    def drop(self, keys: Iterable[str]) -> None:
        """Delete unusable answers, so that a rerun asks again."""
        with self._lock, self._connection as connection:
            connection.executemany("DELETE FROM answers WHERE key = ?", [[key] for key in keys])

    def __len__(self) -> int:
        with self._lock:
            return int(self._connection.execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def key_of(*parts: Any) -> str:
    """A key that changes with any part of a question."""
    return sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
