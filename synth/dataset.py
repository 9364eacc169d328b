"""Whole data sets: people and requests from a provider, checked and written one by one.

Each person follows from the seed and their number alone, so processes, threads or a Dask cluster
can share the work and the files are the same byte for byte. Only people in progress are in memory.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ctrag.errors import InputError
from ctrag.toolbox import Toolbox
from stores.compressed import kept
from stores.files import replacing
from stores.people.app_spec import AppSpec, packaged_apps, write_apps
from stores.people.dataset import QUERIES, Persona, load_dataset
from synth.checks import SeenTexts
from synth.job import Job, MadePerson
from synth.provider import Provider
from synth.shape import PAPER_PERSONAS
from synth.toolbox import write_toolbox
from synth.workers import in_order
from synth.writing import Folders, write_requests

PARTS = ("train", "test")

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Made:
    """What was written."""

    personas: int
    requests: int
    rejected: dict[str, int]
    """Requests that were made and rejected, by reason."""
    seconds: float
    parts: dict[str, dict[str, int]] = field(default_factory=dict)
    """Personas and requests of each folder."""

    def as_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def lines(self) -> list[str]:
        """As lines of text."""
        found = [
            f"{name}: {one['personas']:,} people, {one['requests']:,} requests"
            for name, one in self.parts.items()
        ]
        thrown = ", ".join(f"{name} {count}" for name, count in self.rejected.items())
        return [*found, f"{self.seconds:.0f} s; made and rejected: {thrown or 'nothing'}"]


def make_dataset(
    provider: Provider,
    out: Path,
    personas: int = PAPER_PERSONAS,
    seed: int = 1,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    apps: Sequence[AppSpec] | None = None,
    toolbox: Toolbox | None = None,
    progress: Progress = lambda _: None,
) -> Made:
    """Write `train/` and `test/` into a folder; no person is in both.

    Args:
        provider: Makes people and requests.
        out: Created when missing; must not hold `train` or `test` yet.
        personas: How many people; 791 give the paper's sizes.
        seed: The same seed gives the same bytes.
        scheduler: A Dask scheduler's address, or "local" for a cluster on this machine; processes
            of this machine when None.
        workers: How many processes; one per core when None.
        apps: Applications; the packaged seven when None.
        toolbox: The APIs; the packaged ones when None.
        progress: Called with progress messages.

    Raises:
        ValueError: `personas` is not positive, or `out` holds a data set.
    """
    began = time.perf_counter()
    if personas < 1:
        raise InputError(f"personas: must be 1 or more, not {personas}")
    taken = [part for part in PARTS if (out / part).exists()]
    if taken:
        raise InputError(f"out: {out} holds {taken[0]} already; remove it or give another folder")
    job = _job(provider, seed, apps, toolbox)
    counts: dict[str, Counter[str]] = {part: Counter() for part in PARTS}
    with Folders(out, PARTS) as folders:
        made = in_order(job.person, range(personas), job.provider.workers, scheduler, workers)
        for person in _with_progress(made, personas, progress):
            part = "test" if person.test else "train"
            counts[part].update(folders.write(part, person, person.wanted))
        for part in PARTS:
            _declare(folders.folder(part), job)
        folders.keep()
    return _made(counts, began)


def make_personas(
    provider: Provider,
    out: Path,
    personas: int,
    seed: int = 1,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    apps: Sequence[AppSpec] | None = None,
    toolbox: Toolbox | None = None,
    progress: Progress = lambda _: None,
) -> Made:
    """Write a folder of people without requests. Arguments and errors as for `make_dataset`."""
    began = time.perf_counter()
    if personas < 1:
        raise InputError(f"personas: must be 1 or more, not {personas}")
    if out.exists():
        raise InputError(f"out: {out} exists already; give another folder")
    job = _job(provider, seed, apps, toolbox)
    counts: Counter[str] = Counter()
    with Folders(out.parent, (out.name,)) as folders:
        task = partial(job.person, asks=False)
        made = in_order(task, range(personas), job.provider.workers, scheduler, workers)
        for person in _with_progress(made, personas, progress):
            counts.update(folders.write(out.name, person, 0))
        _declare(folders.folder(out.name), job)
        folders.keep()
    return _made({out.name: counts}, began)


def make_queries(
    provider: Provider,
    out: Path,
    seed: int = 1,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    apps: Sequence[AppSpec] | None = None,
    toolbox: Toolbox | None = None,
    progress: Progress = lambda _: None,
) -> Made:
    """Write requests for the people in a folder, with the APIs they are about.

    Arguments as for `make_dataset`.

    Raises:
        FileNotFoundError: There is no `personas.jsonl`.
        ValueError: `personas.jsonl` breaks a rule, or `out` holds requests already.
    """
    began = time.perf_counter()
    path = out / QUERIES
    if kept(path).exists() and kept(path).stat().st_size:
        raise InputError(f"out: {path} holds requests already; move it away to have others made")
    job = _job(provider, seed, apps, toolbox)
    people = load_dataset(out, job.apps).personas
    task = partial(_asked, job)
    numbered = list(enumerate(people))
    counts: Counter[str] = Counter()
    seen = SeenTexts()
    with replacing(path, "w") as file:
        made = in_order(task, numbered, job.provider.workers, scheduler, workers)
        for person in _with_progress(made, len(people), progress):
            counts.update(write_requests(file, person, person.wanted, seen))
            counts["personas"] += 1
        _declare(out, job)
    return _made({out.name: counts}, began)


def _job(
    provider: Provider,
    seed: int,
    apps: Sequence[AppSpec] | None,
    toolbox: Toolbox | None,
) -> Job:
    known = packaged_apps() if apps is None else tuple(apps)
    return Job(provider, seed, known, Toolbox.packaged() if toolbox is None else toolbox)


def _declare(folder: Path, job: Job) -> None:
    """Write applications and APIs next to the people unless they are the packaged ones."""
    write_apps(folder, job.apps)
    if job.toolbox.tools != Toolbox.packaged().tools:
        write_toolbox(folder, job.toolbox)


def _asked(job: Job, numbered: tuple[int, Persona]) -> MadePerson:
    number, persona = numbered
    return job.asked(persona, number)


def _with_progress(
    made: Iterator[MadePerson], count: int, progress: Progress
) -> Iterator[MadePerson]:
    spoken = time.monotonic()
    for number, person in enumerate(made, start=1):
        yield person
        if time.monotonic() - spoken > 2:
            spoken = time.monotonic()
            progress(f"{number} of {count} people")


def _made(counts: Mapping[str, Counter[str]], began: float) -> Made:
    total: Counter[str] = Counter()
    for one in counts.values():
        total.update(one)
    prefix = "rejected "
    return Made(
        personas=total["personas"],
        requests=total["requests"],
        rejected={
            name.removeprefix(prefix): count
            for name, count in sorted(total.items())
            if name.startswith(prefix)
        },
        seconds=round(time.perf_counter() - began, 2),
        parts={
            name: {"personas": one["personas"], "requests": one["requests"]}
            for name, one in counts.items()
        },
    )
