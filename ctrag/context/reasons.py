"""Why an item ranks where it does, in words.

LightGBM says how much each signal adds to an item's score. Signals of one matter (meaning, habit,
time, …) are summed; a matter whose sum weighs is told by what `matters` has to say that speaks the
same way as the sum, and passed over when it has nothing.
"""

import math

from ctrag.context.case import COLUMN, Case
from ctrag.context.matters import AGAINST, EITHER, FOR, MATTERS, Matter, Said
from ctrag.context.scene import Scene
from ctrag.context.signals import SIGNALS, Signal
from ctrag.context.view import Floats
from ctrag.context.wordings import others

LIFTING, LOWERING = 4, 2
"""Reasons at most for an item and against it."""
_LIFTS_FROM, _LOWERS_FROM = 0.1, 0.2
"""Weight from which a reason is told, as a share of the strongest that is seen in the item."""
_LEAST = 0.05
"""Weight below which no reason is told."""


def because(scene: Scene, row: int, table: Floats, lifts: Floats) -> tuple[str, ...]:
    """Why a candidate ranks where it does: what lifts it, strongest first, then each "but …".

    Args:
        scene: The request beside the candidates.
        row: The candidate's row in the scene.
        table: (candidates, signals), as `signals.compute` gives it.
        lifts: (signals,): what each adds to the candidate's score beyond what it adds to the
            median candidate's.

    Returns:
        Clauses without a full stop; none when nothing that can be said weighs enough.
    """
    case = Case(scene, row, table)
    weighed = [
        (float(sum(lifts[COLUMN[name]] for name in matter.signals)), matter)
        for matter in all_matters()
    ]
    weighed.sort(key=lambda one: -abs(one[0]))
    strongest = max(abs(weight) for weight, matter in weighed if matter.seen)
    lifting: list[str] = []
    lowering: list[str] = []
    for weight, matter in weighed:
        if abs(weight) < max(_LEAST, strongest * (_LIFTS_FROM if weight > 0 else _LOWERS_FROM)):
            continue
        fitting = (FOR if weight > 0 else AGAINST, EITHER)
        told = next((said for speaks, said in matter.tell(case) if speaks in fitting), None)
        if told is not None:
            (lifting if weight > 0 else lowering).append(" ".join(told.split()))
    return (*lifting[:LIFTING], *(f"but {told}" for told in lowering[:LOWERING]))


def all_matters() -> list[Matter]:
    """The matters declared here, and one for each signal that none of them has."""
    known = {name for matter in MATTERS for name in matter.signals}
    return MATTERS + [by_meaning(signal) for signal in SIGNALS if signal.name not in known]


def by_meaning(signal: Signal) -> Matter:
    """The matter of a signal without phrases: its declared meaning, and how the value stands."""
    meaning = signal.meaning.partition(";")[0].rstrip(".")
    meaning = meaning[0].lower() + meaning[1:]

    def tell(case: Case) -> Said:
        value = case.value(signal.name)
        if math.isnan(value):
            yield EITHER, f"{meaning}: does not apply"
        elif signal.unit == "flag":
            yield EITHER, f"{meaning}: {'yes' if value else 'no'}"
        else:
            above = case.above(signal.name)
            more = f", more than for {others(above)}" if above >= 0.5 else ""
            yield EITHER, f"{meaning}: {value:.2f}{more}"

    return Matter((signal.name,), tell)
