"""Every parser of files and texts of others on changed inputs; `python -m attack.fuzz --help`.

One line a parser: how many inputs, how many faults, the slowest. A fault is an exception that is no
refusal, or an input that takes longer than `SLOW` seconds; its input is kept in `build/fuzz`.
"""

import hashlib
import random
import signal
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from attack.mutation import mutated
from attack.targets import REFUSALS, TARGETS, Target

SLOW = 5.0
"""Processor seconds for an input of at most 20,000 bytes."""
KEPT = Path("build") / "fuzz"


class TooSlowError(Exception):
    """An input took longer than it may."""


@dataclass
class Fuzzed:
    """What the inputs of one parser did."""

    inputs: int = 0
    refused: int = 0
    slowest: float = 0.0
    faults: dict[str, bytes] = field(default_factory=dict)
    """What was raised, and the first input that raised it there."""
    places: set[str] = field(default_factory=set)


def fuzz(target: Target, seconds: float, seed: int = 0, most: int | None = None) -> Fuzzed:
    """Run a parser on changed seeds for some seconds, or at most so many inputs."""
    chance, ends = random.Random(seed), time.monotonic() + seconds

    def changed() -> Iterator[bytes]:
        while time.monotonic() < ends:
            yield mutated(target.seeds, chance)

    return tried(target, islice(changed(), most))


def tried(target: Target, inputs: Iterable[bytes]) -> Fuzzed:
    """Run a parser on inputs."""
    found = Fuzzed()
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for content in inputs:
            _one(target, content, Path(folder), found)
    return found


def _one(target: Target, content: bytes, folder: Path, found: Fuzzed) -> None:
    found.inputs += 1
    began = time.process_time()
    try:
        with _limited():
            target.run(content, folder)
    except REFUSALS:
        found.refused += 1
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        place = f"{Path(last.filename).name}:{last.lineno}"
        if place not in found.places:
            found.places.add(place)
            found.faults[f"{place}: {type(error).__name__}: {str(error)[:120]}"] = content
    found.slowest = max(found.slowest, time.process_time() - began)


@contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlowError(f"takes longer than {SLOW} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def main(
    seconds: Annotated[float, typer.Option(help="For each parser.")] = 60.0,
    only: Annotated[list[str] | None, typer.Option(help="Name of a parser; repeatable.")] = None,
    seed: Annotated[int, typer.Option(help="Other changes for another number.")] = 0,
) -> None:
    """Fuzz the parsers one after the other; ends with 1 where there was a fault."""
    faults = 0
    for name in only or TARGETS:
        found = fuzz(TARGETS[name], seconds, seed)
        faults += len(found.faults)
        print(
            f"{name:<14} {found.inputs:>8,} inputs  {found.refused:>8,} refused  "
            f"{len(found.faults):>3} faults  slowest {found.slowest:.2f} s",
            flush=True,
        )
        for said, content in found.faults.items():
            KEPT.mkdir(parents=True, exist_ok=True)
            file = KEPT / f"{name.replace(' ', '-')}-{hashlib.sha256(content).hexdigest()[:12]}"
            file.write_bytes(content)
            print(f"  {said!a}  {file}")
    if faults:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
