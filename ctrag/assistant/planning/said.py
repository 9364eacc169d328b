"""Whether the value of an argument is what the request says, or what the person's items have.

"directions to the station" says a place, "directions to the stitches man" hints at one that an item
has. The slot filler reads words in both; a logistic regression over what is known of both values
decides.
"""

import math
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ctrag.errors import reading
from ctrag.models.cards import Card
from stores.files import write_text

CARD = "said-card.json"
FEATURES = (
    "plain",
    "said",
    "ranked",
    "known",
    "capital",
    "definite",
    "new",
    "person",
    "moment",
    "place",
    "owned",
    "optional",
)
_FLOOR = 1e-3


@dataclass(frozen=True, slots=True)
class SaidEvidence:
    """What is known of an argument whose slot the request seems to fill."""

    plain: float
    """Probability that the request is plain."""
    said: float
    """Of what the slot filler read."""
    ranked: float
    """Belief in the best ranked value, or in leaving the argument out; 0 without candidates."""
    known: bool
    """Whether what was said is a candidate, a contact or a moment."""
    capital: bool
    definite: bool
    """Whether a definite word stands before it: "the station", "her place"."""
    kind: str
    """`person`, `moment`, `place`, `owned` (playlists, lists, folders) or another."""
    optional: bool

    @property
    def features(self) -> list[float]:
        """In the order of `FEATURES`."""
        odds = [_log_odds(one) for one in (self.plain, self.said, self.ranked)]
        flags = (self.known, self.capital, self.definite, not self.known)
        kinds = [self.kind == one for one in ("person", "moment", "place", "owned")]
        return [*odds, *(float(one) for one in (*flags, *kinds, self.optional))]


class SaidChoice(Card):
    """The logistic regression."""

    weights: list[float]
    """One per feature of `FEATURES`."""
    bias: float

    @classmethod
    def load(cls, folder: Path) -> "SaidChoice":
        """What `save` wrote; FileNotFoundError when there is nothing."""
        with reading(folder / CARD):
            return cls.model_validate_json((folder / CARD).read_text(encoding="utf-8"))

    @classmethod
    def packaged(cls) -> "SaidChoice | None":
        """The one that ctrag ships."""
        folder = Path(str(files("ctrag.assistant.planning").joinpath("artefact")))
        return cls.load(folder) if (folder / CARD).exists() else None

    def save(self, folder: Path) -> None:
        """Write it into `folder`, which is made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / CARD, self.model_dump_json(indent=1) + "\n")

    def of(self, evidence: SaidEvidence) -> float:
        """Probability, 0 to 1, that the value is what was said."""
        total = self.bias + math.fsum(
            weight * value for weight, value in zip(self.weights, evidence.features, strict=True)
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def _log_odds(probability: float) -> float:
    kept = min(max(probability, _FLOOR), 1 - _FLOOR)
    return math.log(kept / (1 - kept))
