"""What ranks of next tools come to: measures, intervals over chains, paired tests and speed."""

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from eval.core.intervals import bootstrap_interval, paired_permutation
from eval.dependency.steps import Ranks, Steps

MEASURES = ("mrr", "f1", "top1", "top5", "top1_later", "top5_later")
SHIPPED = "combined"
SEED = 0
_RESAMPLES = 2_000


def figures_of(ranks: Ranks, steps: Steps) -> dict[str, float]:
    """`MEASURES` in percent."""
    return {name: _mean(values) for name, values in _values(ranks, steps).items()}


def first_step(ranks: Ranks, steps: Steps) -> dict[str, JsonValue]:
    """Steps without a history that do not end, `end` taken out of the ranking."""
    return _tops(ranks.without_end, steps.first & ~steps.ends)


def later_with_end(ranks: Ranks, steps: Steps) -> dict[str, JsonValue]:
    """Steps with a history, those that end among them."""
    return _tops(ranks.with_end, ~steps.first)


def without_end(ranks: Ranks, steps: Steps) -> dict[str, JsonValue]:
    """All steps but those that end, `end` taken out of the ranking."""
    return _tops(ranks.without_end, ~steps.ends)


def speed_of(ranks: Ranks, steps: Steps) -> dict[str, JsonValue]:
    """Of all steps, of those that ask something new (later ones find their request read), and of
    all steps of a request together."""
    (p50, work50), (p95, _) = np.percentile(ranks.milliseconds, [50, 95], axis=0)
    new = np.array(
        [place == 0 or one is not steps.owners[place - 1] for place, one in enumerate(steps.owners)]
    )
    owners = np.cumsum(new) - 1
    whole = np.bincount(owners, ranks.milliseconds[:, 0])
    return {
        "p50_ms": round(float(p50), 3),
        "p95_ms": round(float(p95), 3),
        "p50_processor_ms": round(float(work50), 3),
        "p50_new_request_ms": round(float(np.median(ranks.milliseconds[new, 0])), 3),
        "p50_whole_request_ms": round(float(np.median(whole)), 3),
    }


def intervals_of(ranks: Ranks, steps: Steps) -> JsonValue:
    """95 % interval of each of `MEASURES` over chains; None where no step counts."""
    found: dict[str, JsonValue] = {}
    chains = np.array(steps.chains)
    for name, values in _values(ranks, steps).items():
        counted = ~np.isnan(values)
        interval = None
        if counted.any():
            interval = bootstrap_interval(
                100 * values[counted], list(chains[counted]), resamples=_RESAMPLES, seed=SEED
            )
        bounds = None if interval is None else [round(interval.low, 2), round(interval.high, 2)]
        found[name] = bounds  # type: ignore[assignment]  # lists of JSON are invariant
    return found


def paired_tests(ranks: dict[str, Ranks], steps: Steps) -> JsonValue:
    """Combined minus each other method in top-1 of all steps, permuted by chain."""
    if SHIPPED not in ranks or len(set(steps.chains)) < 2:
        return {}
    own = _values(ranks[SHIPPED], steps)["top1"]
    found: dict[str, JsonValue] = {}
    for name, one in ranks.items():
        if name != SHIPPED:
            other = _values(one, steps)["top1"]
            test = paired_permutation(
                100 * own, 100 * other, steps.chains, resamples=_RESAMPLES, seed=SEED
            )
            found[name] = {"top1_difference": round(test.mean, 2), "p": round(test.p_value, 4)}
    return found


def _values(ranks: Ranks, steps: Steps) -> dict[str, NDArray[np.float64]]:
    """Per measure, 0 or 1 (or a reciprocal rank) of each step; NaN where it does not count."""
    later = ~steps.first & ~steps.ends
    top1 = ranks.with_end <= 1
    return {
        "mrr": 1 / ranks.with_end,
        "f1": top1.astype(np.float64) if ranks.right is None else ranks.right,
        "top1": top1.astype(np.float64),
        "top5": (ranks.with_end <= 5).astype(np.float64),
        "top1_later": np.where(later, ranks.without_end <= 1, np.nan),
        "top5_later": np.where(later, ranks.without_end <= 5, np.nan),
    }


def _tops(ranks: NDArray[np.float64], kept: NDArray[np.bool_]) -> dict[str, JsonValue]:
    chosen = ranks[kept]
    if not len(chosen):
        return {}
    return {
        "mrr": _mean(1 / chosen),
        "top1": _mean((chosen <= 1).astype(np.float64)),
        "top5": _mean((chosen <= 5).astype(np.float64)),
    }


def _mean(values: NDArray[np.float64]) -> float:
    counted = values[~np.isnan(values)]
    return round(100 * float(counted.mean()), 2) if len(counted) else 0.0
