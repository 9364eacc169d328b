"""Fitting a `NextTool`: whatever the trees learn from was made without the request's chain."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag import models
from ctrag.encoder import Encoder, Matrix, load_encoder
from ctrag.settings import cache_folder
from ctrag.threads import one_blas_thread
from ctrag.tools.catalogue import CatalogueTool, load_catalogue
from ctrag.tools.dependency import observed as log
from ctrag.tools.dependency.artefact import DependencyCard, Fitted
from ctrag.tools.dependency.demonstrations import (
    END,
    Demonstration,
    load_demonstrations,
    split_held_out,
)
from ctrag.tools.dependency.evidence import SIGNALS, Weights, ask, candidates, signals
from ctrag.tools.dependency.graph import LENGTH, cluster_centroids
from ctrag.tools.dependency.inputs import Inputs
from ctrag.tools.dependency.linear import fit_softmax, history_text, solve_ridge
from ctrag.tools.dependency.memory import Memory
from ctrag.tools.dependency.next_tool import METHODS, NextTool
from ctrag.tools.dependency.texts import ToolTexts, tool_names, with_names
from ctrag.tools.vectors import CachedEncoder
from eval.dependency_figures import figures_of
from eval.dependency_steps import Steps, rank_steps
from eval.experiment import data_sha256, versions
from training.folds import folds_by_person


@dataclass(frozen=True, slots=True)
class DependencySettings:
    """How the models are fitted."""

    folds: int = 4
    penalty: float = 1.0
    """Of the least-squares models."""
    clusters: int | None = None
    """None for a tenth of the demonstrations."""
    length: int = LENGTH
    """Calls that graphs look back."""
    trees: int = 200
    leaves: int = 15
    rate: float = 0.06
    smallest: int = 40
    """Rows of a leaf at least."""
    hidden: float = 0.15
    """Share of the rarer tools that each fold's models do not get to see, so that the trees learn
    how a tool without a demonstration is found."""
    rare: int = 20
    """Tools with no more demonstrations than this may be hidden."""
    linear: bool = True
    """Fit DTDR-L too, for which every history is encoded with its request."""
    combined: bool = True
    """Fit the combined ranker too."""
    seed: int = 1
    threads: int = 1


@dataclass(frozen=True, slots=True)
class _Steps:
    """All steps of the demonstrations, as rows."""

    owner: NDArray[np.int64]
    """The demonstration of each row."""
    histories: list[tuple[int, ...]]
    texts: list[str]
    """Request and history as one string."""
    wanted: NDArray[np.int64]


def fit_next_tool(
    demonstrations: Sequence[Demonstration],
    tools: Sequence[CatalogueTool],
    encoder: Encoder,
    settings: DependencySettings,
    source: dict[str, Any],
    progress: Callable[[str], None] = lambda _: None,
) -> NextTool:
    """A model of the next tool, all methods in one.

    Args:
        demonstrations: What is learned from.
        tools: The catalogue; demonstrations call its tools by id, or by name where no other has
            it. Tools that are only demonstrated come on top, without a text.
        encoder: Of requests and tool texts.
        settings: See `DependencySettings`.
        source: `command`, `data` and `data_sha256` for the card.
        progress: Told what is being done.

    Raises:
        ValueError: There are no demonstrations, or fewer chains than folds.
    """
    began = time.perf_counter()
    if not demonstrations:
        raise ValueError("demonstrations: there are none to learn from")
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
    steps = _steps(demonstrations, names)
    inputs = Inputs.learned(
        [one.text for one in demonstrations], vectors, steps.histories, len(names) + 1
    )
    centroids = cluster_centroids(vectors, settings.clusters, settings.seed)
    count = len(names) + 1
    step, precision, whole, trees = _nothing(inputs, count)
    if settings.combined:
        progress("cross-fitting the signals")
        stage = _Stage(demonstrations, vectors, names, inputs, steps, centroids, settings)
        trees = _fit_trees(stage, texts)
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


class _Stage:
    """Fits the models that make signals, on any part of the demonstrations."""

    def __init__(
        self,
        demonstrations: Sequence[Demonstration],
        vectors: Matrix,
        names: Sequence[str],
        inputs: Inputs,
        steps: _Steps,
        centroids: Matrix,
        settings: DependencySettings,
    ) -> None:
        self.demonstrations = demonstrations
        self.vectors = vectors
        self.names = names
        self.inputs = inputs
        self.steps = steps
        self.settings = settings
        self._centroids = centroids
        self.fold = folds_by_person(
            [one.chain for one in demonstrations], settings.folds, settings.seed
        )
        tools = len(names) + 1
        self.blocks = np.stack(
            [inputs.of_text(one.text, v) for one, v in zip(demonstrations, vectors, strict=True)]
        )
        self._rows = np.stack(
            [
                inputs.of_step(self.blocks[owner], history)
                for owner, history in zip(steps.owner, steps.histories, strict=True)
            ]
        )
        self._wanted = np.eye(tools, dtype=np.float32)[steps.wanted]
        self._used = np.zeros((len(demonstrations), tools), dtype=np.float32)
        self._used[steps.owner, steps.wanted] = 1
        self._sums = [self._products(self.fold == place) for place in range(settings.folds)]

    def weights(self, kept: NDArray[np.bool_]) -> tuple[Weights, Matrix]:
        """Models of the demonstrations that are kept, whole folds, and the steps' precision."""
        places = [place for place in range(self.settings.folds) if kept[self.fold == place].any()]
        gram, moments = (
            np.sum([self._sums[place][part] for place in places], axis=0) for part in (0, 1)
        )
        penalty = self.settings.penalty
        blocks = self.blocks[kept]
        whole = solve_ridge(blocks.T @ blocks, blocks.T @ self._used[kept], penalty)
        step = solve_ridge(gram, moments, penalty)
        return Weights(step, whole), np.diag(gram) + np.float32(penalty)

    def memory(self, kept: NDArray[np.bool_], hidden: frozenset[str]) -> Memory:
        """Demonstrations that are kept and call no hidden tool."""
        memory = Memory(self.names, self.inputs, self._centroids, self.settings.length)
        for place in np.flatnonzero(kept).tolist():
            one = self.demonstrations[place]
            if hidden.isdisjoint((*one.before, *one.tools)):
                memory.add(one, self.vectors[place])
        return memory

    def hidden(self, place: int) -> frozenset[str]:
        """Rare tools that the models of a fold do not get to see."""
        counts = self._used.sum(axis=0)[1:]
        rare = [name for name, n in zip(self.names, counts, strict=True) if n <= self.settings.rare]
        chosen = np.random.default_rng([self.settings.seed, place]).random(len(rare))
        return frozenset(
            name for name, chance in zip(rare, chosen, strict=True) if chance < self.settings.hidden
        )

    def _products(self, part: NDArray[np.bool_]) -> tuple[Matrix, Matrix]:
        rows = part[self.steps.owner]
        inputs = self._rows[rows]
        return inputs.T @ inputs, inputs.T @ self._wanted[rows]


