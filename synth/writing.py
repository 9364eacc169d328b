"""A data set being written: it grows under a temporary name and gets its own by one rename.

After each person a line of a state file says how long every file is. So a run that was killed is
taken up after its last whole person, and gives the same bytes as one that was not.
"""

import fcntl
import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from ctrag.errors import InputError
from stores.files import sync, write_text
from stores.people.dataset import DIALOGUES, PERSONAS, QUERIES, SEVERAL
from synth.checks import SeenTexts
from synth.job import MadePerson

LEVELS = "levels.json"
_FILES = (PERSONAS, QUERIES, SEVERAL, DIALOGUES)
_STATE = "state.jsonl"


class Growing:
    """Data set folders that become visible together once everything is written."""

    def __init__(self, out: Path, parts: Sequence[str], settings: Mapping[str, Any]) -> None:
        """Nothing is touched before the block begins.

        Args:
            out: The folder that there will be; missing, or empty.
            parts: Names of the data sets in it; `.` for the folder itself.
            settings: What the content follows from; a killed run of others is thrown away.

        Raises:
            ValueError: `out` holds something.
        """
        self._out, self._parts, self._settings = out, parts, dict(settings)
        self._folder = out.parent / f".{out.name}.growing"
        self._files: dict[str, IO[bytes]] = {}
        self._stack = ExitStack()
        self._seen = SeenTexts()
        self._levels: dict[str, dict[str, str]] = {part: {} for part in parts}
        self.counts: dict[str, Counter[str]] = {part: Counter() for part in parts}
        """What was written and left out, by part; also by a run before."""
        self.done = 0
        """People that a killed run has written."""
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            held = next(iter(sorted(one.name for one in out.iterdir())), "") if out.is_dir() else ""
            raise InputError(f"out: {out} holds {held} already; remove it or give another folder")

    def __enter__(self) -> "Growing":
        self._folder.mkdir(parents=True, exist_ok=True)
        self._state = self._stack.enter_context((self._folder / _STATE).open("a+b"))
        try:
            fcntl.flock(self._state, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._stack.close()
            raise InputError(f"out: another run is writing {self._out}; wait for it") from None
        for part in self._parts:
            (self._folder / part).mkdir(exist_ok=True)
            for name in _FILES:
                path = self._folder / part / name
                file = self._stack.enter_context(path.open("a+b"))
                self._files[f"{part}/{name}"] = file
        self._take_up()
        return self

    def folder(self, part: str) -> Path:
        """Where a part is being written."""
        return self._folder / part

    def write(self, part: str, person: MadePerson) -> None:
        """Write a person with the wanted numbers of requests."""
        owner = json.loads(person.persona)["persona_id"]
        counts = Counter({f"rejected {name}": count for name, count in person.rejected.items()})
        levels: dict[str, str] = {}
        lines = chosen(person, person.wanted, self._seen, counts, levels)
        self._put(part, QUERIES, lines)
        several, dialogues = person.talks
        self._put(part, SEVERAL, _talks(owner, "v", person.several, several, self._seen, counts))
        self._put(
            part, DIALOGUES, _talks(owner, "d", person.dialogues, dialogues, self._seen, counts)
        )
        self._put(part, PERSONAS, [person.persona])
        self._levels[part] |= levels
        counts["personas"] += 1
        self.counts[part].update(counts)
        for file in self._files.values():
            file.flush()
        sizes = {name: file.tell() for name, file in self._files.items()}
        row = {"part": part, "sizes": sizes, "counts": dict(counts), "levels": levels}
        self._state.write(json.dumps(row).encode() + b"\n")
        self._state.flush()

    def keep(self) -> None:
        """Give the data set its name: from here on it is there, whole."""
        for part in self._parts:
            for name in _FILES:
                path = self._folder / part / name
                if not path.stat().st_size and name in (SEVERAL, DIALOGUES):
                    path.unlink()
                else:
                    sync(path)
            if any(self._levels[part].values()):
                write_text(self._folder / part / LEVELS, json.dumps(self._levels[part]) + "\n")
        (self._folder / _STATE).unlink()
        with suppress(FileNotFoundError):
            self._out.rmdir()  # empty, or the rename below would fail
        self._folder.rename(self._out)
        sync(self._out.parent)

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        with suppress(OSError):
            if not self._state_size():
                shutil.rmtree(self._folder, ignore_errors=True)

    def _state_size(self) -> int:
        """Whether a later run has anything to go on from."""
        path = self._folder / _STATE
        return path.read_bytes().count(b"\n") - 1 if path.is_file() else 1

    def _put(self, part: str, name: str, lines: Sequence[str]) -> None:
        self._files[f"{part}/{name}"].write("".join(f"{line}\n" for line in lines).encode())

    def _take_up(self) -> None:
        """Go on after the last whole person of a run with the same settings; else begin."""
        self._state.seek(0)
        first, *rows = self._state.read().split(b"\n")[:-1] or [b""]
        settings = json.dumps(self._settings, sort_keys=True).encode()
        if first != settings:
            rows = []
            self._state.truncate(0)
            self._state.write(settings + b"\n")
            self._state.flush()
        sizes: dict[str, int] = {}
        for row in map(json.loads, rows):
            sizes = row["sizes"]
            self.counts[row["part"]].update(row["counts"])
            self._levels[row["part"]] |= row["levels"]
            self.done += 1
        for name, file in self._files.items():
            file.truncate(sizes.get(name, 0))
            file.seek(0)
            if name.endswith((QUERIES, SEVERAL)):
                for line in file:
                    self._seen.add(json.loads(line)["text"])
            file.seek(0, os.SEEK_END)


def chosen(
    person: MadePerson,
    wanted: int,
    seen: SeenTexts,
    counts: Counter[str],
    levels: dict[str, str] | None = None,
) -> list[str]:
    """Lines of `queries.jsonl`: so many of a person's requests, with new texts.

    Args:
        person: The person.
        wanted: How many.
        seen: The texts so far; those chosen are added.
        counts: What was chosen and left out is added.
        levels: Query id → level is added, where it is known.
    """
    owner = json.loads(person.persona)["persona_id"]
    known = person.levels or ("",) * len(person.requests)
    found: list[str] = []
    for (text, rest), level in zip(person.requests, known, strict=True):
        if len(found) == wanted:
            break
        if not seen.add(text):
            counts["rejected repeat"] += 1
            continue
        query_id = f"{owner}-q{len(found) + 1}"
        line = {"query_id": query_id, "persona_id": owner, **rest}
        found.append(json.dumps(line, ensure_ascii=False))
        if levels is not None and level:
            levels[query_id] = level
    counts["requests"] += len(found)
    return found


def _talks(
    owner: str,
    letter: str,
    options: Sequence[tuple[str, dict[str, Any]]],
    wanted: int,
    seen: SeenTexts,
    counts: Counter[str],
) -> list[str]:
    """Lines of requests for several calls, or of dialogues."""
    found: list[str] = []
    for text, rest in options:
        if len(found) < wanted and (letter == "d" or seen.add(text)):
            line = {"query_id": f"{owner}-{letter}{len(found) + 1}", "persona_id": owner, **rest}
            found.append(json.dumps(line, ensure_ascii=False))
    counts["several" if letter == "v" else "dialogues"] += len(found)
    return found
