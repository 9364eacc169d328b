"""Whole data sets: people and requests from a provider, checked and written one by one.

Each person follows from the seed and their number alone, so processes, threads or a Dask cluster
can share the work and the files are the same byte for byte. Only people in progress are in memory.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
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
from synth.shape import LEVELS, PAPER_PERSONAS
from synth.toolbox import write_toolbox
from synth.workers import in_order
from synth.writing import Growing, chosen

PARTS = ("train", "test")

Progress = Callable[[str], None]
_TALKS = ("several", "dialogues")
_EVERY_SECONDS = 2.0


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
            + "".join(f", {one[kind]:,} {kind}" for kind in _TALKS if one.get(kind))
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
    levels: Mapping[str, float] | None = None,
    progress: Progress = lambda _: None,
) -> Made:
    """Write `train/` and `test/` into a folder; no person is in both.

    Args:
        provider: Makes people and requests.
        out: Created when missing; must be empty. A killed run is taken up where it stopped.
        personas: How many people; 791 give the paper's sizes.
        seed: The same seed gives the same bytes.
        scheduler: A Dask scheduler's address, or "local" for a cluster on this machine; processes
            of this machine when None.
        workers: How many processes; one per core when None.
        apps: Applications; the packaged seven when None.
        toolbox: The APIs; the packaged ones when None.
        levels: Level → share of requests; `synth.shape.LEVELS` when None.
        progress: Called with progress messages.

    Raises:
        ValueError: `personas` is not positive, or `out` holds anything.
    """
    began = time.perf_counter()
    if personas < 1:
        raise InputError(f"personas: must be 1 or more, not {personas}")
    job = _job(provider, seed, apps, toolbox, levels)
    with Growing(out, PARTS, _settings(job, personas)) as growing:
        numbers = range(growing.done, personas)
        made = in_order(job.person, numbers, job.provider.workers, scheduler, workers)
        for person in _with_progress(made, personas, progress, growing.done):
            growing.write("test" if person.test else "train", person)
        for part in PARTS:
            _declare(growing.folder(part), job)
        growing.keep()
    return _made(growing.counts, began)


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
    job = _job(provider, seed, apps, toolbox, None)
    with Growing(out, (".",), {**_settings(job, personas), "asks": False}) as growing:
        task = partial(job.person, asks=False)
        numbers = range(growing.done, personas)
        made = in_order(task, numbers, job.provider.workers, scheduler, workers)
        for person in _with_progress(made, personas, progress, growing.done):
            growing.write(".", replace(person, wanted=0, talks=(0, 0)))
        _declare(growing.folder("."), job)
        growing.keep()
    return _made({out.name: growing.counts["."]}, began)


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
    job = _job(provider, seed, apps, toolbox, None)
    people = load_dataset(out, job.apps).personas
    task = partial(_asked, job)
    numbered = list(enumerate(people))
    counts: Counter[str] = Counter()
    seen = SeenTexts()
    with replacing(path, "w") as file:
        made = in_order(task, numbered, job.provider.workers, scheduler, workers)
        for person in _with_progress(made, len(people), progress, 0):
            counts.update({f"rejected {name}": count for name, count in person.rejected.items()})
            for line in chosen(person, person.wanted, seen, counts):
                file.write(line + "\n")
            counts["personas"] += 1
        _declare(out, job)
    return _made({out.name: counts}, began)


def _job(
    provider: Provider,
    seed: int,
    apps: Sequence[AppSpec] | None,
    toolbox: Toolbox | None,
    levels: Mapping[str, float] | None,
) -> Job:
    known = packaged_apps() if apps is None else tuple(apps)
    tools = Toolbox.packaged() if toolbox is None else toolbox
    return Job(provider, seed, known, tools, LEVELS if levels is None else levels)


def _settings(job: Job, personas: int) -> dict[str, Any]:
    """What a data set follows from, to tell whether a killed run was of the same one."""
    return {
        "version": version("ctrag"),
        "provider": type(job.provider).__name__,
        "personas": personas,
        "seed": job.seed,
        "levels": dict(job.levels),
        "apps": [app.name for app in job.apps],
        "apis": list(job.toolbox.names),
    }


def _declare(folder: Path, job: Job) -> None:
    """Write applications and APIs next to the people unless they are the packaged ones."""
    write_apps(folder, job.apps)
    if job.toolbox.tools != Toolbox.packaged().tools:
        write_toolbox(folder, job.toolbox)


def _asked(job: Job, numbered: tuple[int, Persona]) -> MadePerson:
    number, persona = numbered
    return job.asked(persona, number)


def _with_progress(
    made: Iterator[MadePerson], count: int, progress: Progress, before: int
) -> Iterator[MadePerson]:
    """The people, saying now and then how many there are; `before` were there already."""
    if before:
        progress(f"going on after {before:,} of {count:,} people")
    spoken = time.monotonic()
    for number, person in enumerate(made, start=before + 1):
        yield person
        if time.monotonic() - spoken > _EVERY_SECONDS:
            spoken = time.monotonic()
            progress(f"{number:,} of {count:,} people")


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
            name: {
                "personas": one["personas"],
                "requests": one["requests"],
                **{kind: one[kind] for kind in _TALKS if one[kind]},
            }
            for name, one in counts.items()
        },
    )
