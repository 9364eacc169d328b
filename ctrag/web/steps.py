"""The steps of a request as a waterfall."""

from collections.abc import Sequence
from dataclasses import dataclass

STEPS = {
    "context.retrieve": "find your items",
    "tools.search": "choose the tools",
    "values.rank": "collect possible values",
    "slots.fill": "read the request's own words",
    "prompt.assemble": "write the prompt",
    "planner.plan": "plan the call",
    "apps.execute": "carry it out",
}
UNDER_WAY = {
    "context.retrieve": "Finding what of yours it is about",
    "tools.search": "Choosing what can be done",
    "values.rank": "Collecting what could be meant",
    "slots.fill": "Reading your words for the details",
    "prompt.assemble": "Writing down what the planner has to know",
    "planner.plan": "Planning the call",
    "apps.execute": "Carrying it out",
}
"""What a page says while a step runs."""
WAITING = "Waiting for the models, which are being loaded or answer somebody else"
_INSIDE = {"slots.fill": "planner.plan", "prompt.assemble": "planner.plan"}
"""Steps that run inside another, whose time includes theirs."""


def under_way(begun: Sequence[str]) -> tuple[list[str], str]:
    """What is done, and what is being done now, of the steps that have begun."""
    if not begun:
        return [], WAITING
    now = begun[-1]
    goes_on = (now, _INSIDE.get(now))
    done = dict.fromkeys(STEPS.get(one, one) for one in begun if one not in goes_on)
    return list(done), UNDER_WAY.get(now, now)


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step's time, from the beginning of the request."""

    name: str
    words: str
    begin: float
    milliseconds: float
    inside: bool
    """Whether it ran inside the step below it."""


def timed(steps: Sequence[tuple[str, float]]) -> tuple[tuple[ShownStep, ...], float]:
    """Steps (name, milliseconds) in the order in which they ended, as a waterfall; and the sum.

    A step inside another comes before it and is part of its time.
    """
    at = 0.0
    shown: list[ShownStep] = []
    waiting: list[tuple[str, float]] = []
    for name, took in steps:
        if name in _INSIDE and any(other == _INSIDE[name] for other, _ in steps):
            waiting.append((name, took))
            continue
        inner = [one for one in waiting if _INSIDE[one[0]] == name]
        shown.append(ShownStep(name, STEPS.get(name, name), at, took, False))
        begin = at
        for inside, length in inner:
            shown.append(ShownStep(inside, STEPS.get(inside, inside), begin, length, True))
            begin += length
        waiting = [one for one in waiting if one not in inner]
        at += took
    return tuple(shown), at
