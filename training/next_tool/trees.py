"""The trees of the combined ranker, on features computed by models of the other folds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool.demonstrations import END, Demonstration
from ctrag.agents.next_tool.evidence import FEATURES, EvidenceWeights, ask, candidates, features
from ctrag.agents.next_tool.inputs import Inputs
from ctrag.agents.next_tool.linear import history_alone, history_text, solve_ridge
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.texts import ToolTexts
from ctrag.models.blas import one_blas_thread
from ctrag.models.encoder import Matrix
from training.core.folds import folds_by_person
from training.next_tool.settings import DependencySettings


@dataclass(frozen=True, slots=True)
class StepRows:
    """All steps of the demonstrations, as rows."""

    owner: NDArray[np.int64]
    """The demonstration of each row."""
    histories: list[tuple[int, ...]]
    texts: list[str]
    """Request and history as one string."""
    calls: list[str]
    """The history alone."""
    wanted: NDArray[np.int64]


def step_rows(demonstrations: Sequence[Demonstration], names: Sequence[str]) -> StepRows:
    """In order; `names` are the tools that have the numbers from 1."""
    numbers = {END: 0} | {name: number for number, name in enumerate(names, 1)}
    owner, histories, texts, calls, wanted = [], [], [], [], []
    for place, one in enumerate(demonstrations):
        for step in one.steps():
            owner.append(place)
            histories.append(tuple(numbers[name] for name in step.history))
            texts.append(history_text(one.text, step.history))
            calls.append(history_alone(step.history))
            wanted.append(numbers[step.next])
    return StepRows(np.array(owner), histories, texts, calls, np.array(wanted))


class Stage:
    """Fits the models that compute features, on any subset of the demonstrations."""

    def __init__(
        self,
        demonstrations: Sequence[Demonstration],
        vectors: Matrix,
        names: Sequence[str],
        inputs: Inputs,
        steps: StepRows,
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
        self.rows = np.stack(
            [
                inputs.of_step(self.blocks[owner], history)
                for owner, history in zip(steps.owner, steps.histories, strict=True)
            ]
        )
        self._wanted = np.eye(tools, dtype=np.float32)[steps.wanted]
        self._used = np.zeros((len(demonstrations), tools), dtype=np.float32)
        self._used[steps.owner, steps.wanted] = 1
        self._sums = [self._products(self.fold == place) for place in range(settings.folds)]

    def weights(
        self, kept: NDArray[np.bool_], out: NDArray[np.bool_] | None = None
    ) -> tuple[EvidenceWeights, Matrix]:
        """Models of demonstrations, and the steps' precision.

        Args:
            kept: Those that are fitted, whole folds.
            out: But not these.
        """
        places = [place for place in range(self.settings.folds) if kept[self.fold == place].any()]
        gram, moments = (
            np.sum([self._sums[place][part] for place in places], axis=0) for part in (0, 1)
        )
        if out is not None:
            less = self._products(kept & out)
            gram, moments = gram - less[0], moments - less[1]
            kept = kept & ~out
        penalty = self.settings.penalty
        blocks = self.blocks[kept]
        whole = solve_ridge(blocks.T @ blocks, blocks.T @ self._used[kept], penalty)
        step = solve_ridge(gram, moments, penalty)
        return EvidenceWeights(step, whole), np.diag(gram) + np.float32(penalty)

    def memory(self, kept: NDArray[np.bool_], hidden: frozenset[str]) -> Memory:
        """Kept demonstrations that call no hidden tool."""
        memory = Memory(self.names, self.inputs, self._centroids, self.settings.length)
        calling = self.calling(hidden)
        for place in np.flatnonzero(kept).tolist():
            one = self.demonstrations[place]
            if not calling[place]:
                memory.add(one, self.vectors[place])
        return memory

    def calling(self, tools: frozenset[str]) -> NDArray[np.bool_]:
        """Demonstrations that call one of these tools."""
        called = [(*one.before, *one.tools) for one in self.demonstrations]
        return np.array([not tools.isdisjoint(one) for one in called], dtype=bool)

    def hidden(self, place: int) -> frozenset[str]:
        """Rare tools that are hidden from the models of a fold."""
        counts = self._used.sum(axis=0)[1:]
        rare = [name for name, n in zip(self.names, counts, strict=True) if n <= self.settings.rare]
        chosen = np.random.default_rng([self.settings.seed, place]).random(len(rare))
        return frozenset(
            name for name, chance in zip(rare, chosen, strict=True) if chance < self.settings.hidden
        )

    def _products(self, part: NDArray[np.bool_]) -> tuple[Matrix, Matrix]:
        rows = part[self.steps.owner]
        inputs = self.rows[rows]
        return inputs.T @ inputs, inputs.T @ self._wanted[rows]


def fit_trees(stage: Stage, texts: ToolTexts) -> str:
    """LightGBM over candidates: is this the next one? Features are cross-fitted."""
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
            feature_name=list(FEATURES),
            free_raw_data=True,
        ),
        num_boost_round=settings.trees,
    )
    return str(booster.model_to_string())


def _fold_tables(
    stage: Stage, texts: ToolTexts, place: int
) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    kept = stage.fold != place
    hidden = stage.hidden(place)
    memory = stage.memory(kept, hidden)
    # Where a hidden tool is right, its requests must not speak against the others either: to a
    # model that never saw the tool, these requests are not known at all.
    weights, _ = stage.weights(kept, stage.calling(hidden))
    unseen = [memory.numbers[name] for name in hidden]
    weights.step[:, unseen] = 0
    weights.whole[:, unseen] = 0
    found, every = [], np.arange(len(memory.names))
    for owner in np.flatnonzero(~kept).tolist():
        one = stage.demonstrations[owner]
        with one_blas_thread():
            asked = ask(memory, weights, texts, one.text, stage.vectors[owner])
            for row in np.flatnonzero(stage.steps.owner == owner):
                table = features(memory, weights, asked, stage.steps.histories[row], every)
                rows = candidates(table)
                found.append((table[rows], (rows == stage.steps.wanted[row]).astype(np.float32)))
    return found
