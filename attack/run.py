"""All attacks but fuzzing, one line each; `python -m attack.run --help`."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from attack.kills import ROOT, kill_loop
from attack.leaks import leaks
from eval.discovery.load import WordVectors


def main(
    kills: Annotated[int, typer.Option(help="Kills of a writer of stores.")] = 100,
    searches: Annotated[int, typer.Option(help="Searches over HTTP.")] = 10_000,
    rules: Annotated[int, typer.Option(help="Random access rules of each kind of search.")] = 100,
) -> None:
    """Kill writers, load the gateway, search under random rules; ends with 1 where one failed."""
    failed = [
        _line("kills", lambda: _kills(kills)),
        _line("http load", lambda: _load(searches)),
        _line("leaks by words", lambda: leaks(rules)),
        _line("leaks by vectors", lambda: leaks(rules, 5, WordVectors())),
    ]
    if any(failed):
        raise typer.Exit(1)


def _line(name: str, attack: Callable[[], tuple[object, list[str]]]) -> bool:
    """Run one, print its line; whether it failed."""
    began = time.perf_counter()
    count, wrong = attack()
    said = "held" if not wrong else f"{len(wrong)} failures: {wrong[0]}"
    print(f"{name:<24} {count}  {said}  ({time.perf_counter() - began:.0f} s)", flush=True)
    return bool(wrong)


def _kills(kills: int) -> tuple[int, list[str]]:
    with TemporaryDirectory() as folder:
        return kills, kill_loop(Path(folder) / "stores", kills)


def _load(searches: int) -> tuple[str, list[str]]:
    command = [sys.executable, "-m", "benchmarks.gateway", "--searches", str(searches)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    said = ran.stdout.strip().replace("\n", "; ") or ran.stderr[-200:]
    return said, [] if ran.returncode == 0 else [f"exit code {ran.returncode}"]


if __name__ == "__main__":
    typer.run(main)
