"""Logistic regressions in a card: a few weights, no arrays."""

import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import ClassVar, Self

from ctrag.errors import InputError, reading
from ctrag.models.cards import Card
from stores.files import write_text

_LARGEST = 30.0


class LogisticCard(Card):
    """Weights of named features, in a file of their own; each kind names file and features."""

    card_file: ClassVar[str]
    features: ClassVar[tuple[str, ...]]

    weights: list[float]
    """One per feature."""
    bias: float

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote.

        Raises:
            FileNotFoundError: There is nothing.
            ValueError: It was fitted on other features than this version computes.
        """
        with reading(folder / cls.card_file):
            card = cls.model_validate_json((folder / cls.card_file).read_text(encoding="utf-8"))
        if card.settings.get("features") != list(cls.features):
            raise InputError(f"{folder}: made for other features; train it again: {card.command}")
        return card

    @classmethod
    def packaged(cls) -> Self:
        """The one that ctrag ships."""
        return cls.load(Path(str(files("ctrag.assistant.planning").joinpath("artefact"))))

    def save(self, folder: Path) -> None:
        """Write it into `folder`, which is made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / self.card_file, self.model_dump_json(indent=1) + "\n")

    def probability(self, values: Sequence[float]) -> float:
        """0 to 1, for one value per feature."""
        total = math.fsum(one * value for one, value in zip(self.weights, values, strict=True))
        return logistic(total + self.bias)


def logistic(total: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    return 1 / (1 + math.exp(-max(-_LARGEST, min(_LARGEST, total))))


def log_odds(probability: float, floor: float) -> float:
    """log(p / (1 - p)), p kept within `floor` of 0 and 1."""
    kept = min(max(probability, floor), 1 - floor)
    return math.log(kept / (1 - kept))
