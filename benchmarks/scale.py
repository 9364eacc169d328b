"""Federation at scale: many people, one with very many items, and what cutting costs.

Run all parts with `python -m benchmarks.scale`, or one with `--part`; each is written as soon as
it is done, beside those that were measured before. `--quick` tries everything at small sizes.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks import scale_report
from benchmarks.people import people_like, vectors_of_copies
from benchmarks.scale_bench import (
    PERSON,
    QUICK,
    SEED,
    Bench,
    Sizes,
    bytes_under,
    leave_cache,
    milliseconds,
    quantiles,
)
from benchmarks.scale_report import Row
from ctrag.assistant.context import candidates
from ctrag.assistant.context.item_arrays import PersonView, load_view
from ctrag.assistant.context.retrieve import RetrievedContext
from ctrag.models.encoder import Matrix
from eval.core.ranking import recall_at
from stores.people.dataset import Persona, load_labels
from stores.people.stores import Stores
from synth.reference import split_folder


def crowd(bench: Bench) -> Iterator[Row]:
    """Stores of many people: import, load and requests of one, reading while others import."""
    sizes, encoder = bench.sizes, bench.encoder
    stores = Stores(bench.work / "crowd")
    people = list(people_like(bench.people, sizes.people))
    vectors = vectors_of_copies(bench.people, people, encoder, SEED)
    encoder.save()
    added, seconds = _import(stores, people, vectors)
    yield _row(f"import of {sizes.people:,} people, vectors given", [added / seconds], "items/s")
    yield _row(f"stores of {added:,} items", [bytes_under(stores.root) / 1e6], "MB")
    drawn = np.random.default_rng(SEED).permutation(sizes.people)[: sizes.loads]
    ids = [people[row].person.person_id for row in drawn]
    cold = []
    for person_id in ids[:20]:
        leave_cache(stores.root)
        cold.append(milliseconds(partial(load_view, stores, person_id, encoder)))
    yield _row("load of one person, files not cached", cold)
    loads, firsts, again = [], [], []
    for person_id, request in zip(ids, cycle(bench.requests()), strict=False):
        view = load_view(stores, person_id, encoder)
        loads.append(milliseconds(partial(load_view, stores, person_id, encoder)))
        firsts.append(milliseconds(partial(bench.retriever.retrieve, view, request)))
        again.append(milliseconds(partial(bench.retriever.retrieve, view, request)))
    yield _row("load of one person", loads)
    yield _row("first request after loading", firsts[1:])
    yield _row("request of a loaded person", again[1:])
    yield from _beside_an_import(bench, stores, ids[0])


def archive(bench: Bench) -> Iterator[Row]:
    """One person with very many items in stores: import, load, requests."""
    made = bench.enlarged(bench.sizes.archive)
    stores = Stores(bench.work / "archive")
    added, seconds = _import(stores, [Persona(made.person, made.items)], made.vectors)
    yield _row(
        f"import of {added:,} items of one person, vectors given", [added / seconds], "items/s"
    )
    yield _row("stores of them", [bytes_under(stores.root) / 1e6], "MB")
    leave_cache(stores.root)
    load = partial(load_view, stores, PERSON, bench.encoder)
    yield _row("load, files not cached", [milliseconds(load)])
    yield _row("load", [milliseconds(load) for _ in range(3)])
    view = load()
    first, *others = _asked(bench, view)
    yield _row("first request after loading", [first[0]])
    yield _row("request, each asked once", [took for took, _ in others])


def recall(bench: Bench) -> Iterator[Row]:
    """Recall@10 of candidates and ranker against ranking everything, on labelled dev requests."""
    labels = load_labels(split_folder("dev"))
    relevant = {name: one.relevant for name, one in labels.items() if one.relevant}
    for size, count in bench.sizes.recall:
        every, cut, covered, ranked = [], [], [], []
        for number, persona in enumerate(bench.dev.personas[:count], start=1):
            _progress(f"recall, {size:,} items, person {number} of {count}")
            view = bench.enlarged(size, persona.person.person_id)
            for asked in bench.dev.requests:
                if asked.person_id != persona.person.person_id or asked.query_id not in relevant:
                    continue
                wanted = relevant[asked.query_id]
                found = bench.retriever.retrieve(view, asked.request, 10)
                rows = [view.row[one] for one in wanted]
                cut.append(_recall(found, wanted))
                ranked.append(found.candidates)
                covered.append(100 * float(np.isin(rows, found.context.rows).mean()))
                with _ranking_everything():
                    found = bench.retriever.retrieve(view, asked.request, 10)
                every.append(_recall(found, wanted))
        change = np.array(cut) - np.array(every)
        yield {
            "items": size,
            "people": count,
            "requests": len(every),
            "candidates": int(statistics.median(ranked)),
            "relevant among them": statistics.fmean(covered),
            "R@10 ranking all": statistics.fmean(every),
            "R@10": statistics.fmean(cut),
            "difference": float(change.mean()),
            "better": int((change > 0).sum()),
            "worse": int((change < 0).sum()),
        }


def cost(bench: Bench) -> Iterator[Row]:
    """Milliseconds a request, its encoding included, by the number of items."""
    for size in bench.sizes.cost:
        _progress(f"cost, {size:,} items")
        view = bench.enlarged(size)
        first, *others = _asked(bench, view)
        p50, p95 = quantiles(took for took, _ in others)
        again_p50, again_p95 = quantiles(took for took, _ in _asked(bench, view))
        yield {
            "items": len(view),
            "requests": len(others),
            "candidates": int(statistics.median(count for _, count in others)),
            "first ms": first[0],
            "p50 ms": p50,
            "p95 ms": p95,
            "again p50 ms": again_p50,
            "again p95 ms": again_p95,
        }


PARTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "crowd": crowd,
    "archive": archive,
    "recall": recall,
    "cost": cost,
}


def main() -> None:
    """Measure the parts that are asked for; print and keep everything that is known."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    arguments.add_argument("--part", choices=PARTS, action="append", help="only this one")
    arguments.add_argument("--quick", action="store_true", help="small sizes; keeps nothing")
    arguments.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder")
    given = arguments.parse_args()
    file = given.out / "scale.json"
    parts = {} if given.quick else scale_report.load(file)
    for name in given.part or PARTS:
        with tempfile.TemporaryDirectory(prefix="ctrag-scale-") as folder:
            began = time.perf_counter()
            rows = list(PARTS[name](Bench(QUICK if given.quick else Sizes(), Path(folder))))
        seconds = round(time.perf_counter() - began, 1)
        parts[name] = {**scale_report.conditions(SEED), "seconds": seconds, "rows": rows}
        print(f"{name} ({seconds:.0f} s)\n{scale_report.table(rows)}\n", flush=True)
        if not given.quick:
            scale_report.save(file, parts)
    if "cost" in parts and not given.quick:
        drawn = scale_report.draw_cost(parts["cost"]["rows"], file.with_suffix(".svg"))
        print("" if drawn else "not drawn: matplotlib is not installed\n", end="")
    print("\n".join(scale_report.verdicts(parts)))


