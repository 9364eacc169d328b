from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.core.intervals import Interval, bootstrap_interval, paired_permutation


def test_two_people_give_the_interval_worked_out_by_hand() -> None:
    # Draws: Ann twice 2/2, both (2 + 0)/3, Bo twice 0/1, with chances 1/4, 1/2, 1/4.
    values, people = [1.0, 1.0, 0.0], ["ann", "ann", "bo"]
    assert bootstrap_interval(values, people) == Interval(mean=2 / 3, low=0, high=1)
    assert bootstrap_interval(values, people, confidence=0.4) == Interval(2 / 3, 2 / 3, 2 / 3)


def test_copies_of_a_persons_requests_add_no_certainty() -> None:
    values = list(np.random.default_rng(1).random(30))
    people = [f"p{number}" for number in range(30)]
    once = bootstrap_interval(values, people)
    five_times = bootstrap_interval(values * 5, people * 5)
    assert once is not None
    assert five_times is not None
    assert (once.low, once.high) == pytest.approx((five_times.low, five_times.high))


def test_with_one_request_a_person_it_is_the_usual_interval_of_a_mean() -> None:
    values = np.random.default_rng(2).normal(10, 3, size=400)
    interval = bootstrap_interval(values, [str(number) for number in range(400)])
    assert interval is not None
    half_width = 1.96 * values.std() / np.sqrt(400)
    assert interval.low == pytest.approx(values.mean() - half_width, abs=0.02)
    assert interval.high == pytest.approx(values.mean() + half_width, abs=0.02)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 100)), min_size=1, max_size=12),
    st.integers(0, 5),
)
def test_an_interval_lies_within_the_persons_means(
    requests: list[tuple[str, float]], seed: int
) -> None:
    people = [person for person, _ in requests]
    values = [value for _, value in requests]
    interval = bootstrap_interval(values, people, resamples=50, seed=seed)
    assert (interval is None) == (len(set(people)) == 1)
    if interval:
        means = [
            np.mean([value for owner, value in requests if owner == person])
            for person in set(people)
        ]
        assert min(means) - 1e-9 <= interval.low <= interval.high <= max(means) + 1e-9


def test_a_seed_gives_the_same_interval_again() -> None:
    values = list(np.random.default_rng(3).random(20))
    people = [f"p{number}" for number in range(20)]
    first, again, other = (bootstrap_interval(values, people, seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_many_people_are_resampled_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values, people = [0.0, 1.0, 1.0], ["a", "b", "c"]
    whole = bootstrap_interval(values, people, resamples=1000)
    monkeypatch.setattr("eval.core.intervals._CELLS_AT_ONCE", 7)
    assert bootstrap_interval(values, people, resamples=1000) == whole


def test_the_p_value_counts_the_swaps_that_differ_as_much() -> None:
    # Of 2**3 ways to swap three people only the one found and its mirror are as extreme.
    test = paired_permutation([1.0, 1.0, 1.0], [0.0, 0.0, 0.0], ["a", "b", "c"])
    assert test.mean == 1
    assert test.p_value == pytest.approx(2 / 8)


def test_a_persons_requests_are_swapped_together() -> None:
    # Six requests but two people: 2**2 swaps, of which the found one and its mirror count.
    test = paired_permutation([1.0] * 6, [0.0] * 6, ["a", "a", "a", "b", "b", "b"])
    assert test.p_value == pytest.approx(2 / 4)


def test_the_difference_is_a_mean_over_requests() -> None:
    test = paired_permutation([1.0, 1.0, 0.0], [0.0, 0.0, 1.0], ["a", "a", "b"])
    assert test.mean == pytest.approx((1 + 1 - 1) / 3)


def test_equal_methods_do_not_differ() -> None:
    values = list(np.random.default_rng(4).random(40))
    people = [f"p{number}" for number in range(40)]
    assert paired_permutation(values, values, people, resamples=99).p_value == 1


def test_a_clear_difference_of_many_people_is_significant_and_reproducible() -> None:
    random = np.random.default_rng(5)
    a = random.random(60)
    b = a - 0.1 + random.normal(0, 0.05, 60)
    people = [f"p{number}" for number in range(60)]
    first = paired_permutation(a, b, people, resamples=999, seed=1)
    assert first == paired_permutation(a, b, people, resamples=999, seed=1)
    assert first.p_value == pytest.approx(2 / 1000)  # the least that 999 swaps can show


def test_what_cannot_be_resampled_is_refused() -> None:
    with pytest.raises(ValueError, match="one per request"):
        bootstrap_interval([1.0], ["a", "b"])
    with pytest.raises(ValueError, match="must be finite"):
        bootstrap_interval([1.0, float("nan")], ["a", "b"])
    with pytest.raises(ValueError, match=r"between 0 and 1, not 95"):
        bootstrap_interval([1.0, 2.0], ["a", "b"], confidence=95)
    with pytest.raises(ValueError, match="resamples: must be at least 1"):
        bootstrap_interval([1.0, 2.0], ["a", "b"], resamples=0)
    with pytest.raises(ValueError, match="at least two"):
        paired_permutation([1.0], [0.0], ["a"])


def test_a_p_value_is_of_9_999_draws_unless_told_otherwise() -> None:
    random = np.random.default_rng(8)
    a, b = random.random(30), random.random(30)
    people = [f"p{number}" for number in range(30)]
    assert paired_permutation(a, b, people) == paired_permutation(
        a, b, people, resamples=9_999, seed=0
    )


def test_figures_are_of_ten_thousand_draws_and_95_per_cent_unless_told_otherwise() -> None:
    values = list(np.random.default_rng(6).random(20))
    people = [f"p{number}" for number in range(20)]
    told = bootstrap_interval(values, people, confidence=0.95, resamples=10_000, seed=0)
    assert bootstrap_interval(values, people) == told
