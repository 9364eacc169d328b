"""Whole data sets: people and requests from a provider, checked, written as they come.

Each person follows from the seed and their number alone, so processes, threads or a Dask cluster
share the work and the files are the same byte for byte. Only what is being made is in memory.
"""

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from ctrag.apps.toolbox import Toolbox
from stores.dataset import (
    PERSONAS,
    QUERIES,
    Kind,
    Persona,
    dump_persona,
    format_local_time,
    load_dataset,
)
from stores.files import sync
from stores.spec import AppSpec, packaged_apps, register_apps, write_apps
from synth.checks import SeenTexts, request_faults
from synth.provider import LabelledRequest, Provider
from synth.shape import (
    PAPER_PERSONAS,
    is_test,
    item_counts,
    kinds_of,
    person_seed,
    requests_of,
)
from synth.toolbox import write_toolbox
from synth.workers import in_order

PARTS = ("train", "test")
_TRIES = 4
_SPARE = 3
"""Requests of a person beyond the wanted ones, taken when one repeats another person's."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Made:
    """What was written."""

    personas: int
    requests: int
    rejected: dict[str, int]
    """Made requests that were thrown away, by reason."""
    seconds: float
    parts: dict[str, dict[str, int]] = field(default_factory=dict)
    """Personas and requests of each folder."""

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)

    def lines(self) -> list[str]:
        """For people."""
        found = [
            f"{name}: {one['personas']:,} people, {one['requests']:,} requests"
            for name, one in self.parts.items()
        ]
        thrown = ", ".join(f"{name} {count}" for name, count in self.rejected.items())
        return [*found, f"{self.seconds:.0f} s; made and rejected: {thrown or 'nothing'}"]


@dataclass(frozen=True, slots=True)
class MadePerson:
    """One person as lines of files; what workers hand back."""

    persona: str
    """The line of `personas.jsonl`."""
    requests: tuple[tuple[str, dict[str, Any]], ...]
    """Text and the rest of the line of `queries.jsonl`; those beyond `wanted` are spare."""
    wanted: int
    test: bool
    rejected: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Job:
    """How a number becomes a person; goes to the workers."""

    provider: Provider
    seed: int
    apps: tuple[AppSpec, ...]
    toolbox: Toolbox

    def person(self, number: int, *, asks: bool = True) -> MadePerson:
        """Person `number` (from 0) with requests, as lines."""
        register_apps(self.apps)  # a worker's process knows the packaged ones only
        seed = person_seed(self.seed, number)
        persona = self.provider.person(f"s{number + 1:05d}", item_counts(self.apps, seed), seed)
        return self.asked(persona, number) if asks else self._lines(persona, [], number, {})

    def asked(self, persona: Persona, number: int) -> MadePerson:
        """The requests of a persona who is number `number` (from 0)."""
        register_apps(self.apps)
        wanted = requests_of(number)
        # A spare request of a provider that costs money is seldom worth it.
        count = wanted + (_SPARE if self.provider.workers == 1 else 0)
        kinds = kinds_of(number, self.seed, count)
        rejected: Counter[str] = Counter()
        found: list[LabelledRequest] = []
        missing: list[Kind] = kinds
        for tries in range(_TRIES):
            avoid = [one.request.text for one in found]
            # A seed further by whole strides is the same person, asked again.
            seed = person_seed(self.seed + 1000 * tries, number)
            for one in self.provider.requests(persona, missing, seed, avoid):
                problems = self._problems(persona, one, found)
                if problems:
                    rejected[problems[0].split(":")[0]] += 1
                else:
                    found.append(one)
            missing = _missing(kinds, found) if tries < 1 else kinds_of(number, tries, count)
            missing = missing[: count - len(found)]
            if not missing:
                break
        return self._lines(persona, _in_order_of(kinds, found), number, rejected)

    def _problems(
        self, persona: Persona, one: LabelledRequest, found: Sequence[LabelledRequest]
    ) -> list[str]:
        if any(_same(one, other) for other in found):
            return ["repeat: the person asked that before"]
        return request_faults(persona, one, self.toolbox)

    def _lines(
        self,
        persona: Persona,
        found: Sequence[LabelledRequest],
        number: int,
        rejected: Mapping[str, int],
    ) -> MadePerson:
        line = json.dumps(dump_persona(persona, self.apps), ensure_ascii=False)
        requests = tuple((one.request.text, _dumped(one)) for one in found)
        return MadePerson(line, requests, requests_of(number), is_test(number), dict(rejected))


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
    """Write `train/` and `test/` into a folder; nobody is in both.

    Args:
        provider: Makes people and requests.
        out: Made where it is missing; must not hold `train` or `test` yet.
        personas: How many people; 791 give the paper's sizes.
        seed: The same seed gives the same bytes.
        scheduler: A Dask scheduler's address, or "local" for a cluster on this machine; processes
            of this machine when None.
        workers: How many processes; as many as there are cores when None.
        apps: Applications; the packaged seven when None.
        toolbox: The APIs; the packaged ones when None.
        progress: Told what happens.

    Raises:
        ValueError: `personas` is no positive number, or `out` holds a data set.
    """
    began = time.perf_counter()
    if personas < 1:
        raise ValueError(f"personas: must be 1 or more, not {personas}")
    taken = [part for part in PARTS if (out / part).exists()]
    if taken:
        raise ValueError(f"out: {out} holds {taken[0]} already; remove it or give another folder")
    job = _job(provider, seed, apps, toolbox)
    counts: dict[str, Counter[str]] = {part: Counter() for part in PARTS}
    with _Folders(out, PARTS) as folders:
        made = in_order(job.person, range(personas), job.provider.workers, scheduler, workers)
        for person in _told(made, personas, progress):
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
    """Write a folder of people who ask nothing yet. Arguments and errors as `make_dataset`."""
    began = time.perf_counter()
    if personas < 1:
        raise ValueError(f"personas: must be 1 or more, not {personas}")
    if out.exists():
        raise ValueError(f"out: {out} exists already; give another folder")
    job = _job(provider, seed, apps, toolbox)
    counts: Counter[str] = Counter()
    with _Folders(out.parent, (out.name,)) as folders:
        task = partial(job.person, asks=False)
        made = in_order(task, range(personas), job.provider.workers, scheduler, workers)
        for person in _told(made, personas, progress):
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
    """Write the requests of the people in a folder. Arguments as `make_dataset`.

    Raises:
        FileNotFoundError: There is no `personas.jsonl`.
        ValueError: `personas.jsonl` breaks a rule.
    """
    began = time.perf_counter()
    job = _job(provider, seed, apps, toolbox)
    people = load_dataset(out, job.apps).personas
    task = partial(_asked, job, people)
    counts: Counter[str] = Counter()
    seen = SeenTexts()
    path = out / QUERIES
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            made = in_order(task, range(len(people)), job.provider.workers, scheduler, workers)
            for person in _told(made, len(people), progress):
                counts.update(_write_requests(file, person, person.wanted, seen))
                counts["personas"] += 1
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return _made({out.name: counts}, began)


class _Folders:
    """Data set folders under temporary names; they get their own when all is written."""

    def __init__(self, out: Path, names: Sequence[str]) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._out, self._names = out, names
        self._files: dict[str, tuple[TextIO, TextIO]] = {}
        self._seen = SeenTexts()
        self._stack = ExitStack()

    def __enter__(self) -> "_Folders":
        for name in self._names:
            for left in self._out.glob(f".{name}.*.tmp"):  # by a run that was killed
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
        """Where a folder is while it is written."""
        return self._out / f".{name}.{os.getpid()}.tmp"

    def write(self, name: str, person: MadePerson, wanted: int) -> Counter[str]:
        """Write a person and so many requests; what was written and what was left out."""
        personas, queries = self._files[name]
        personas.write(person.persona + "\n")
        counts = _write_requests(queries, person, wanted, self._seen)
        counts["personas"] += 1
        return counts

    def keep(self) -> None:
        """Give the folders their names."""
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


def _job(
    provider: Provider,
    seed: int,
    apps: Sequence[AppSpec] | None,
    toolbox: Toolbox | None,
) -> Job:
    known = packaged_apps() if apps is None else tuple(apps)
    return Job(provider, seed, known, Toolbox.packaged() if toolbox is None else toolbox)


def _declare(folder: Path, job: Job) -> None:
    """Write applications and APIs beside the people where they are not the packaged ones."""
    write_apps(folder, job.apps)
    if job.toolbox.tools != Toolbox.packaged().tools:
        write_toolbox(folder, job.toolbox)


def _asked(job: Job, people: Sequence[Persona], number: int) -> MadePerson:
    return job.asked(people[number], number)


def _write_requests(file: TextIO, person: MadePerson, wanted: int, seen: SeenTexts) -> Counter[str]:
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


def _told(made: Iterator[MadePerson], count: int, progress: Progress) -> Iterator[MadePerson]:
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


def _missing(kinds: Sequence[Kind], found: Sequence[LabelledRequest]) -> list[Kind]:
    left: Counter[Kind] = Counter(kinds)
    there = Counter(one.labels.kind for one in found)
    for kind in left:
        left[kind] -= there[kind]
    return [kind for kind, count in left.items() for _ in range(max(0, count))]


def _in_order_of(kinds: Sequence[Kind], found: Sequence[LabelledRequest]) -> list[LabelledRequest]:
    """The requests in the drawn order of kinds, so that spares are of no special kind."""
    left = list(found)
    ordered = []
    for kind in kinds:
        place = next((i for i, one in enumerate(left) if one.labels.kind == kind), None)
        if place is not None:
            ordered.append(left.pop(place))
    return [*ordered, *left]


def _same(one: LabelledRequest, other: LabelledRequest) -> bool:
    """The same words, or the same call about the same items."""
    if one.request.text.casefold() == other.request.text.casefold():
        return True
    plan = one.labels.plan
    return plan is not None and plan == other.labels.plan and bool(one.labels.relevant)


def _dumped(one: LabelledRequest) -> dict[str, Any]:
    request, labels = one.request, one.labels
    return {
        "text": request.text,
        "asked_at": format_local_time(request.asked_at),
        "place": request.place,
        "playing": request.playing,
        "kind": labels.kind,
        "chain_of_thought": labels.chain_of_thought,
        "relevant": list(labels.relevant or ()),
        "tools": list(labels.tools or ()),
        "plan": labels.plan and {"api": labels.plan.api, "arguments": dict(labels.plan.arguments)},
    }