def _steps(demonstrations: Sequence[Demonstration], names: Sequence[str]) -> _Steps:
    numbers = {END: 0} | {name: number for number, name in enumerate(names, 1)}
    owner, histories, texts, wanted = [], [], [], []
    for place, one in enumerate(demonstrations):
        for step in one.steps():
            owner.append(place)
            histories.append(tuple(numbers[name] for name in step.history))
            texts.append(history_text(one.text, step.history))
            wanted.append(numbers[step.next])
    return _Steps(np.array(owner), histories, texts, np.array(wanted))


def _nothing(inputs: Inputs, tools: int) -> tuple[Matrix, Matrix, Matrix, str]:
    """Models of the combined ranker that say nothing, where it is not asked for."""
    block = 1 + len(inputs.meanings) + inputs.topics.shape[1]
    rows = len(inputs.of_step(np.zeros(block, dtype=np.float32), ()))
    step = np.zeros((rows, tools), dtype=np.float32)
    return step, np.ones(rows, dtype=np.float32), step[:block], ""


def _fit_trees(stage: _Stage, texts: ToolTexts) -> str:
    """LightGBM over candidates: is this the next one? Every fold by models of the others."""
    import lightgbm

    tables, labels = [], []
    for place in range(stage.settings.folds):
        for table, label in _fold_tables(stage, texts, place):
            tables.append(table)
            labels.append(label)
    settings = stage.settings
    booster = lightgbm.train(
        {
            "objective": "binary",
            "num_leaves": settings.leaves,
            "learning_rate": settings.rate,
            "min_data_in_leaf": settings.smallest,
            "feature_fraction": 0.7,
            "bagging_fraction": 0.8,
            "bagging_freq": 1,
            "lambda_l2": 1.0,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": settings.threads,
            "seed": settings.seed,
            "verbose": -1,
        },
        lightgbm.Dataset(
            np.concatenate(tables),
            np.concatenate(labels),
            feature_name=list(SIGNALS),
            free_raw_data=True,
        ),
        num_boost_round=settings.trees,
    )
    return str(booster.model_to_string())


