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
_INSIDE = {"slots.fill": "planner.plan", "prompt.assemble": "planner.plan"}
"""Steps that run inside another, whose time includes theirs."""


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
