"""Figures of the held-out steps whose request or chain no learned demonstration gives away."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ctrag.agents.next_tool import Demonstration
from eval.core.twins import twins
from eval.dependency.figures import figures_of, first_step, intervals_of
from eval.dependency.steps import Ranks, Steps

WORDS, CHAINS = "words", "words or chain"


def without_twins(
    ranks: Mapping[str, Ranks],
    steps: Steps,
    held: Sequence[Demonstration],
    learned: Sequence[Demonstration],
) -> dict[str, JsonValue]:
    """Figures and intervals without twins in words, and without those in words or chain.

    Args:
        ranks: Of all steps, by method.
        steps: All steps.
        held: Whose they are.
        learned: What the model learned from.
    """
    said = twins([one.text for one in held], [one.text for one in learned])
    chains = {one.tools for one in learned}
    done = np.array([one.tools in chains for one in held], dtype=bool)
    found: dict[str, JsonValue] = {}
    for name, twin in ((WORDS, said), (CHAINS, said | done)):
        alone = [one.id for one, out in zip(held, twin, strict=True) if not out]
        kept = np.isin([one.id for one in steps.owners], alone)
        found[name] = {"twins": int(twin.sum()), "demonstrations": len(alone)}
        if kept.any():
            found[name] |= _figures(ranks, steps, kept)  # type: ignore[operator]
    return found


def _figures(
    ranks: Mapping[str, Ranks], steps: Steps, kept: NDArray[np.bool_]
) -> dict[str, JsonValue]:
    fewer = steps.only(kept)
    own = {name: one.only(kept) for name, one in ranks.items()}
    return {
        "steps": len(fewer.wanted),
        "figures": {name: dict(figures_of(one, fewer)) for name, one in own.items()},
        "first_step": {name: first_step(one, fewer) for name, one in own.items()},
        "intervals": {name: intervals_of(one, fewer) for name, one in own.items()},
    }
