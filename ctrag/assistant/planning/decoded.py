"""Calls that were made of a request, to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctrag.assistant.planning.addressee import SENDS
from ctrag.assistant.planning.confidence import Evidence
from ctrag.assistant.planning.plan import NONE, Plan

_CHOICES = 3
"""Plans that an unsure answer offers, its own included."""
_ASTRAY = 0.05
"""How likely a call remains that sends to others than the one addressed."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A call, or `none()`."""

    plan: Plan | None
    text: str
    tokens: int
    beliefs: tuple[float, ...] = ()
    variants: tuple[tuple[Plan, float], ...] = ()
    covered: float = 1.0
    named: float = 1.0
    astray: bool = False


def next_best(calls: Sequence[tuple[Decoded, Evidence]]) -> tuple[Plan, ...]:
    """Other plans than the first call's, likeliest first, `_CHOICES` - 1 at most.

    They are the other calls, and each call with another value of one argument.
    """
    found: dict[str, tuple[float, Plan]] = {}
    for call, evidence in calls:
        if call.plan is None or call.plan == NONE:
            continue
        for plan, odds in ((call.plan, 1.0), *call.variants):
            weight = odds * evidence.product
            if weight > found.get(str(plan), (0.0, plan))[0]:
                found[str(plan)] = (weight, plan)
    found.pop(str(calls[0][0].plan), None)
    ranked = sorted(found.values(), key=lambda one: -one[0])
    return tuple(plan for _, plan in ranked[: _CHOICES - 1])


def unlikely_astray(made: list[Decoded], shares: list[float]) -> None:
    """Make calls unlikely that send to others than the one addressed, where some call does not.

    What they lose goes to the likeliest such call; the order changes with it, in place.

    Args:
        made: Calls, likeliest first.
        shares: How likely each is.
    """
    fit = [at for at, one in enumerate(made) if not one.astray and _sends(one.plan)]
    if not fit:
        return
    lost = 0.0
    for place, one in enumerate(made):
        if one.astray:
            lost += (1 - _ASTRAY) * shares[place]
            shares[place] *= _ASTRAY
    shares[fit[0]] += lost
    order = sorted(range(len(made)), key=lambda at: -shares[at])
    made[:], shares[:] = [made[at] for at in order], [shares[at] for at in order]


def _sends(plan: Plan | None) -> bool:
    return plan is not None and plan.api in SENDS
