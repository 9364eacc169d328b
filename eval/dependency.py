"""The next tool from request and history: tables 2 and 4, figure 5 of the DTDR paper."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ctrag.endpoint import ChatEndpoint
from ctrag.tools.catalogue import load_catalogue
from ctrag.tools.dependency import END, METHODS, Demonstration, NextTool, load_demonstrations
from ctrag.tools.dependency.demonstrations import split_held_out
from eval.dependency_endpoint import ENDPOINT_METHODS, EndpointRetrievers
from eval.experiment import Experiment, data_sha256, versions
from eval.intervals import bootstrap_interval, paired_permutation
from eval.tables import Table, figure

MEASURES = ("mrr", "f1", "top1", "top5", "top1_later", "top5_later")
HOW_TO_ASK = (
    "name it in --methods and set CTRAG_OPENAI_BASE_URL, CTRAG_OPENAI_MODEL and OPENAI_API_KEY"
)
SKIPPED = {
    "less_is_more": f"asks a language model for the ideal tools of each request; {HOW_TO_ASK}",
    "tool_graph": f"asks a language model what each tool needs; {HOW_TO_ASK}",
}
SHIPPED = "combined"
CATALOGUE = "tools.json"
_SEED = 0
_RESAMPLES = 2_000
_LONGEST = 12
"""Calls of a roll-out at most."""
_NEVER = np.inf


class Fit(Protocol):
    """Fits a model; changes are settings by name."""

    def __call__(self, demonstrations: Sequence[Demonstration], **changes: Any) -> NextTool:
        """The model of these demonstrations."""
        ...


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where each step's next tool stood, by one method; one entry per step."""

    with_end: NDArray[np.float64]
    """Rank, from 1; infinite for a tool that the method does not know."""
    without_end: NDArray[np.float64]
    """With `end` taken out of the ranking; meaningless for steps that end."""
    milliseconds: NDArray[np.float64]
    """What ranking took, the vectors being there: by the clock and of the processor, (steps, 2)."""


