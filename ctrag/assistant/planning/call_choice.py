"""Which of a few composed calls is meant: how likely its API is, and what it leaves unsaid.

Whether "put Blue Train on the night train list" adds to a note or to a playlist is hard to say of
the APIs alone; that the person's playlist "Night train" leaves nothing unsaid shows in the calls.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from ctrag.assistant.planning.confidence import Evidence
from ctrag.assistant.planning.logistic import LogisticCard

CARD = "call-choice-card.json"
FEATURES = (
    "share",
    "belief",
    "least",
    "covered",
    "plain_covered",
    "none",
    "plain_none",
    "named",
    "plain_named",
)
_FLOOR = 1e-3


class CallChoice(LogisticCard):
    """A conditional logit over calls, fitted on pairs of a right and a wrong one."""

    card_file, features = CARD, FEATURES

    def of(self, calls: Sequence[Evidence]) -> list[float]:
        """Probability of each call among these; together they have the sum of their shares."""
        scores = [
            math.fsum(a * b for a, b in zip(self.weights, features_of(one), strict=True))
            for one in calls
        ]
        top = max(scores, default=0.0)
        odds = [math.exp(one - top) for one in scores]
        whole = math.fsum(one.share for one in calls) / (math.fsum(odds) or 1.0)
        return [one * whole for one in odds]

    def weighed(self, calls: Sequence[Evidence]) -> list[tuple[int, Evidence]]:
        """Places of the calls, best first, and their evidence with these probabilities."""
        if len(calls) < 2:
            return list(enumerate(calls))
        shares = self.of(calls)
        # An API likelier than the second of these could not be called, and stays as likely.
        rival = min(one.second for one in calls)
        left = rival if rival > sorted(one.share for one in calls)[-2] else 0.0
        found = []
        for place in sorted(range(len(calls)), key=lambda place: -shares[place]):
            second = max([left, *shares[:place], *shares[place + 1 :]])
            found.append((place, replace(calls[place], share=shares[place], second=second)))
        return found


def features_of(call: Evidence) -> list[float]:
    """In the order of `FEATURES`."""
    none = float(call.none)
    covered = 0.0 if call.none else call.covered
    logs = [math.log(max(one, _FLOOR)) for one in (call.share, call.belief, call.least)]
    named = call.named
    flags = [covered, call.plain * covered, none, call.plain * none]
    return [*logs, *flags, named, call.plain * named]
