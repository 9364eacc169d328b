"""What recorded sessions save: searches a task and the first tool, before and after learning."""

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import JsonValue

from ctrag.agents.next_tool import Demonstration
from ctrag.agents.next_tool.demonstrations import read_demonstrations
from ctrag.agents.next_tool.opening import open_next_tool
from ctrag.agents.next_tool.texts import with_ids
from ctrag.agents.search.index import NextToolModel, ToolIndex
from ctrag.agents.search.surfacing import LIMIT
from ctrag.agents.session.events import Event
from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from eval.core.experiment import Experiment, hash_of, versions
from eval.core.intervals import bootstrap_interval
from eval.core.tables import Table, figure
from eval.learning.replay import Played, Replay, summary
from eval.learning.twins import ALIKE, without_twins

SIZES = (50, 200, 1_000)
MODELS = ("counted", "fitted")
_BETWEEN = 10_000.0
"""Seconds between two recorded sessions."""
_SEED = 0


def run_learning(
    data: Path,
    fit: Callable[[Path], NextToolModel] | None,
    *,
    sizes: Sequence[int] = SIZES,
    tasks: int = 300,
    models: Sequence[str] = MODELS,
    most_next: int = 2,
    progress: Callable[[str], None] = lambda _: None,
) -> Experiment:
    """Replay tasks, let recorded sessions of other tasks teach, and replay them again.

    Tasks are ordered by the hash of their ids. The first are asked, and of the others those teach
    that are no twin of any of these.

    Args:
        data: Demonstrations with a `tools.json`, as `read_demonstrations` takes them.
        fit: Trains a model of a recording; None where `models` has no `fitted`.
        sizes: How many recorded sessions teach.
        tasks: How many are asked.
        models: Names from `MODELS`: traces that are counted, a model that is fitted.
        most_next: Tools at most that are offered after a call.
        progress: Called with progress messages.

    Raises:
        ValueError: The data have no catalogue or too few tasks, or a model is unknown.
    """
    began = time.perf_counter()
    for name in models:
        if name not in MODELS:
            raise InputError(f"--models: {name!r} is unknown; known: {', '.join(MODELS)}")
    asked, teaching, index = _parts(data, tasks)
    if len(teaching) < max(sizes):
        raise InputError(
            f"--sizes: {data} has {len(teaching)} tasks beside the {len(asked)} that are asked and "
            f"without their twins, fewer than {max(sizes)}"
        )
    replay = Replay(index, most_next, LIMIT)
    progress(f"asking {len(asked)} tasks")
    found: dict[str, list[Played]] = {"nothing learned": [replay.play(one) for one in asked]}
    learned: dict[str, JsonValue] = {}
    with TemporaryDirectory() as folder:
        progress(f"recording {max(sizes)} sessions")
        recorded = _recorded(replay, teaching[: max(sizes)])
        for size in sorted(sizes):
            path = Path(folder) / f"recorded-{size}.jsonl"
            lines = [one.model_dump_json() for events in recorded[:size] for one in events]
            path.write_text("\n".join(lines), encoding="utf-8")
            learned[str(size)] = dict(read_demonstrations(path).learned)
            for name in models:
                progress(f"{name}, {size} sessions")
                if name == "counted":
                    index.next_tool = open_next_tool(path)
                elif fit is not None:
                    index.next_tool = fit(path)
                found[f"{name}, {size} sessions"] = [replay.play(one) for one in asked]
    names = [one.id for one in asked]
    return Experiment(
        experiment="learning",
        data=str(data),
        data_sha256=hash_of(data),
        seed=_SEED,
        versions=versions(),
        settings={
            "next": most_next,
            "next_tool_weight": index.next_tool_weight,
            "limit": LIMIT,
            "alike": ALIKE,
        },
        figures={name: dict(summary(played)) for name, played in found.items()},
        intervals={name: {"searches": _interval(played, names)} for name, played in found.items()},
        extra={
            "tasks": len(asked),
            "calls": round(sum(len(one.tools) for one in asked) / len(asked), 2),
            "learned": learned,
        },
        seconds=round(time.perf_counter() - began, 2),
    )


def table(experiment: Experiment) -> Table:
    """One row for each number of sessions."""
    rows = []
    intervals: Any = experiment.intervals
    for name, values in experiment.figures.items():
        found: Any = values
        low, high = intervals[name]["searches"]
        rows.append(
            [
                name,
                f"{found['searches']:.2f} ({low:.2f}–{high:.2f})",
                figure(found["first"]),
                figure(found["ready"]),
                f"{found['bound']:.1f}",
                f"{found['offered']:.2f}",
                figure(found["offered_used"]),
                figure(found["reached"]),
            ]
        )
    extra: Any = experiment.extra
    notes = [
        f"{extra['tasks']} tasks of {extra['calls']} calls on average; none of them has a twin "
        f"(words shared: {ALIKE} or more) among those that taught",
        "first: the first search's best tool is called first; ready: calls whose tool was there; "
        "used: of the tools offered without a search",
    ]
    header = ["", "searches a task", "first", "ready", "bound", "offered", "used", "reached"]
    return Table(header, rows, notes)


def _parts(data: Path, tasks: int) -> tuple[list[Demonstration], list[Demonstration], ToolIndex]:
    read = read_demonstrations(data)
    if not read.tools:
        raise InputError(f"{data}: has no tools.json to search in")
    known = {tool.id for tool in read.tools}
    named = with_ids(read.demonstrations, known)
    usable = [one for one in named if one.tools and not one.before and known.issuperset(one.tools)]
    ordered = sorted(usable, key=lambda one: sha256(one.id.encode()).digest())
    asked, others = ordered[:tasks], ordered[tasks:]
    if not others:
        raise InputError(f"--tasks: {data} has {len(ordered)} tasks; leave some to learn from")
    kept = without_twins([one.text for one in others], [one.text for one in asked])
    encoder = CachedEncoder(
        load_encoder(settings().tool_encoder), cache_folder(), keep_requests=True
    )
    weight = settings().dependency_weight
    return (
        asked,
        [others[at] for at in kept],
        ToolIndex(read.tools, encoder, next_tool_weight=weight),
    )


def _recorded(replay: Replay, tasks: Sequence[Demonstration]) -> list[list[Event]]:
    """Events of each task's session, as a gateway that has learned nothing would record them."""
    found: list[list[Event]] = []
    for number, task in enumerate(tasks):
        rows: list[Event] = []
        replay.play(task, rows.append, lambda at=number * _BETWEEN: at)  # type: ignore[misc]
        found.append(rows)
    return found


def _interval(played: Sequence[Played], names: Sequence[str]) -> JsonValue:
    """95 % interval of the searches over tasks; [low, high]."""
    one = bootstrap_interval([float(task.searches) for task in played], list(names))
    mean = summary(played)["searches"]
    return [mean, mean] if one is None else [round(one.low, 3), round(one.high, 3)]
