"""Which units go into a prompt: a knapsack with two limits (paper, equation 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctrag.errors import InputError


@dataclass(frozen=True, slots=True)
class SelectionCandidate:
    """A unit that may be chosen."""

    id: str
    kind: str
    """instruction or tool: each kind has its own limit."""
    gain: float
    """Expected gain, at least 0."""
    tokens: int


def greedy(
    candidates: Sequence[SelectionCandidate], budget: int, limits: Mapping[str, int]
) -> list[int]:
    """Places of the chosen candidates, in order of choice: by gain per token, or by gain.

    Gain per token alone wastes slots on short units where the limits bind rather than the budget,
    so both orders are tried and the one with more gain is kept (ties: gain per token).

    Args:
        candidates: In a fixed order, which breaks ties.
        budget: Tokens of all chosen units together.
        limits: Maximum of each kind; kinds not named are not chosen.
    """
    dense = sorted(
        range(len(candidates)), key=lambda at: -candidates[at].gain / max(candidates[at].tokens, 1)
    )
    rich = sorted(range(len(candidates)), key=lambda at: -candidates[at].gain)
    ways = [_take(candidates, order, budget, limits) for order in (dense, rich)]
    return max(ways, key=lambda way: total_gain(candidates, way))


def exact(
    candidates: Sequence[SelectionCandidate], budget: int, limits: Mapping[str, int]
) -> list[int]:
    """Places of the optimal choice, ascending: dynamic programming over tokens and counts.

    The reference for `greedy`; time and memory grow with the budget times the limits.

    Args:
        candidates: As for `greedy`.
        budget: As for `greedy`.
        limits: As for `greedy`; two kinds at most.

    Raises:
        ValueError: More than two kinds are limited.
    """
    if len(limits) > 2:
        raise InputError(f"limits: at most two kinds, not {len(limits)}")
    kinds = [*limits, "", ""][:2]
    shape = (limits.get(kinds[0], 0) + 1, limits.get(kinds[1], 0) + 1, max(budget, 0) + 1)
    best = np.zeros(shape)
    taken = []
    for one in candidates:
        took = np.zeros(shape, dtype=bool)
        if one.kind in limits and one.gain > 0 and one.tokens <= budget:
            first = int(one.kind == kinds[0])
            to = np.s_[first:, 1 - first :, one.tokens :]
            since = np.s_[: shape[0] - first, : shape[1] - 1 + first, : shape[2] - one.tokens]
            with_it = best[since] + one.gain
            took[to] = with_it > best[to]
            best = best.copy()
            best[to] = np.where(took[to], with_it, best[to])
        taken.append(took)
    left = [shape[0] - 1, shape[1] - 1, shape[2] - 1]
    chosen = []
    for at in range(len(candidates) - 1, -1, -1):
        if taken[at][left[0], left[1], left[2]]:
            chosen.append(at)
            left[0 if candidates[at].kind == kinds[0] else 1] -= 1
            left[2] -= candidates[at].tokens
    return sorted(chosen)


def total_gain(candidates: Sequence[SelectionCandidate], chosen: Sequence[int]) -> float:
    """Expected gain of a choice."""
    return sum(candidates[at].gain for at in chosen)


def _take(
    candidates: Sequence[SelectionCandidate],
    order: Sequence[int],
    budget: int,
    limits: Mapping[str, int],
) -> list[int]:
    left = dict(limits)
    chosen = []
    for at in order:
        one = candidates[at]
        if one.gain > 0 and one.tokens <= budget and left.get(one.kind, 0) > 0:
            chosen.append(at)
            budget -= one.tokens
            left[one.kind] -= 1
    return chosen
