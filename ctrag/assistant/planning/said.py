"""Whether the value of an argument is what the request says, or what the person's items have.

"directions to the station" says a place, "directions to the stitches man" hints at one that an item
has. The slot filler reads words in both; a logistic regression over what is known of both values
decides.
"""

from dataclasses import dataclass

from ctrag.assistant.planning.logistic import LogisticCard, log_odds

CARD = "said-card.json"
FEATURES = (
    "plain",
    "said",
    "ranked",
    "known",
    "capital",
    "definite",
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
        odds = [log_odds(one, _FLOOR) for one in (self.plain, self.said, self.ranked)]
        flags = (self.known, self.capital, self.definite)
        kinds = [self.kind == one for one in ("person", "moment", "place", "owned")]
        return [*odds, *(float(one) for one in (*flags, *kinds, self.optional))]


class SaidChoice(LogisticCard):
    """From the evidence to the probability that the value is what was said."""

    card_file, features = CARD, FEATURES

    def of(self, evidence: SaidEvidence) -> float:
        """Probability, 0 to 1, that the value is what was said."""
        return self.probability(evidence.features)
