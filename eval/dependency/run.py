"""The next tool from request and history: tables 2 and 4, figure 5 of the DTDR paper."""

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

from ctrag.agents.catalogue.tool import load_catalogue
from ctrag.agents.next_tool import METHODS, Demonstration, NextTool, load_demonstrations
from ctrag.agents.next_tool.held_out import split_held_out
from ctrag.errors import InputError
from ctrag.models.endpoint import ChatEndpoint
from eval.core.experiment import Experiment, data_sha256, versions
from eval.dependency.endpoint import ENDPOINT_METHODS, EndpointRetrievers
from eval.dependency.figures import (
    SEED,
    figures_of,
    first_step,
    intervals_of,
    later_with_end,
    paired_tests,
    speed_of,
    without_end,
)
from eval.dependency.steps import Steps, rank_steps, roll_out
from eval.dependency.without_twins import without_twins

HOW_TO_ASK = (
    "name it in --methods and set CTRAG_OPENAI_BASE_URL, CTRAG_OPENAI_MODEL and OPENAI_API_KEY"
)
SKIPPED = {
    "less_is_more": f"asks a language model for the ideal tools of each request; {HOW_TO_ASK}",
    "tool_graph": f"asks a language model what each tool needs; {HOW_TO_ASK}",
}
CATALOGUE = "tools.json"


class Fit(Protocol):
    """Fits a model; changes are settings by name."""

    def __call__(self, demonstrations: Sequence[Demonstration], **changes: Any) -> NextTool:
        """The model of these demonstrations."""
        ...


def run_dependency(
    data: Path,
    fit: Fit | None,
    *,
    model: NextTool | None = None,
    endpoint: ChatEndpoint | None = None,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    prompt: int = 0,
    end_to_end: int = 0,
    planner: str = "embedded",
    detail: bool = False,
    new_tools: bool = False,
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
        prompt: So many held-out steps, evenly spread, are also asked of a language model.
        end_to_end: So many held-out requests are carried out by a model behind the endpoint,
            with arguments where the data have them.
        planner: Who is asked for steps and calls: `embedded`, or `openai`, the endpoint of the
            settings.
        detail: Also the ablations and the tools without a demonstration, which fit again.
        new_tools: Also the tools without a demonstration alone, which fits once more.
        progress: Called with progress messages.

    Raises:
        ValueError: A method is unknown or wants an endpoint, or the data break a rule.
        EndpointError: The endpoint does not answer.
    """
    began = time.perf_counter()
    every = (*METHODS, *ENDPOINT_METHODS)
    for name in methods or ():
        if name not in every:
            raise InputError(f"--methods: {name!r} is unknown; known: {', '.join(every)}")
        if name in ENDPOINT_METHODS and endpoint is None:
            raise InputError(f"--methods: {name} asks a language model, and no endpoint is given")
    hashed = sha256(data.read_bytes()).hexdigest() if data.is_file() else data_sha256(data)
    kept, held = _parts(load_demonstrations(data), model, hashed)
    fitted = model
    if fitted is None:
        if fit is None:
            raise InputError("fit: needed where no model is given")
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
        "first_step": {name: first_step(one, steps) for name, one in ranks.items()},
        "later_with_end": {name: later_with_end(one, steps) for name, one in ranks.items()},
        "without_end": {name: without_end(one, steps) for name, one in ranks.items()},
        "roll_out": {name: roll_out(fitted, held, name, asker, among) for name in chosen},
        "speed": {name: speed_of(one, steps) for name, one in ranks.items()},
        "parameters": {name: parameters(fitted, name) for name in chosen},
        "paired_tests": paired_tests(ranks, steps),
        "without_twins": without_twins(ranks, steps, held, fitted.memory.demonstrations),
        "demonstrations": len(fitted.memory),
        "seen_by_model": _seen(fitted, held),
        "held_out": {"demonstrations": len(held), "steps": len(steps.wanted)},
        "steps_with_several": sum(map(bool, steps.others)),
        "fit_seconds": fitted.card.seconds,
    }
    if fit is not None and model is None:
        if detail:
            from eval.dependency.ablation import ablations

            extra |= ablations(kept, held, fitted, fit, progress)
        elif new_tools:
            from eval.dependency import new_tools as without

            extra["unseen_tools"] = without.new_tools(kept, held, fit, progress)
    if prompt:
        from eval.dependency.prompt import chooser_of, run_prompts

        chooser = chooser_of(planner)
        extra["prompt"] = run_prompts(fitted, steps, prompt, among, progress, chooser=chooser)
    if end_to_end:
        from eval.dependency.end_to_end import Asked, arguments_of, run_end_to_end
        from eval.dependency.prompt import chooser_of

        if endpoint is None:
            raise InputError("--end-to-end: a model behind an endpoint fills arguments; give one")
        given = arguments_of(data) if data.is_dir() else {}
        who = Asked(chooser_of(planner), endpoint)
        extra["end_to_end"] = run_end_to_end(fitted, held, given, among, who, end_to_end, progress)
    return Experiment(
        experiment="dependency",
        data=str(data),
        data_sha256=hashed,
        seed=SEED,
        versions=versions(),
        settings={
            **fitted.card.settings,
            "encoder": fitted.encoder.name,
            "model": None if model is None else model.card.data_sha256,
            "limit": limit,
        },
        figures=figures,
        intervals={name: intervals_of(one, steps) for name, one in ranks.items()},
        extra=extra,
        skipped={} if methods is not None else dict(SKIPPED),
        seconds=round(time.perf_counter() - began, 2),
    )


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
