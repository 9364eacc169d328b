"""One confidence for a whole call: its API, its values and its words."""

import math
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ctrag.errors import reading
from ctrag.models.cards import Card
from stores.files import write_text

CARD = "confidence-card.json"
FEATURES = ("share", "second", "belief", "least", "none")
_FLOOR = 1e-4


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a plan when it is made; all 0 to 1."""

    share: float
    """Probability of its API among those that can be called."""
    second: float
    """Probability of the next best one."""
    belief: float = 1.0
    """Product of the probabilities of its arguments."""
    least: float = 1.0
    """The smallest of them."""
    none: bool = False
    """Whether it is `none()`."""

    @property
    def product(self) -> float:
        """The confidence without calibration."""
        return self.share * self.belief

    @property
    def features(self) -> list[float]:
        """In the order of `FEATURES`: log odds of the probabilities, and 1 for `none()`."""
        odds = [_log_odds(one) for one in (self.share, self.second, self.belief, self.least)]
        return [*odds, float(self.none)]


class Confidence(Card):
    """A logistic regression from the evidence to the probability that the call is done right."""

    weights: list[float]
    """One per feature of `FEATURES`."""
    bias: float

    @classmethod
    def load(cls, folder: Path) -> "Confidence":
        """What `save` wrote; FileNotFoundError when there is nothing."""
        with reading(folder / CARD):
            return cls.model_validate_json((folder / CARD).read_text(encoding="utf-8"))

    @classmethod
    def packaged(cls) -> "Confidence | None":
        """The one that ctrag ships."""
        folder = Path(str(files("ctrag.assistant.planning").joinpath("artefact")))
        return cls.load(folder) if (folder / CARD).exists() else None

    def save(self, folder: Path) -> None:
        """Write it into `folder`, which is made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / CARD, self.model_dump_json(indent=1) + "\n")

    def of(self, evidence: Evidence) -> float:
        """Probability that the call is done right, 0 to 1."""
        total = self.bias + math.fsum(
            weight * value for weight, value in zip(self.weights, evidence.features, strict=True)
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def _log_odds(probability: float) -> float:
    kept = min(max(probability, _FLOOR), 1 - _FLOOR)
    return math.log(kept / (1 - kept))
