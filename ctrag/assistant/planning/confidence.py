"""One confidence for a whole call: its API, its values and its words."""

from dataclasses import dataclass

from ctrag.assistant.planning.logistic import LogisticCard, log_odds

CARD = "confidence-card.json"
FEATURES = ("share", "second", "belief", "least", "covered", "none", "named", "plain_named")
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
    covered: float = 1.0
    """Share of the request's telling words that its values have or were read from."""
    plain: float = 1.0
    """Probability that the request says its own values."""
    named: float = 1.0
    """Share of the arguments that name what the person has of which the request has a word."""

    @property
    def product(self) -> float:
        """The confidence without calibration."""
        return self.share * self.belief

    @property
    def features(self) -> list[float]:
        """In the order of `FEATURES`: log odds of the probabilities; 1 for `none()`."""
        odds = [log_odds(one, _FLOOR) for one in (self.share, self.second, self.belief, self.least)]
        covered = 0.0 if self.none else self.covered
        return [*odds, covered, float(self.none), self.named, self.plain * self.named]


class Confidence(LogisticCard):
    """From the evidence to the probability that the call is done right."""

    card_file, features = CARD, FEATURES

    def of(self, evidence: Evidence) -> float:
        """Probability that the call is done right, 0 to 1."""
        return self.probability(evidence.features)