@dataclass(frozen=True, slots=True)
class Steps:
    """All steps of some demonstrations."""

    owners: list[Demonstration]
    histories: list[tuple[str, ...]]
    wanted: list[str]

    @classmethod
    def of(cls, demonstrations: Sequence[Demonstration]) -> "Steps":
        """In order."""
        rows = [(one, step.history, step.next) for one in demonstrations for step in one.steps()]
        owners, histories, wanted = (list(column) for column in zip(*rows, strict=True))
        return cls(owners, histories, wanted)

    @property
    def chains(self) -> list[str]:
        """What intervals resample."""
        return [one.chain for one in self.owners]

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Steps at which nothing is left to call."""
        return np.array([name == END for name in self.wanted])

    @property
    def first(self) -> NDArray[np.bool_]:
        """Steps without a history."""
        return np.array([not history for history in self.histories])


def run_dependency(
    data: Path,
    fit: Fit | None,
    *,
    model: NextTool | None = None,
    endpoint: ChatEndpoint | None = None,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    prompt: int = 0,
    detail: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Experiment:
    """Rank every step's next tool, with the true history and with the method's own.

    Args:
        data: A folder (or file) of demonstrations. Without `model` a part of its chains is held
            out by the hash of their ids (500, or a fifth where there are fewer), and `fit` gets
            the others.
        fit: Fits a model; None is only possible with `model`.
        model: Nothing is fitted: all demonstrations are asked of this one, or, where it was
            fitted on this folder, those that it did not see. Tools of the folder's catalogue that
            it does not know are added to it, and only the catalogue's are ranked, by all methods.
        endpoint: A language model for the methods of `ENDPOINT_METHODS`.
        methods: Names from `METHODS` and `ENDPOINT_METHODS`; all of `METHODS` when None.
        limit: Only the first so many held-out demonstrations.
        prompt: So many held-out steps, evenly spread, are also asked of the embedded model.
        detail: Also the ablations and the tools without a demonstration, which fit again.
        progress: Told what is being done.

    Raises:
        ValueError: A method is unknown or wants an endpoint, or the data break a rule.
        EndpointError: The endpoint does not answer.
    """
    began = time.perf_counter()
    every = (*METHODS, *ENDPOINT_METHODS)
    for name in methods or ():
        if name not in every:
            raise ValueError(f"--methods: {name!r} is unknown; known: {', '.join(every)}")
        if name in ENDPOINT_METHODS and endpoint is None:
            raise ValueError(f"--methods: {name} asks a language model, and no endpoint is given")
    hashed = sha256(data.read_bytes()).hexdigest() if data.is_file() else data_sha256(data)
    kept, held = _parts(load_demonstrations(data), model, hashed)
    fitted = model
    if fitted is None:
        if fit is None:
            raise ValueError("fit: needed where no model is given")
        fitted = fit(kept)
    among = fitted.among(None)
    if model is not None and (data / CATALOGUE).is_file():
        offered = load_catalogue(data / CATALOGUE)
        model.add_tools(offered)
        among = model.among([tool.id for tool in offered])
    names = fitted.memory.names
    called = {name: names[number] for name, number in fitted.memory.numbers.items()}
    held = [one.called_by(called) for one in held[:limit]]
    steps = Steps.of(held)
    chosen = list(METHODS) if methods is None else [name for name in every if name in methods]
    asker = None if endpoint is None else EndpointRetrievers(fitted, endpoint, progress)
    ranks = {}
    for name in chosen:
        progress(f"ranking by {name}")
        ranks[name] = rank_steps(fitted, steps, name, asker, among)
    figures: dict[str, JsonValue] = {}
    for name, one in ranks.items():
        figures[name] = dict(figures_of(one, steps))
    extra: dict[str, JsonValue] = {
        "first_step": {name: _first(one, steps) for name, one in ranks.items()},
        "later_with_end": {name: _later_with_end(one, steps) for name, one in ranks.items()},
        "without_end": {name: _without_end(one, steps) for name, one in ranks.items()},
        "roll_out": {name: _roll_out(fitted, held, name, asker, among) for name in chosen},
        "speed": {name: _speed(one, steps) for name, one in ranks.items()},
        "parameters": {name: parameters(fitted, name) for name in chosen},
        "paired_tests": _tests(ranks, steps),
        "demonstrations": len(fitted.memory),
        "seen_by_model": _seen(fitted, held),
        "held_out": {"demonstrations": len(held), "steps": len(steps.wanted)},
        "fit_seconds": fitted.card.seconds,
    }
    if detail and fit is not None and model is None:
        from eval.dependency_ablation import ablations

        extra |= ablations(kept, held, fitted, fit, progress)
    if prompt:
        from eval.dependency_prompt import run_prompts

        extra["prompt"] = run_prompts(fitted, steps, prompt, progress)
    return Experiment(
        experiment="dependency",
        data=str(data),
        data_sha256=hashed,
        seed=_SEED,
        versions=versions(),
        settings={
            **fitted.card.settings,
            "encoder": fitted.encoder.name,
            "model": None if model is None else model.card.data_sha256,
            "limit": limit,
        },
        figures=figures,
        intervals={name: _intervals(one, steps) for name, one in ranks.items()},
        extra=extra,
        skipped={} if methods is not None else dict(SKIPPED),
        seconds=round(time.perf_counter() - began, 2),
    )


def table(experiment: Experiment) -> Table:
    """Methods against measures, with what ranking takes and what the roll-out finishes."""
    extra: Any = experiment.extra
    rows = []
    for name, found in experiment.figures.items():
        values: Any = found
        bounds: Any = experiment.intervals[name]
        shown = {
            one: figure(values[one])
            + (f" ({figure(bounds[one][0])}–{figure(bounds[one][1])})" if bounds[one] else "")
            for one in ("top1", "top1_later")
        }
        speed = extra["speed"][name]
        rows.append(
            [
                name,
                figure(values["mrr"]),
                shown["top1"],
                figure(values["top5"]),
                shown["top1_later"],
                figure(values["top5_later"]),
                figure(extra["first_step"][name].get("top1")),
                figure(extra["roll_out"][name]["exact"]),
                f"{speed['p50_ms']:.2f}",
                f"{speed['p50_new_request_ms']:.2f}",
                f"{speed['p50_processor_ms']:.2f}",
                f"{extra['parameters'][name]:,}",
            ]
        )
    notes = [f"{name}: not run: {reason}" for name, reason in experiment.skipped.items()]
    held: Any = extra["held_out"]
    notes.append(
        f"{held['steps']} steps of {held['demonstrations']} demonstrations that were held out, "
        f"{extra['demonstrations']} learned from in {extra['fit_seconds']} s"
    )
    if extra["seen_by_model"]:
        notes.append(
            f"{extra['seen_by_model']} of these requests were learned from: "
            "the figures say nothing about others"
        )
    notes.append("every step has one acceptable tool, so that F1 is top-1; intervals over chains")
    notes.append("ms of ranking one step once its vectors are there; new: the first of a request")
    header = ["method", "MRR", "top-1 = F1", "top-5", "top-1 later", "top-5 later", "top-1 first"]
    return Table([*header, "roll-out", "ms", "ms new", "CPU ms", "parameters"], rows, notes)


def rank_steps(
    model: NextTool,
    steps: Steps,
    method: str,
    asker: EndpointRetrievers | None = None,
    among: NDArray[np.int64] | None = None,
) -> Ranks:
    """Rank of each step's next tool, given the true history.

    Args:
        model: What ranks.
        steps: What is asked.
        method: By which of its methods, or one of `ENDPOINT_METHODS`.
        asker: For these.
        among: Numbers of the tools that are ranked; None for all.
    """
    ranks_by = _by(model, method, asker)
    among = model.among(None) if among is None else among
    numbers = model.memory.numbers
    with_end, without, took = [], [], []
    for one, history, wanted in zip(steps.owners, steps.histories, steps.wanted, strict=True):
        ranks_by.prepare(one.text, history, method)
        began = time.perf_counter(), time.thread_time()
        chances = ranks_by.chances(one.text, history, method, among)
        ended = time.perf_counter(), time.thread_time()
        took.append([1000 * (ended[0] - began[0]), 1000 * (ended[1] - began[1])])
        number = numbers.get(wanted)
        if number is None or number not in among:
            with_end.append(_NEVER)
            without.append(_NEVER)
            continue
        # Ties go to the smaller number, as in `NextTool.rank`.
        chance, chances = chances[number], chances[among]
        ahead = (chances > chance) | ((chances == chance) & (among < number))
        with_end.append(1.0 + float(ahead.sum()))
        without.append(1.0 + float(ahead[1:].sum()))
    return Ranks(np.array(with_end), np.array(without), np.array(took))


def _by(
    model: NextTool, method: str, asker: EndpointRetrievers | None
) -> NextTool | EndpointRetrievers:
    return asker if asker is not None and method in ENDPOINT_METHODS else model


def parameters(model: NextTool, method: str) -> int:
    """Learned numbers that a method reads, without its encoder and the demonstrations."""
    fitted, memory, inputs = model.fitted, model.memory, model.memory.inputs
    nodes = memory.graphs.edges()
    clustered = memory.graphs.centroids.size + nodes["whole"] + nodes["clusters"]
    sizes = {
        "dependency": nodes["last"],
        "bigram": nodes["last"],
        "trigram": nodes["whole"],
        "learned": fitted.learned.size,
        "dtdr_l": fitted.linear.size,
        "dtdr_c": clustered,
        "combined": fitted.step.size
        + fitted.precision.size
        + fitted.whole.size
        + sum(one.size for one in (inputs.topics, inputs.meanings, inputs.histories))
        + clustered
        + model.tree_nodes(),
    }
    return int(sizes.get(method, 0))


def _parts(
    demonstrations: Sequence[Demonstration], model: NextTool | None, hashed: str
) -> tuple[list[Demonstration], list[Demonstration]]:
    if model is None:
        return split_held_out(demonstrations)
    seen = {one.chain for one in model.memory.demonstrations}
    if model.card.data_sha256 == hashed:
        unseen = [one for one in demonstrations if one.chain not in seen]
        return [], unseen or list(demonstrations)
    return [], list(demonstrations)


def _seen(model: NextTool, held: Sequence[Demonstration]) -> int:
    """Requests among `held` that the model learned from, word for word."""
    known = {one.text for one in model.memory.demonstrations}
    return sum(one.text in known for one in held)


def figures_of(ranks: Ranks, steps: Steps) -> dict[str, float]:
    """`MEASURES` in percent."""
    return {name: _mean(values) for name, values in _values(ranks, steps).items()}


def _values(ranks: Ranks, steps: Steps) -> dict[str, NDArray[np.float64]]:
    """Per measure, 0 or 1 (or a reciprocal rank) of each step; NaN where it does not count."""
    later = ~steps.first & ~steps.ends
    top1 = ranks.with_end <= 1
    return {
        "mrr": 1 / ranks.with_end,
        "f1": top1.astype(np.float64),
        "top1": top1.astype(np.float64),
        "top5": (ranks.with_end <= 5).astype(np.float64),
        "top1_later": np.where(later, ranks.without_end <= 1, np.nan),
        "top5_later": np.where(later, ranks.without_end <= 5, np.nan),
    }


def _mean(values: NDArray[np.float64]) -> float:
    counted = values[~np.isnan(values)]
    return round(100 * float(counted.mean()), 2) if len(counted) else 0.0


def _tops(ranks: NDArray[np.float64], kept: NDArray[np.bool_]) -> dict[str, JsonValue]:
    chosen = ranks[kept]
    if not len(chosen):
        return {}
    return {
        "mrr": _mean(1 / chosen),
        "top1": _mean((chosen <= 1).astype(np.float64)),
        "top5": _mean((chosen <= 5).astype(np.float64)),
    }


def _first(ranks: Ranks, steps: Steps) -> dict[str, JsonValue]:
    return _tops(ranks.without_end, steps.first & ~steps.ends)


def _later_with_end(ranks: Ranks, steps: Steps) -> dict[str, JsonValue]:
    return _tops(ranks.with_end, ~steps.first)


def _without_end(ranks: Ranks, steps: Steps) -> dict[str, JsonValue]:
    return _tops(ranks.without_end, ~steps.ends)


def _speed(ranks: Ranks, steps: Steps) -> dict[str, JsonValue]:
    """Of all steps, and of those that ask something new: later ones find their request read."""
    (p50, work50), (p95, _) = np.percentile(ranks.milliseconds, [50, 95], axis=0)
    new = np.array(
        [place == 0 or one is not steps.owners[place - 1] for place, one in enumerate(steps.owners)]
    )
    return {
        "p50_ms": round(float(p50), 3),
        "p95_ms": round(float(p95), 3),
        "p50_processor_ms": round(float(work50), 3),
        "p50_new_request_ms": round(float(np.median(ranks.milliseconds[new, 0])), 3),
    }


def _intervals(ranks: Ranks, steps: Steps) -> JsonValue:
    found: dict[str, JsonValue] = {}
    chains = np.array(steps.chains)
    for name, values in _values(ranks, steps).items():
        counted = ~np.isnan(values)
        interval = None
        if counted.any():
            interval = bootstrap_interval(
                100 * values[counted], list(chains[counted]), resamples=_RESAMPLES, seed=_SEED
            )
        bounds = None if interval is None else [round(interval.low, 2), round(interval.high, 2)]
        found[name] = bounds  # type: ignore[assignment]  # lists of JSON are invariant
    return found


def _tests(ranks: dict[str, Ranks], steps: Steps) -> JsonValue:
    """Combined minus each other method in top-1 of all steps, permuted by chain."""
    if SHIPPED not in ranks or len(set(steps.chains)) < 2:
        return {}
    own = _values(ranks[SHIPPED], steps)["top1"]
    found: dict[str, JsonValue] = {}
    for name, one in ranks.items():
        if name != SHIPPED:
            other = _values(one, steps)["top1"]
            test = paired_permutation(
                100 * own, 100 * other, steps.chains, resamples=_RESAMPLES, seed=_SEED
            )
            found[name] = {"top1_difference": round(test.mean, 2), "p": round(test.p_value, 4)}
    return found


def _roll_out(
    model: NextTool,
    demonstrations: Sequence[Demonstration],
    method: str,
    asker: EndpointRetrievers | None,
    among: NDArray[np.int64],
) -> dict[str, JsonValue]:
    """How many requests get exactly their calls when every prediction becomes history."""
    ranks_by = _by(model, method, asker)
    exact = ended = same_tools = 0
    for one in demonstrations:
        calls: list[str] = []
        while len(calls) < _LONGEST:
            chances = ranks_by.chances(one.text, (*one.before, *calls), method, among)
            best = model.memory.names[int(chances.argmax())]
            if best == END:
                ended += 1
                break
            calls.append(best)
        exact += tuple(calls) == one.tools
        same_tools += sorted(calls) == sorted(one.tools)
    share = 100 / max(len(demonstrations), 1)
    return {
        "exact": round(share * exact, 2),
        "same_tools": round(share * same_tools, 2),
        "ended": round(share * ended, 2),
    }
