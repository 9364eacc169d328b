"""How far a figure may be trusted: resampling whole people, not single requests.

Requests of one person resemble each other, so both methods keep a person's requests together.
"People" may be any clusters, such as episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from ctrag.errors import InputError

Floats = NDArray[np.float64]

_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Interval:
    """A mean with its bounds, in the unit of the values."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """Mean of a minus mean of b, with the two-sided p-value of there being none."""

    mean: float
    p_value: float


def bootstrap_interval(
    values: Sequence[float] | Floats,
    people: Sequence[str],
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval | None:
    """Percentile interval of the mean over requests, from a cluster bootstrap over people.

    Each resample draws as many people as there are and divides the sum of their requests' values
    by the number of their requests.

    Args:
        values: one per request.
        people: whose request each is.
        confidence: between 0 and 1.
        resamples: number of bootstrap draws.
        seed: the same seed gives the same interval.

    Returns:
        None if the requests are of fewer than two people, which say nothing about other people.

    Raises:
        ValueError: if the lengths differ, a value is not finite or the confidence out of range.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence: must lie between 0 and 1, not {confidence}")
    if resamples < 1:
        raise InputError(f"resamples: must be at least 1, not {resamples}")
    sums, counts = _per_person(_checked(values, people), people)
    if len(counts) < 2:
        return None
    means = _resampled_means(sums, counts, resamples, np.random.default_rng(seed))
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(sums.sum() / counts.sum()), float(low), float(high))


def paired_permutation(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    people: Sequence[str],
    *,
    resamples: int = 9_999,
    seed: int = 0,
) -> Difference:
    """Test whether two methods differ on the same requests, by swapping them person by person.

    All swaps are tried, and the p-value is exact, where there are no more than `resamples`.

    Args:
        a: one method's value per request.
        b: the other method's, in the same order.
        people: whose request each is.
        resamples: number of random swaps where there are more.
        seed: the same seed gives the same p-value.

    Raises:
        ValueError: if the lengths differ, a value is not finite, or there are fewer than two
            people.
    """
    sums_a, counts = _per_person(_checked(a, people), people)
    sums_b, _ = _per_person(_checked(b, people), people)
    if len(counts) < 2:
        raise InputError("people: at least two are needed to tell methods apart")
    requests = counts.sum()

    def difference(x: Floats, y: Floats, axis: int) -> Floats:
        return np.asarray((x - y).sum(axis=axis) / requests)

    test = stats.permutation_test(
        (sums_a, sums_b),
        difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, _CELLS_AT_ONCE // len(counts)),
        rng=np.random.default_rng(seed),
    )
    return Difference(float(test.statistic), float(test.pvalue))


def _checked(values: Sequence[float] | Floats, people: Sequence[str]) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(people),):
        raise InputError(f"values: one per request is needed: {array.shape} for {len(people)}")
    if not np.isfinite(array).all():
        raise InputError("values: must be finite")
    return array


def _per_person(values: Floats, people: Sequence[str]) -> tuple[Floats, Floats]:
    """Sum of values and number of requests, per person."""
    _, person = np.unique(np.asarray(people, dtype=np.str_), return_inverse=True)
    sums = np.bincount(person, weights=values).astype(np.float64)
    return sums, np.bincount(person).astype(np.float64)


def _resampled_means(
    sums: Floats, counts: Floats, resamples: int, random: np.random.Generator
) -> Floats:
    """Draw people with replacement: how often each is drawn is multinomial."""
    people = len(counts)
    chances = np.full(people, 1 / people)
    means = np.empty(resamples)
    step = max(1, _CELLS_AT_ONCE // people)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = random.multinomial(people, chances, size=size)
        means[start : start + size] = (drawn @ sums) / (drawn @ counts)
    return means
