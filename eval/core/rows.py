"""Rows of a long run, appended to a file, so that a stopped run can resume."""

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, Protocol, TypeVar


class KeptRow(Protocol):
    """A pydantic model with the hash of what it depends on besides its case."""

    run: str

    @classmethod
    def model_validate_json(cls, json_data: str) -> "KeptRow":
        """The row parsed from a line; ValueError if invalid."""
        ...

    def model_dump_json(self) -> str:
        """The row as one line."""
        ...


R = TypeVar("R", bound=KeptRow)


class KeptRows(Generic[R]):
    """Rows by key, in memory and in a file; rows of other runs in the file are ignored."""

    def __init__(
        self, path: Path | None, kind: type[R], run: str, key: Callable[[R], Hashable]
    ) -> None:
        self._path = path
        self._key = key
        self._rows: dict[Hashable, R] = {}
        self._gap = ""
        if path is not None and path.exists():
            text = path.read_text(encoding="utf-8")
            self._gap = "" if text.endswith("\n") or not text else "\n"
            for line in text.splitlines():
                try:
                    row = kind.model_validate_json(line)
                except ValueError:
                    continue  # the last line of a run that was killed while writing
                if isinstance(row, kind) and row.run == run:
                    self._rows[key(row)] = row

    def __contains__(self, key: Hashable) -> bool:
        return key in self._rows

    def __getitem__(self, key: Hashable) -> R:
        return self._rows[key]

    def add(self, row: R) -> None:
        """Keep a row, in the file too."""
        self._rows[self._key(row)] = row
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{self._gap}{row.model_dump_json()}\n")
            self._gap = ""
