"""Stores whose writer is killed at any moment: what was confirmed is there, what was not is whole.

`python -m attack.kills FOLDER` is the writer; `kill_loop` starts and kills it.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from stores.people.changes import Change
from stores.people.dataset import Persona
from stores.people.item_rows import StoredItem
from stores.people.items import Item, Person, Profile
from stores.people.stores import Matrix, Stores

AT = datetime(2025, 4, 17, 12)
SECRET = "Forgotten Person"
ROOT = Path(__file__).parents[1]


def _note(item_id: str) -> Item:
    return Item(
        item_id, "notes", {"title": item_id, "body": "x" * 500, "folder": "f", "modified_at": AT}
    )


def _zeros(owned: Sequence[Any]) -> Matrix:
    return np.zeros((len(owned), 8), np.float32)


def _persona(person: str, name: str, *items: str) -> Persona:
    return Persona(Person(person, AT, Profile(name)), tuple(map(_note, items)))


def write_endlessly(root: Path) -> None:
    """Write notes, import people and forget them; each is announced before and confirmed after."""
    stores = Stores(root)
    number = int(time.time_ns())
    if not stores.exists():
        stores.import_personas([_persona("a", "Ada", "a-0")], _zeros, "zeros")
    while True:
        number += 1
        key = f"a-{number}"
        _say(f"begins {key}")
        stored = StoredItem(_note(key), np.zeros(8, np.float32))
        stores.apply("a", "notes", Change(f"add {key}", put=[stored]), AT)
        _say(f"done {key}")
        if number % 3 == 0:
            stores.import_personas([_persona("c", SECRET, f"c-{number}")], _zeros, "zeros")
            _say("begins forgotten")
            stores.forget("c")
            _say("done forgotten")


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def kill_loop(root: Path, kills: int, seed: int = 1) -> list[str]:
    """Kill the writer that many times; what was lost, damaged or not forgotten, in words."""
    chance, wrong = random.Random(seed), []
    confirmed: set[str] = set()
    for kill in range(kills):
        lines = _killed(root, chance.uniform(0.0, 0.6))
        confirmed |= {one[5:] for one in lines if one.startswith("done a-")}
        found = Stores.open(root).items("a")
        held = {stored.item.id for stored in found.items}
        begun = {one[7:] for one in lines if one.startswith("begins a-")}
        if found.unavailable:
            wrong.append(f"kill {kill}: not readable: {found.unavailable}")
        if lost := confirmed - held:
            wrong.append(f"kill {kill}: {len(lost)} confirmed notes lost")
        confirmed |= begun & held
        if lines and lines[-1] == "done forgotten" and (left := _files_with(root, SECRET)):
            wrong.append(f"kill {kill}: a forgotten person is in {left[0].name}")
    return wrong


def _killed(root: Path, seconds: float) -> list[str]:
    """What the writer said until it was killed so many seconds after its first line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "attack.kills", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=ROOT) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read()
    return (first + rest).decode().splitlines()


def _files_with(root: Path, text: str) -> list[Path]:
    return [one for one in root.rglob("*") if one.is_file() and text.encode() in one.read_bytes()]


if __name__ == "__main__":
    write_endlessly(Path(sys.argv[1]))
