"""Calls that were made of a request, to choose from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctrag.assistant.planning.addressee import SENDS
from ctrag.assistant.planning.confidence import Evidence
from ctrag.assistant.planning.plan import NONE, Plan

_CHOICES = 3
"""Plans that an unsure answer offers, its own included."""
_NOTES_CHANGED = ("append_to_note", "update_note")
_NOTES_DOWN = re.compile(
    r"\W*(?:(?:please|and|also|ok(?:ay)?|so|can you|could you|quick|new)\W+)*"
    r"(?:(?:jot|write|note|put|take)\s+(?:(?:this|it)\s+)?down"
    r"|(?:make|take|write)\s+(?:me\s+)?a\s+(?:quick\s+)?note"
    r"|note\s*(?::|that\b|to\s+self)|note\b(?=[^:]{0,20}:))",
    re.IGNORECASE,
)
_SOMEWHERE = re.compile(
    r"\b(?:in|on|to|onto|under|into)\s+(?:(?:the|my|our|his|her|that|this|same)\s+)?(?:[\w'’-]+\s+){0,3}"
    r"(?:notes?|list|log|diary|journal|file|page|sheet)\b",
    re.IGNORECASE,
)
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
    vain: bool = False
    instead: bool = False
    """Whether it stands for a likelier call that cannot be meant."""


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
    _demote(made, shares, [at for at, one in enumerate(made) if one.astray], fit)


def none_in_vain(made: list[Decoded], shares: list[float]) -> None:
    """Leave out, in place, what cannot be meant, where another call can; arguments as above.

    What is left out gives its share to the likeliest of the others.
    """
    fit = [at for at, one in enumerate(made) if not one.vain and one.plan not in (None, NONE)]
    vain = [at for at, one in enumerate(made) if one.vain]
    if not fit or not vain:
        return
    if max(shares[at] for at in vain) > shares[fit[0]]:
        made[fit[0]] = replace(made[fit[0]], instead=True)
    shares[fit[0]] += sum(shares[at] for at in vain)
    for at in reversed(vain):
        del made[at], shares[at]
    order = sorted(range(len(made)), key=lambda at: -shares[at])
    made[:], shares[:] = [made[at] for at in order], [shares[at] for at in order]


def _demote(
    made: list[Decoded], shares: list[float], wrong: Sequence[int], fit: Sequence[int]
) -> None:
    """Give most of the shares of the calls in the places `wrong` to the first of `fit`."""
    if not fit or not wrong:
        return
    for place in wrong:
        shares[fit[0]] += (1 - _ASTRAY) * shares[place]
        shares[place] *= _ASTRAY
    order = sorted(range(len(made)), key=lambda at: -shares[at])
    made[:], shares[:] = [made[at] for at in order], [shares[at] for at in order]


def notes_down(made: Sequence[Decoded], request: str) -> bool:
    """Whether a request notes something down, and the likeliest call sends it or changes a note
    that the request does not name."""
    if not made or not (_changes_note(made[0]) or _sends(made[0].plan)):
        return False
    return _SOMEWHERE.search(request) is None and _NOTES_DOWN.match(request) is not None


def _changes_note(call: Decoded) -> bool:
    return call.plan is not None and call.plan.api in _NOTES_CHANGED and not call.named


def only_new_note(made: list[Decoded], shares: list[float], request: str) -> None:
    """Leave out, in place, what sends a new note or adds it to one that the request does not name.

    "Jot down that the tap drips" adds to no note of the person's that has not a word of it.

    Args:
        made: Calls, likeliest first.
        shares: How likely each is.
        request: What was said.
    """
    fit = [at for at, one in enumerate(made) if one.plan and one.plan.api == "create_note"]
    if not fit or not notes_down(made, request):
        return
    wrong = [at for at, one in enumerate(made) if _changes_note(one) or _sends(one.plan)]
    shares[fit[0]] += sum(shares[at] for at in wrong)
    for at in reversed(wrong):
        del made[at], shares[at]


def _sends(plan: Plan | None) -> bool:
    return plan is not None and plan.api in SENDS
