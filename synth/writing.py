"""Data set folders with temporary names, renamed once everything is written."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TextIO

from stores.files import sync
from stores.people.dataset import PERSONAS, QUERIES
from synth.checks import SeenTexts
from synth.job import MadePerson


class Folders:
    """Data set folders with temporary names, renamed by `keep` once everything is written."""

    def __init__(self, out: Path, names: Sequence[str]) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._out, self._names = out, names
        self._files: dict[str, tuple[TextIO, TextIO]] = {}
        self._seen = SeenTexts()
        self._stack = ExitStack()

    def __enter__(self) -> "Folders":
        for name in self._names:
            for left in self._out.glob(f".{name}.*.tmp"):  # left by a killed run
                shutil.rmtree(left, ignore_errors=True)
            folder = self.folder(name)
            folder.mkdir()
            first, second = (
                self._stack.enter_context((folder / file).open("w", encoding="utf-8"))
                for file in (PERSONAS, QUERIES)
            )
            self._files[name] = first, second
        return self

    def folder(self, name: str) -> Path:
        """The temporary path of a folder."""
        return self._out / f".{name}.{os.getpid()}.tmp"

    def write(self, name: str, person: MadePerson, wanted: int) -> Counter[str]:
        """Write a person and `wanted` requests; return counts of what was written and left out."""
        personas, queries = self._files[name]
        personas.write(person.persona + "\n")
        counts = write_requests(queries, person, wanted, self._seen)
        counts["personas"] += 1
        return counts

    def keep(self) -> None:
        """Rename the folders to their final names."""
        self._stack.close()
        for name in self._names:
            for path in self.folder(name).iterdir():
                sync(path)
            self.folder(name).rename(self._out / name)
        sync(self._out)

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        for name in self._names:
            shutil.rmtree(self.folder(name), ignore_errors=True)


def write_requests(file: IO[str], person: MadePerson, wanted: int, seen: SeenTexts) -> Counter[str]:
    """Write `wanted` requests with new texts; return counts of written and left out."""
    counts = Counter({f"rejected {name}": count for name, count in person.rejected.items()})
    owner = json.loads(person.persona)["persona_id"]
    for text, rest in person.requests:
        if counts["requests"] == wanted:
            break
        if not seen.add(text):
            counts["rejected repeat"] += 1
            continue
        counts["requests"] += 1
        line = {"query_id": f"{owner}-q{counts['requests']}", "persona_id": owner, **rest}
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return counts