def _fold_tables(
    stage: _Stage, texts: ToolTexts, place: int
) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    kept = stage.fold != place
    hidden = stage.hidden(place)
    memory = stage.memory(kept, hidden)
    weights, _ = stage.weights(kept)
    unseen = [memory.numbers[name] for name in hidden]
    weights.step[:, unseen] = 0
    weights.whole[:, unseen] = 0
    found, every = [], np.arange(len(memory.names))
    with one_blas_thread():
        for owner in np.flatnonzero(~kept).tolist():
            one = stage.demonstrations[owner]
            asked = ask(memory, weights, texts, one.text, stage.vectors[owner])
            for row in np.flatnonzero(stage.steps.owner == owner):
                table = signals(memory, weights, asked, stage.steps.histories[row], every)
                rows = candidates(table)
                found.append((table[rows], (rows == stage.steps.wanted[row]).astype(np.float32)))
    return found


def _linear(
    steps: _Steps, tools: int, encoder: Encoder, settings: DependencySettings, dimension: int
) -> Matrix:
    """DTDR-L; zeros, which say nothing, where it is not asked for."""
    if not settings.linear:
        return np.zeros((dimension + 1, tools), dtype=np.float32)
    return fit_softmax(encoder.encode(steps.texts), np.eye(tools, dtype=np.float32)[steps.wanted])


def fitting(
    data: Path,
    *,
    seed: int = 1,
    threads: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> Callable[..., NextTool]:
    """A function that fits demonstrations of a folder, with its catalogue and the encoder.

    Vectors are remembered in the cache folder, so that fitting again takes seconds.

    Args:
        data: The folder (or file) of the demonstrations; `tools.json` in it is the catalogue.
        seed: See `DependencySettings`.
        threads: See `DependencySettings`.
        progress: Told what is being done.
    """
    catalogue = data / "tools.json"
    tools = load_catalogue(catalogue) if catalogue.is_file() else []
    name = f"{models.ENCODER}-int8"
    encoder = CachedEncoder(load_encoder(name), cache_folder() / "vectors")
    source = {
        "command": f"ctrag train dependency --data {data.name} --seed {seed} --out DIR",
        "data": data.name,
        "data_sha256": sha256(data.read_bytes()).hexdigest()
        if data.is_file()
        else data_sha256(data),
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
    hold_out: bool = False,
    seed: int = 1,
    threads: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> NextTool:
    """The model of a folder.

    Args:
        data: The folder (or file) of the demonstrations.
        observed: A log of `NextTool.observe`, whose requests are learned from as well; may be
            `data` itself.
        hold_out: Learn without the chains that `ctrag eval dependency` holds out, and without
            observations of the same requests; the card then has the figures of these.
        seed: See `DependencySettings`.
        threads: See `DependencySettings`.
        progress: Told what is being done.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The data break a rule, or are too few.
    """
    kept = load_demonstrations(data)
    held: list[Demonstration] = []
    fit = fitting(data, seed=seed, threads=threads, progress=progress)
    if hold_out:
        kept, held = split_held_out(kept)
    watched: list[Demonstration] = []
    if observed is not None:
        if observed.resolve() == data.resolve():
            kept = []  # they are the observations
        asked = {one.text for one in held}
        watched = [one for one in _observed(observed) if one.text not in asked]
    model = fit([*kept, *watched])
    command = model.card.command
    if observed is not None:
        command = command.replace(" --seed", f" --observed {observed.name} --seed")
    if hold_out:
        command = command.replace(" --out", " --hold-out --out")
    model.card = model.card.model_copy(update={"command": command, "observed": len(watched)})
    if not held:
        return model
    steps = Steps.of(held)
    found = {name: rank_steps(model, steps, name) for name in METHODS}
    figures = {name: figures_of(ranks, steps) for name, ranks in found.items()}
    model.card = model.card.model_copy(update={"figures": figures, "held_out": len(held)})
    return model


def _observed(path: Path) -> list[Demonstration]:
    """Observations as demonstrations; the same request again is in the same fold.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: A line is no observation.
    """
    if not path.is_file():
        raise FileNotFoundError(2, "no such log of observations", str(path))
    return [
        Demonstration(
            f"observed/{number}", one.request, one.calls, group=f"observed: {one.request}"
        )
        for number, one in enumerate(log.read(path), 1)
    ]
