"""Fitting a `NextTool` to demonstrations, or to a folder of them for the command."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import observed as log
from ctrag.agents.next_tool.artefact import DependencyCard, Fitted
from ctrag.agents.next_tool.demonstrations import (
    OBSERVED,
    Demonstration,
    DemonstrationData,
    read_demonstrations,
)
from ctrag.agents.next_tool.graph import cluster_centroids
from ctrag.agents.next_tool.held_out import split_held_out
from ctrag.agents.next_tool.inputs import Inputs
from ctrag.agents.next_tool.linear import JOINT_PENALTY, fit_softmax, joint
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.methods import METHODS
from ctrag.agents.next_tool.next_tool import NextTool
from ctrag.agents.next_tool.texts import ToolTexts, tool_names, with_names
from ctrag.errors import InputError, NotFound
from ctrag.models import packages
from ctrag.models.encoder import Encoder, Matrix, load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder
from eval.core.experiment import hash_of, versions
from eval.dependency.figures import figures_of
from eval.dependency.steps import Steps, rank_steps
from training.core.origin import command_line, people_of
from training.next_tool.settings import DependencySettings
from training.next_tool.trees import Stage, StepRows, fit_trees, step_rows


def fit_next_tool(
    demonstrations: Sequence[Demonstration],
    tools: Sequence[CatalogueTool],
    encoder: Encoder,
    settings: DependencySettings,
    source: dict[str, Any],
    progress: Callable[[str], None] = lambda _: None,
) -> NextTool:
    """A next-tool model with all methods.

    Args:
        demonstrations: The training data.
        tools: The catalogue; demonstrations call its tools by id, or by unique
            name. Tools that only occur in demonstrations are added, without a text.
        encoder: For requests and tool texts.
        settings: See `DependencySettings`.
        source: `command`, `data`, `data_sha256` and `people` for the card.
        progress: Called with progress messages.

    Raises:
        ValueError: There are no demonstrations, or fewer chains than folds.
    """
    began = time.perf_counter()
    if not demonstrations:
        raise InputError("demonstrations: there are none to learn from")
    chains = len({one.chain for one in demonstrations})
    if chains < settings.folds:
        raise InputError(
            f"demonstrations: are of {chains} sessions, episodes or requests; at least "
            f"{settings.folds} are needed to fit. Fewer can be counted as they are: "
            f"--traces {source['data']}"
        )
    demonstrations = with_names(demonstrations, tools)
    names = list(
        dict.fromkeys(
            [
                *tool_names(tools),
                *(name for one in demonstrations for name in (*one.before, *one.tools)),
            ]
        )
    )
    progress("encoding requests and tools")
    vectors = encoder.encode([one.text for one in demonstrations])
    texts = ToolTexts.encoded(tools, encoder)
    steps = step_rows(demonstrations, names)
    inputs = Inputs.learned(
        [one.text for one in demonstrations], vectors, steps.histories, len(names) + 1
    )
    centroids = cluster_centroids(vectors, settings.clusters, settings.seed)
    count = len(names) + 1
    step, precision, whole, trees = _nothing(inputs, count)
    if settings.combined:
        progress("cross-fitting the features")
        stage = Stage(demonstrations, vectors, names, inputs, steps, centroids, settings)
        trees = fit_trees(stage, texts)
        weights, precision = stage.weights(np.ones(len(demonstrations), dtype=bool))
        step, whole = weights.step, weights.whole
    combined = round(time.perf_counter() - began, 1)
    progress("fitting the linear methods")
    targets = np.zeros((len(demonstrations), count), dtype=np.float32)
    np.add.at(targets, (steps.owner, steps.wanted), 1)
    fitted = Fitted(
        step=step,
        precision=precision,
        whole=whole,
        linear=_linear(steps, count, encoder, settings, vectors.shape[1]),
        learned=fit_softmax(vectors, targets),
        trees=trees,
    )
    memory = Memory(names, inputs, centroids, settings.length)
    for one, vector in zip(demonstrations, vectors, strict=True):
        memory.add(one, vector)
    card = DependencyCard(
        **source,
        encoder=encoder.name,
        settings=asdict(settings),
        seed=settings.seed,
        demonstrations=len(demonstrations),
        seconds=combined,
        figures={},
        held_out=0,
        versions=versions(),
    )
    return NextTool(memory, fitted, tools, texts, encoder, card)


def _nothing(inputs: Inputs, tools: int) -> tuple[Matrix, Matrix, Matrix, str]:
    """Empty models for the combined ranker when it is not fitted."""
    block = 1 + len(inputs.meanings) + inputs.topics.shape[1]
    rows = len(inputs.of_step(np.zeros(block, dtype=np.float32), ()))
    step = np.zeros((rows, tools), dtype=np.float32)
    return step, np.ones(rows, dtype=np.float32), step[:block], ""


def _linear(
    steps: StepRows, tools: int, encoder: Encoder, settings: DependencySettings, dimension: int
) -> Matrix:
    """DTDR-L; zeros when it is not fitted."""
    if not settings.linear:
        return np.zeros((2 * dimension + 1, tools), dtype=np.float32)
    inputs = joint(encoder.encode(steps.texts), encoder.encode(steps.calls))
    return fit_softmax(inputs, np.eye(tools, dtype=np.float32)[steps.wanted], JOINT_PENALTY)


def fitting(
    data: Path,
    *,
    read: DemonstrationData | None = None,
    seed: int = 1,
    threads: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> Callable[..., NextTool]:
    """A function that fits demonstrations of a folder, with its catalogue and the encoder.

    Vectors are cached on disk, so fitting again takes seconds.

    Args:
        data: The folder (or file) of the demonstrations; `tools.json` in it is the catalogue.
        read: What was read of it, with the catalogue, where it was.
        seed: See `DependencySettings`.
        threads: See `DependencySettings`.
        progress: Called with progress messages.
    """
    tools = (read or read_demonstrations(data)).tools
    name = f"{packages.ENCODER}-int8"
    encoder = CachedEncoder(load_encoder(name), cache_folder() / "vectors")
    source = {
        "command": command_line(),
        "data": data.name,
        "data_sha256": hash_of(data),
        "people": sorted(people_of([data])),
    }

    def fit(demonstrations: Sequence[Demonstration], **changes: Any) -> NextTool:
        settings = DependencySettings(seed=seed, threads=threads)
        return fit_next_tool(
            demonstrations, tools, encoder, replace(settings, **changes), source, progress
        )

    return fit


def train_dependency(
    data: Path,
    *,
    observed: Path | None = None,
    catalogue: Path | None = None,
    hold_out: bool = False,
    seed: int = 1,
    threads: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> NextTool:
    """The model of a folder.

    Args:
        data: The folder (or file) of the demonstrations.
        observed: A log of `NextTool.observe`, whose requests are also used for training; may be
            `data` itself.
        catalogue: The tools, where they are neither in the folder nor in a recording.
        hold_out: Learn without the chains that `ctrag eval dependency` holds out, and without
            observations of the same requests; the card then has the figures of these.
        seed: See `DependencySettings`.
        threads: See `DependencySettings`.
        progress: Called with progress messages.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The data break a rule, or are too few.
    """
    read = read_demonstrations(data, catalogue)
    kept = read.demonstrations
    held: list[Demonstration] = []
    fit = fitting(data, read=read, seed=seed, threads=threads, progress=progress)
    if hold_out:
        kept, held = split_held_out(kept)
    watched: list[Demonstration] = []
    if observed is not None:
        if observed.resolve() == data.resolve():
            kept = []  # they are the observations
        # Of a session that is held out nothing is learned, and what the recording says too, once.
        asked = {one.text for one in held} | {one.group for one in held if one.group}
        recorded = {(one.group, one.text, one.before) for one in kept if one.group}
        watched = [
            one
            for one in _observed(observed)
            if one.text not in asked
            and one.group not in asked
            and (one.group, one.text, one.before) not in recorded
        ]
    model = fit([*kept, *watched])
    counted = {"learned": read.learned, "left_out": read.left_out}
    model.card = model.card.model_copy(update={"observed": len(watched), **counted})
    if not held:
        return model
    # A held-out call is written as its source has it; the model may know it as `server/name`.
    names = model.memory.names
    called = {name: names[number] for name, number in model.memory.numbers.items()}
    steps = Steps.of([one.called_by(called) for one in held])
    found = {name: rank_steps(model, steps, name) for name in METHODS}
    figures = {name: figures_of(ranks, steps) for name, ranks in found.items()}
    model.card = model.card.model_copy(update={"figures": figures, "held_out": len(held)})
    return model


def _observed(path: Path) -> list[Demonstration]:
    """Observations as demonstrations; equal requests are in the same fold.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: A line is not an observation.
    """
    if not path.is_file():
        raise NotFound(2, "no such log of observations", str(path))
    return [
        Demonstration(
            f"observed/{number}",
            one.request,
            one.calls,
            one.before,
            one.session or f"{OBSERVED}{one.request}",
        )
        for number, one in enumerate(log.read(path), 1)
    ]
