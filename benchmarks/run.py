"""Times retrieval, import, the command line and planning; see README.md for the conditions."""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engines import engine_rows
from benchmarks.people import people_like
from benchmarks.timing import Timing, timing
from ctrag.assistant.artefacts import load_artefacts
from ctrag.assistant.assistant import Assistant
from ctrag.assistant.context.item_arrays import PersonView, encode_items, load_view
from ctrag.assistant.context.retrieve import ContextRetriever
from ctrag.models.encoder import load_encoder
from eval.core.experiment import versions
from stores.people.dataset import Dataset, DatasetRequest, load_dataset
from stores.people.stores import Stores
from synth.reference import split_folder

SEED = 0
PERSON = "p007"


def main() -> None:
    """Run every benchmark; a table, then one JSON line."""
    dataset = load_dataset(split_folder("dev"))
    rows: list[Timing] = []
    with tempfile.TemporaryDirectory(prefix="ctrag-bench-") as folder:
        work = Path(folder)
        rows += _imports(dataset, work)
        rows += _retrieval(dataset, work)
        rows += _plans(dataset, work)
        rows += _commands(work)
        rows += engine_rows()
    width = max(len(row.what) for row in rows)
    print(f"{'what':<{width}}  {'runs':>5}  {'p50':>9}  {'p95':>9}")
    for row in rows:
        print(f"{row.what:<{width}}  {row.runs:>5}  {row.p50:>9.2f}  {row.p95:>9.2f}  {row.unit}")
    print(
        json.dumps(
            {
                "machine": f"{platform.machine()}, {os.cpu_count()} cores",
                "commit": _commit(),
                "seed": SEED,
                "versions": versions(),
                "rows": [{name: getattr(row, name) for name in Timing.__slots__} for row in rows],
            }
        )
    )


def _imports(dataset: Dataset, work: Path) -> list[Timing]:
    encoder = load_encoder()
    began = time.perf_counter()
    report = Stores(work / "small").import_personas(
        dataset.personas, lambda owned: encode_items(encoder, list(owned)), encoder.name
    )
    rate = report.added / (time.perf_counter() - began)
    many = list(people_like(list(dataset.personas), 2000))
    began = time.perf_counter()
    report = Stores(work / "many").import_personas(
        many, lambda owned: np.zeros((len(owned), 384), np.float32), encoder.name
    )
    stored = report.added / (time.perf_counter() - began)
    return [
        Timing("import with encoding (40 people)", 1, rate, rate, "items/s"),
        Timing("import, vectors given (2,000 people)", 1, stored, stored, "items/s"),
    ]


def _retrieval(dataset: Dataset, work: Path) -> list[Timing]:
    encoder = load_encoder()
    artefacts = load_artefacts(None)
    retriever = ContextRetriever(encoder, artefacts.ranker, artefacts.adapter)
    persona = dataset.persona(PERSON)
    stores = Stores(work / "retrieval")
    stores.import_personas(
        [persona], lambda owned: encode_items(encoder, list(owned)), encoder.name
    )
    began = time.perf_counter()
    view = load_view(stores, PERSON, encoder)
    asked = [one for one in dataset.requests if one.person_id == PERSON]
    retriever.retrieve(view, asked[0].request)
    load = 1000 * (time.perf_counter() - began)
    label = f"{len(view):,} items"
    with_encoding = _times(lambda one: _retrieve(retriever, view, one, None), asked, 30)
    ready = {one.query_id: retriever.request_encoder.read([one.request.text])[0] for one in asked}
    without = _times(lambda one: _retrieve(retriever, view, one, ready[one.query_id]), asked, 30)
    return [
        Timing(f"retrieval, {label}: load and first request (cold)", 1, load, load),
        timing(f"retrieval, {label}: with encoding", with_encoding),
        timing(f"retrieval, {label}: without encoding", without),
    ]


def _retrieve(
    retriever: ContextRetriever, view: PersonView, asked: DatasetRequest, ready: Any
) -> None:
    retriever.retrieve(view, asked.request, encoded=ready)


def _commands(work: Path) -> list[Timing]:
    command = Path(sys.executable).with_name("ctrag")
    environment = {**os.environ, "CTRAG_HOME": str(work / "home")}
    ask = [str(command), "ask", "how bad is it to the jetty", "--persona", PERSON,
           "--at", "2023-10-29T05:35"]  # fmt: skip
    subprocess.run(ask, env=environment, check=True, capture_output=True)
    rows = []
    for what, words in (("ctrag --help", [str(command), "--help"]), ("ctrag ask, to plan", ask)):
        seconds = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run(words, env=environment, check=True, capture_output=True)
            seconds.append(1000 * (time.perf_counter() - began))
        rows.append(timing(f"{what} (whole process)", seconds))
    return rows


def _plans(dataset: Dataset, work: Path) -> list[Timing]:
    """Whole answers of one process, from the request to the plan.

    Everybody's requests are put to one person, each once: what was read before is remembered.
    """
    texts = list(dict.fromkeys(one.request.text for one in dataset.requests))
    began = time.perf_counter()
    assistant = Assistant.open(work / "retrieval", PERSON)
    assistant.ask(texts[0])
    first = 1000 * (time.perf_counter() - began)
    tools: list[float] = []
    plans: list[float] = []

    whole: list[float] = []
    for text in texts[1:201]:
        began = time.perf_counter()
        answer = assistant.ask(text)
        whole.append(1000 * (time.perf_counter() - began))
        steps = {step.name: step.milliseconds for step in answer.trace.steps}
        tools.append(steps["tools.search"])
        plans.append(steps["values.rank"] + steps["planner.plan"])
    return [
        Timing("request to plan: open and first one", 1, first, first),
        timing("request to plan", whole),
        timing("  of which tools", tools),
        timing("  of which values, prompt and planner", plans),
    ]


def _times(
    call: Callable[[DatasetRequest], None], asked: list[DatasetRequest], rounds: int
) -> list[float]:
    found = []
    for turn in range(rounds + 1):
        for one in asked:
            began = time.perf_counter()
            call(one)
            if turn:  # the first round warms up
                found.append(1000 * (time.perf_counter() - began))
    return found


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
