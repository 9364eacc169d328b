"""The LambdaMART ranker: a LightGBM model, the prior it was trained with, and its card."""

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from ctrag.context.prior import Prior
from ctrag.context.scene import Scene
from ctrag.context.signals import SIGNALS, compute
from ctrag.context.view import Floats
from stores.files import write_text

if TYPE_CHECKING:
    import lightgbm

MODEL, PRIOR, CARD = "ranker.txt", "prior.npz", "card.json"


class RankerCard(BaseModel):
    """Where a ranker comes from and how its rankings are fused."""

    model_config = ConfigDict(extra="forbid")
    command: str
    """Makes the artefact again."""
    encoder: str
    signals: list[str]
    fusion_k: float
    fusion_weights: dict[str, float]
    """Ranking (`lambdamart`, `dense`, `bm25`) → weight."""
    settings: dict[str, Any]
    data: str
    data_sha256: str
    seed: int
    figures: dict[str, dict[str, float]]
    """Cross-validated by person: method → figure, in percent."""
    versions: dict[str, str]


@dataclass(frozen=True, slots=False)
class Ranker:
    """Orders candidates by learned relevance."""

    model: str
    """The LightGBM model as text."""
    prior: Prior
    card: RankerCard

    @classmethod
    def load(cls, folder: Path) -> "Ranker":
        """The ranker that `save` wrote.

        Raises:
            FileNotFoundError: A file is missing.
            ValueError: The artefact was made for other signals than this version computes.
        """
        card = RankerCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
        known = [signal.name for signal in SIGNALS]
        if card.signals != known:
            differ = sorted(set(card.signals) ^ set(known)) or ["their order"]
            raise ValueError(
                f"{folder}: made for other signals ({', '.join(differ[:5])}); "
                f"train it again: {card.command}"
            )
        with np.load(folder / PRIOR) as arrays:
            prior = Prior(*(arrays[name].astype(np.float32) for name in Prior.__slots__))
        return cls((folder / MODEL).read_text(encoding="utf-8"), prior, card)

    @classmethod
    def packaged(cls) -> "Ranker":
        """The ranker that ctrag ships, trained on the reference people."""
        return cls.load(Path(str(files("ctrag.context").joinpath("artefact"))))

    def save(self, folder: Path) -> None:
        """Write model, prior and card into `folder`, which is made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / MODEL, self.model)
        temporary = folder / f".{PRIOR}"
        with temporary.open("wb") as file:
            np.savez_compressed(
                file,
                allow_pickle=False,
                **{name: getattr(self.prior, name).astype(np.float16) for name in Prior.__slots__},
            )
        temporary.replace(folder / PRIOR)
        write_text(folder / CARD, self.card.model_dump_json(indent=1) + "\n")

    def scores(self, scene: Scene) -> Floats:
        """Learned relevance of each candidate; only the order means something."""
        if not len(scene):
            return np.empty(0, dtype=np.float32)
        return self.scores_of(compute(scene, self.prior))

    def scores_of(self, table: Floats) -> Floats:
        """Learned relevance of rows of signals."""
        predicted = self._booster.predict(table, num_threads=1)
        return np.asarray(predicted, dtype=np.float32)

    def contributions(self, scene: Scene) -> Floats:
        """(candidates, signals + 1): what each signal adds to a score; last is the base."""
        table = compute(scene, self.prior)
        predicted = self._booster.predict(table, num_threads=1, pred_contrib=True)
        return np.asarray(predicted, dtype=np.float32)

    @cached_property
    def _booster(self) -> "lightgbm.Booster":
        import lightgbm

        return lightgbm.Booster(model_str=self.model)