def _import(stores: Stores, people: Sequence[Persona], vectors: Matrix) -> tuple[int, float]:
    """(items, seconds) of an import whose vectors are known."""
    began = time.perf_counter()
    report = stores.import_personas(people, lambda owned: vectors, "given")
    return report.added, time.perf_counter() - began


def _asked(bench: Bench, view: PersonView) -> list[tuple[float, int]]:
    """(milliseconds, candidates) of each request."""
    found = []
    for request in bench.requests():
        began = time.perf_counter()
        answer = bench.retriever.retrieve(view, request)
        found.append((1000 * (time.perf_counter() - began), answer.candidates))
    return found


def _beside_an_import(bench: Bench, stores: Stores, person_id: str) -> Iterator[Row]:
    """Loads of one person while another process imports more people."""
    before = len(load_view(stores, person_id, bench.encoder))
    importer = get_context("spawn").Process(
        target=_import_more,
        args=(stores.root, bench.sizes.more_people, len(bench.plain.encode(["x"])[0])),
    )
    began = time.perf_counter()
    importer.start()
    loads = []
    while importer.is_alive():
        asked_at = time.perf_counter()
        view = load_view(stores, person_id, bench.encoder)
        loads.append(1000 * (time.perf_counter() - asked_at))
        if view.unavailable or len(view) != before:
            raise RuntimeError(f"a reader saw {len(view)} items, without {view.unavailable}")
    if importer.exitcode:
        raise RuntimeError(f"the import failed: exit code {importer.exitcode}")
    seconds = time.perf_counter() - began
    yield _row(f"import of {bench.sizes.more_people:,} more people meanwhile", [seconds], "s")
    yield _row("load of one person meanwhile", loads)
    yield _row("longest of these", [max(loads)])


def _import_more(root: Path, people: int, width: int) -> None:
    """In a process of its own: import copies under other ids, with random vectors."""
    reference = Bench(QUICK, root).people
    rng = np.random.default_rng(SEED)
    stores = Stores.open(root)
    stores.import_personas(
        [
            Persona(replace(one.person, person_id=f"more-{one.person.person_id}"), one.items)
            for one in people_like(reference, people)
        ],
        lambda owned: rng.standard_normal((len(owned), width), np.float32),
        str(stores.encoder),
    )


@contextmanager
def _ranking_everything() -> Iterator[None]:
    """Every item of every person is a candidate meanwhile."""
    usual = candidates.EXHAUSTIVE
    candidates.EXHAUSTIVE = sys.maxsize
    try:
        yield
    finally:
        candidates.EXHAUSTIVE = usual


def _recall(found: RetrievedContext, wanted: Sequence[str]) -> float:
    return 100 * recall_at([one.item.id for one in found.items], wanted, 10)


def _row(what: str, found: Sequence[float], unit: str = "ms") -> Row:
    p50, p95 = quantiles(found)
    return {"what": what, "runs": len(found), "p50": p50, "p95": p95, "unit": unit}


def _progress(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
