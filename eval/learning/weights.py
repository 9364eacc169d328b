"""What the request and the next-tool model count for in a prompt: chosen on half, told on half."""

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ctrag.agents.next_tool.traces import ToolTrace, TracePrior
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.encoders import MiniLMPassageEncoder, PassageEncoder
from ctrag.agents.prompt.instruction_files import cut_folder
from ctrag.agents.prompt.settings import REQUEST_WEIGHT, PromptSettings
from ctrag.agents.prompt.tool_documents import load_documents
from ctrag.models.tokens import CountTokens, token_counter
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.intervals import bootstrap_interval
from eval.core.tables import Table, figure
from eval.instructions.methods import CachedPassageEncoder
from eval.instructions.steps import DecisionStep, load_steps
from eval.learning.twins import groups

REQUEST_WEIGHTS = (0.0, 0.1, 0.2, REQUEST_WEIGHT, 0.5, 1.0)
NEXT_TOOL_WEIGHTS = (0.0, 0.5, 1.0, 2.0)
_FOLDS = 5
_SEED = 0


def run_weights(
    data: Path,
    *,
    encoder: PassageEncoder | None = None,
    count: CountTokens | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Experiment:
    """How often the retriever's first tool is right, by what request and traces count for.

    Episodes are halved by the hash of their group of twins. On the first half, where the weights
    are chosen, an episode is asked of the traces of the other folds of that half; on the second,
    of all traces of the first half. No episode has a twin among the traces that it is asked of.

    Args:
        data: An episodes folder.
        encoder: The encoder; MiniLM when None.
        count: Tokens of a text; in the embedded planner's vocabulary when None.
        progress: Called with progress messages.

    Raises:
        ValueError: A file breaks a rule.
    """
    began = time.perf_counter()
    steps = load_steps(data)
    texts = {step.episode: step.instruction for step in steps}
    chains: dict[str, list[str]] = {}
    for step in steps:
        chains.setdefault(step.episode, []).append(step.gold)
    group = dict(zip(texts, groups(list(texts.values())), strict=True))
    part = {one: _byte(group[one], "half") % 2 for one in texts}
    fold = {one: _byte(group[one], "fold") % _FOLDS for one in texts}
    own = CachedPassageEncoder(encoder or MiniLMPassageEncoder(), list(texts.values()))
    count = count or token_counter()
    fragments = cut_folder(data / "policies", count).fragments
    documents = load_documents(data / "tools.json", count)
    first = [one for one in texts if part[one] == 0]
    priors = {
        (0, number): _prior([one for one in first if fold[one] != number], texts, chains, own)
        for number in range(_FOLDS)
    }
    whole = _prior(first, texts, chains, own)
    right: dict[str, list[bool]] = {}
    for next_weight in NEXT_TOOL_WEIGHTS:
        for request_weight in REQUEST_WEIGHTS if next_weight else (1.0,):
            progress(f"request {request_weight}, next tool {next_weight}")
            options = PromptSettings(request_weight=request_weight, next_tool_weight=next_weight)
            builders: dict[int, PromptBuilder] = {}
            found = []
            for step in steps:
                prior = priors.get((part[step.episode], fold[step.episode]), whole)
                if id(prior) not in builders:
                    builders[id(prior)] = PromptBuilder(
                        fragments,
                        documents,
                        settings=options,
                        encoder=own,
                        count=count,
                        next_tool=prior,
                    )
                ranked = builders[id(prior)].ranked(step.instruction, step.history)
                found.append(ranked[0].id == step.gold)
            right[f"{request_weight:g} / {next_weight:g}"] = found
    sides = {
        name: [at for at, step in enumerate(steps) if part[step.episode] == side]
        for side, name in enumerate(("chosen", "reported"))
    }
    figures = {
        weights: {name: _share(found, places) for name, places in sides.items()}
        for weights, found in right.items()
    }
    best = max(figures, key=lambda one: figures[one]["chosen"])
    return Experiment(
        experiment="prior",
        data=str(data),
        data_sha256=data_sha256(data),
        seed=_SEED,
        versions=versions(),
        settings={"tools": len(documents), "encoder": own.name},
        figures={weights: dict(values) for weights, values in figures.items()},
        intervals={
            weights: _interval(found, sides["reported"], steps) for weights, found in right.items()
        },
        extra={
            "chosen": best,
            "episodes": {
                name: len({steps[at].episode for at in places}) for name, places in sides.items()
            },
            "steps": {name: len(places) for name, places in sides.items()},
            "twins": len(texts) - len(set(group.values())),
        },
        seconds=round(time.perf_counter() - began, 2),
    )


def table(experiment: Experiment) -> Table:
    """One row for each pair of weights."""
    rows = []
    bounds: Any = experiment.intervals
    for weights, values in experiment.figures.items():
        found: Any = values
        low, high = bounds[weights]
        rows.append([weights, figure(found["chosen"]), f"{found['reported']:.1f} ({low}–{high})"])
    extra: Any = experiment.extra
    counts = ", ".join(
        f"{extra['steps'][name]} steps of {extra['episodes'][name]} episodes {name}"
        for name in ("chosen", "reported")
    )
    notes = [
        f"{counts}; {extra['twins']} episodes have a twin, on their own side",
        f"first on the half for choosing: {extra['chosen']}; interval: 95 %, over episodes",
    ]
    return Table(
        ["request / next tool", "first tool, half to choose on", "other half"], rows, notes
    )


def _prior(
    names: Sequence[str],
    texts: dict[str, str],
    chains: dict[str, list[str]],
    encoder: PassageEncoder,
) -> TracePrior:
    traces = [ToolTrace(texts[one], tuple(chains[one])) for one in names]
    return TracePrior(traces, encoder, ends=True, growing=True)


def _byte(group: int, what: str) -> int:
    return sha256(f"{what} {group}".encode()).digest()[0]


def _share(found: Sequence[bool], places: Sequence[int]) -> float:
    return round(100 * sum(found[at] for at in places) / max(len(places), 1), 2)


def _interval(
    found: Sequence[bool], places: Sequence[int], steps: Sequence[DecisionStep]
) -> JsonValue:
    values = [100.0 * found[at] for at in places]
    one = bootstrap_interval(values, [steps[at].episode for at in places])
    return [0.0, 100.0] if one is None else [round(one.low, 1), round(one.high, 1)]
