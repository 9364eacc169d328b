"""The LambdaMART ranker: LightGBM models, the learned features and its card."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.features import FEATURES, compute
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.learned_features import LearnedFeatures
from ctrag.assistant.context.second_stage import SECOND_STAGE_FEATURES, second_pass
from ctrag.errors import InputError, reading
from ctrag.models.arrays import load_arrays, save_arrays
from ctrag.models.cards import Card
from ctrag.models.encoder import Matrix
from ctrag.models.trees import booster
from stores.compressed import read_kept
from stores.files import write_text

if TYPE_CHECKING:
    import lightgbm

MODEL, SECOND, LEARNED, CARD = "ranker.txt", "company.txt", "prior.npz", "card.json"


_ALL_TREES = 400
"""Most rows that all trees score."""
_FIRST_TREES = 150
_BEHIND = np.float32(1000)


class RankerCard(Card):
    """Where a ranker comes from and how its rankings are fused."""

    encoder: str
    signals: list[str]
    company: list[str]
    """Features of the second pass."""
    fusion_k: float
    fusion_weights: dict[str, float]
    """Ranking (`lambdamart`, `dense`, `bm25`) → weight."""
    ablation: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Feature group → the figures without it, cross-validated; empty when it was not asked for."""


@dataclass(frozen=True, slots=False)
class Ranker:
    """Orders candidates by learned relevance."""

    model: str
    """The LightGBM model of the first pass as text."""
    second: str
    """That of the second, listwise pass."""
    learned: LearnedFeatures
    card: RankerCard

    @classmethod
    def load(cls, folder: Path) -> "Ranker":
        """The ranker that `save` wrote.

        Raises:
            FileNotFoundError: A file is missing.
            ValueError: The artefact was trained on other features than this version computes.
        """
        with reading(folder / CARD):
            card = RankerCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
        made_for = [*card.signals, *card.company]
        known = [feature.name for feature in FEATURES] + [
            feature.name for feature in SECOND_STAGE_FEATURES
        ]
        if made_for != known:
            differ = sorted(set(made_for) ^ set(known)) or ["their order"]
            raise InputError(
                f"{folder}: made for other features ({', '.join(differ[:5])}); "
                f"train it again: {card.command}"
            )
        with reading(folder / LEARNED):
            arrays = load_arrays(folder / LEARNED)
            learned = _learned(arrays)
        model, second = (read_kept(folder / name).decode("utf-8") for name in (MODEL, SECOND))
        return cls(model, second, learned, card)

    @classmethod
    def packaged(cls) -> "Ranker":
        """The ranker that ctrag ships, trained on the reference people."""
        return cls.load(Path(str(files("ctrag.assistant.context").joinpath("artefact"))))

    def save(self, folder: Path) -> None:
        """Write models, learned features and card into `folder`, which is made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / MODEL, self.model)
        write_text(folder / SECOND, self.second)
        save_arrays(folder / LEARNED, _kept(self.learned), eight_bits=True)
        write_text(folder / CARD, self.card.model_dump_json(indent=1) + "\n")

    def scores(self, context: FeatureContext) -> Floats:
        """Learned relevance of each candidate; only the order means something."""
        if not len(context):
            return np.empty(0, dtype=np.float32)
        return self.scores_of(context, compute(context, self.learned))

    def scores_of(self, context: FeatureContext, table: Floats) -> Floats:
        """`scores` from the features of every candidate."""
        return second_pass(context, self.first_scores(table), self._correct)

    def first_scores(self, table: Floats) -> Floats:
        """Scores of the first pass, each item on its own.

        Of more than `_ALL_TREES` rows, all trees score only the best by the first trees; the others
        stay behind.
        """
        if len(table) <= _ALL_TREES:
            predicted = self._booster.predict(table, num_threads=1)
            return np.asarray(predicted, dtype=np.float32)
        early = self._booster.predict(table, num_threads=1, num_iteration=_FIRST_TREES)
        scores = np.asarray(early, dtype=np.float32) - _BEHIND
        best = np.argpartition(-scores, _ALL_TREES)[:_ALL_TREES]
        scores[best] = self._booster.predict(table[best], num_threads=1)
        return scores

    def contributions(self, table: Floats) -> Floats:
        """(candidates, features + 1): what each feature adds in the first pass, then the base."""
        predicted = self._booster.predict(table, num_threads=1, pred_contrib=True)
        return np.asarray(predicted, dtype=np.float32)

    def _correct(self, table: Floats) -> Floats:
        predicted = self._second_booster.predict(table, num_threads=1)
        return np.asarray(predicted, dtype=np.float32)

    @cached_property
    def _booster(self) -> "lightgbm.Booster":
        return booster(self.model, MODEL)

    @cached_property
    def _second_booster(self) -> "lightgbm.Booster":
        return booster(self.second, SECOND)


_DIAGONAL = "item_diagonal"
"""The map's own part of each axis, apart: beside it, 8 bits are enough for what is mixed in."""


def _kept(learned: LearnedFeatures) -> dict[str, Matrix]:
    arrays = {name: getattr(learned, name) for name in LearnedFeatures.__slots__}
    diagonal = np.diag(learned.item_map)
    return arrays | {"item_map": learned.item_map - np.diag(diagonal), _DIAGONAL: diagonal}


def _learned(arrays: Mapping[str, Matrix]) -> LearnedFeatures:
    """What `_kept` gave; also of older files, which have the whole map."""
    if lacking := [name for name in LearnedFeatures.__slots__ if name not in arrays]:
        raise ValueError(f"lacks {', '.join(lacking)}")
    found = {name: arrays[name] for name in LearnedFeatures.__slots__}
    if _DIAGONAL in arrays:
        found["item_map"] = found["item_map"] + np.diag(arrays[_DIAGONAL])
    return LearnedFeatures(**found)
