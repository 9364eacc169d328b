"""Whether a request says its own values, or only hints at what the person has.

"tell Anna I'm late" is plain: its slots are read from it. "walking home, you know the drill" is
not:
what it names is no value, and everything comes from the person's items.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from ctrag.assistant.planning.logistic import logistic
from ctrag.models.array_artefact import ArrayArtefact
from ctrag.models.arrays import arrays_digest
from ctrag.models.cards import Card
from ctrag.models.encoder import Matrix

WEIGHTS, CARD = "plainness.npz", "plainness-card.json"
PLAIN = 0.5
"""Probability from which a request counts as plain."""


class PlainnessCard(Card):
    """Where it comes from."""

    encoder: str
    """Encoder of the requests' vectors."""
    bias: float


@dataclass(frozen=True, slots=False)
class Plainness(ArrayArtefact[PlainnessCard]):
    """A logistic regression over the request's vector; array `weights` (dimension,)."""

    weights_file, card_file, card_class = WEIGHTS, CARD, PlainnessCard

    @classmethod
    def packaged(cls) -> "Plainness":
        """The one that ctrag ships."""
        return cls.load(Path(str(files("ctrag.assistant.planning").joinpath("artefact"))))

    @property
    def digest(self) -> str:
        """Fingerprint of weights and bias."""
        return arrays_digest(str(self.card.bias), self.arrays)

    def of(self, vector: Matrix) -> float:
        """Probability, 0 to 1, that a request is plain.

        Args:
            vector: (dimension,): the request's, by the card's encoder.
        """
        total = float(np.dot(self.arrays["weights"], vector)) + self.card.bias
        return logistic(total)
