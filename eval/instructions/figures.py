"""Thresholds, misses, costs and the hazard model of the instruction experiment."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from ctrag.errors import InputError
from eval.core.intervals import bootstrap_interval

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
FOLDS = 5
DISCOVERY_SHARE = 0.15
"""Steps on which the discovery step may run."""
PRICES = {"input": 2.50, "cached input": 1.25, "output": 10.00}
"""Dollars for a million tokens: a typical price list of a large model, stated and not measured."""
ANSWER_TOKENS = 60
"""Output tokens of a step that costs are computed with: one call."""


def bounds(values: Sequence[float], episodes: Sequence[str]) -> list[float] | None:
    """[low, high] of the mean, two decimals, by resampling episodes; None for fewer than two."""
    found = bootstrap_interval(values, episodes)
    return None if found is None else [round(found.low, 2), round(found.high, 2)]


def fold_of(episode: str, folds: int = FOLDS) -> int:
    """Episodes into folds by hash: whatever is fitted never saw the episode it is used on."""
    return int(sha256(f"fold:{episode}".encode()).hexdigest()[:8], 16) % folds


@dataclass(frozen=True, slots=True)
class Gate:
    """A cross-validated decision for discovery."""

    discovered: Flags
    """(steps,)."""
    taus: tuple[float, ...]
    """One a fold, chosen on the other folds."""


def cross_validated_gate(
    sufficiency: Floats,
    missed: Flags,
    episodes: Sequence[str],
    share: float = DISCOVERY_SHARE,
) -> Gate:
    """Discovery below a threshold that catches what the other folds' episodes missed.

    The threshold is the lowest below which all their misses lie; never more than the quantile at
    which discovery runs on a little less than `share` of their steps, so that folds that differ
    stay below it together. Where nothing was missed there is nothing to discover.

    Args:
        sufficiency: Of each step's first prompt.
        missed: Whether its tool was not in it.
        episodes: Whose step each is.
        share: Steps on which discovery may run.
    """
    folds = np.array([fold_of(one) for one in episodes])
    discovered = np.zeros(len(folds), dtype=bool)
    taus = []
    for fold in range(FOLDS):
        other = folds != fold if (folds != fold).any() else np.ones(len(folds), dtype=bool)
        most = float(np.quantile(sufficiency[other], 0.9 * share))
        caught = sufficiency[other & missed]
        tau = min(most, float(np.nextafter(caught.max(), 2.0))) if len(caught) else 0.0
        taus.append(tau)
        discovered[folds == fold] = sufficiency[folds == fold] < tau
    return Gate(discovered, tuple(taus))


def cross_fitted_chances(
    odds: Floats, right: Flags, episodes: Sequence[str]
) -> NDArray[np.float64]:
    """Chances that a right tool is exposed, calibrated on the other folds' episodes.

    Args:
        odds: Log odds of each step, as the scores have them.
        right: Whether its tool was exposed.
        episodes: Whose step each is.
    """
    from ctrag.agents.prompt.sufficiency import calibrated

    folds = np.array([fold_of(one) for one in episodes])
    found = np.zeros(len(folds))
    for fold in range(FOLDS):
        other = folds != fold if (folds != fold).any() else np.ones(len(folds), dtype=bool)
        slope, intercept = calibrated(odds[other], right[other])
        found[folds == fold] = 1 / (1 + np.exp(-(slope * odds[folds == fold] + intercept)))
    return found


def fit_hazard(sizes: Sequence[int], right: Sequence[float]) -> float:
    """beta / alpha of Pr[correct | N] = alpha / (alpha + beta (N - 1)) (paper, equation 5).

    Only the ratio can be told from data. Least squares over the sizes, on a grid of logarithms.

    Args:
        sizes: N of each measurement; one of them above 1.
        right: Share of right calls there, 0 to 1.

    Raises:
        ValueError: No size is above 1.
    """
    tools = np.asarray(sizes, dtype=np.float64) - 1
    if not (tools > 0).any():
        raise InputError("sizes: one must be above 1")
    grid = np.exp(np.linspace(np.log(1e-5), np.log(1e3), 4001))
    wrong = (hazard(grid[:, None], tools[None, :] + 1) - np.asarray(right)[None, :]) ** 2
    return float(grid[int(wrong.sum(axis=1).argmin())])


def hazard(ratio: Floats | float, size: Floats | float, recall: float = 1.0) -> Floats:
    """Share of right calls among `size` tools of which one is right with chance `recall`
    (paper, equations 5 and 6)."""
    return np.asarray(recall / (1 + ratio * (np.asarray(size) - 1)), dtype=np.float64)


def episode_costs(
    tokens: Sequence[int], others: Sequence[int], episodes: Sequence[str]
) -> list[float]:
    """Dollars of each episode at `PRICES`.

    Args:
        tokens: System text and tools of each step.
        others: Instruction and history of each step.
        episodes: Whose step each is.
    """
    found: dict[str, float] = {}
    for own, other, episode in zip(tokens, others, episodes, strict=True):
        money = (own + other) * PRICES["input"] + ANSWER_TOKENS * PRICES["output"]
        found[episode] = found.get(episode, 0.0) + money / 1e6
    return list(found.values())


def most_loops(static: float, growth: float, window: int = 1_000_000) -> int:
    """Loops that fit into a window when each adds so many tokens of history (paper, table 1)."""
    return int(max(0.0, window - static) // growth)
