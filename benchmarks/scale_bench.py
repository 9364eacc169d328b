"""What the parts of the scale benchmark work with: sizes, people, retriever, clocks."""

import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.people import RememberingEncoder, asked_by, enlarged
from ctrag.assistant.artefacts import Artefacts, load_artefacts
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.context.retrieve import ContextRetriever
from ctrag.models.encoder import Encoder, load_encoder
from ctrag.settings import cache_folder
from stores.people.dataset import Dataset, Persona, load_dataset
from stores.people.items import Request
from synth.reference import split_folder

SEED = 0
PERSON = "p007"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    people: int = 10_000
    more_people: int = 2_000
    """Imported while somebody reads."""
    loads: int = 200
    archive: int = 100_000
    recall: tuple[tuple[int, int], ...] = ((35, 40), (1_000, 24), (10_000, 24), (100_000, 5))
    """(items, people); of a size that a person has already, their own."""
    cost: tuple[int, ...] = (35, 100, 1_000, 3_000, 10_000, 30_000, 100_000)
    requests: int = 371


QUICK = Sizes(
    people=300,
    more_people=300,
    loads=20,
    archive=2_000,
    recall=((35, 3), (1_000, 3)),
    cost=(35, 100, 1_000),
    requests=40,
)


class Bench:
    """Reference people, what is shipped to answer them, and a folder to work in."""

    def __init__(self, sizes: Sizes, work: Path) -> None:
        self.sizes = sizes
        self.work = work
        self.dev: Dataset = load_dataset(split_folder("dev"))
        self.people = (*self.dev.personas, *load_dataset(split_folder("train")).personas)

    @cached_property
    def artefacts(self) -> Artefacts:
        """The packaged ones."""
        return load_artefacts(None)

    @cached_property
    def plain(self) -> Encoder:
        """The shipped encoder."""
        return load_encoder(self.artefacts.ranker.card.encoder)

    @cached_property
    def retriever(self) -> ContextRetriever:
        """As it is shipped."""
        return ContextRetriever(self.plain, self.artefacts.ranker, self.artefacts.adapter)

    @cached_property
    def encoder(self) -> RememberingEncoder:
        """For items, whose encoding is not measured; remembers between runs."""
        name = self.plain.name.replace("/", "-")
        return RememberingEncoder(self.plain, cache_folder() / "benchmarks" / f"{name}.npz")

    def enlarged(self, size: int, person_id: str = PERSON) -> PersonView:
        """The person with `size` items, or with their own where they have more."""
        persona: Persona = self.dev.persona(person_id)
        size = max(size, len(persona.items))
        view = enlarged(persona, self.people, self.encoder, size, SEED)
        self.encoder.save()
        return view

    def requests(self) -> list[Request]:
        """Real requests as `PERSON` would make them."""
        return asked_by(self.dev.persona(PERSON), self.dev)[: self.sizes.requests]


def milliseconds(call: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def quantiles(found: Iterable[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    values = list(found)
    return statistics.median(values), float(np.percentile(values, 95))


def bytes_under(folder: Path) -> int:
    """Size of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def leave_cache(folder: Path) -> None:
    """Have the files under a folder read from the disk next time, where the system lets us."""
    for path in (path for path in folder.rglob("*") if path.is_file()):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)
