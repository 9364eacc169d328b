"""Greedy selection against the exact knapsack, and what both must never do."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.agents.prompt.selection import SelectionCandidate, exact, greedy, total_gain

LIMITS = {"tool": 2, "instruction": 4}

candidates = st.lists(
    st.builds(
        SelectionCandidate,
        id=st.just("x"),
        kind=st.sampled_from(["tool", "instruction"]),
        gain=st.integers(0, 20).map(float),
        tokens=st.integers(1, 30),
    ),
    max_size=8,
)


def allowed(options: list[SelectionCandidate], chosen: tuple[int, ...], budget: int) -> bool:
    kinds = [options[at].kind for at in chosen]
    fits = sum(options[at].tokens for at in chosen) <= budget
    return fits and all(kinds.count(kind) <= most for kind, most in LIMITS.items())


def plainest(options: list[SelectionCandidate], budget: int) -> float:
    """The best gain by trying every subset."""
    subsets = (
        some
        for size in range(len(options) + 1)
        for some in combinations(range(len(options)), size)
        if allowed(options, some, budget)
    )
    return max(total_gain(options, some) for some in subsets)


@settings(deadline=None)
@given(candidates, st.integers(0, 80))
def test_neither_way_is_over_the_budget_or_a_limit(
    options: list[SelectionCandidate], budget: int
) -> None:
    for chosen in (greedy(options, budget, LIMITS), exact(options, budget, LIMITS)):
        assert len(set(chosen)) == len(chosen)
        assert allowed(options, tuple(chosen), budget)


@settings(deadline=None)
@given(candidates, st.integers(0, 80))
def test_the_exact_way_is_the_best_of_all_subsets(
    options: list[SelectionCandidate], budget: int
) -> None:
    found = total_gain(options, exact(options, budget, LIMITS))
    assert found == pytest.approx(plainest(options, budget))


@settings(deadline=None)
@given(candidates, st.integers(0, 80))
def test_greedy_is_never_better_than_exact_and_the_same_twice(
    options: list[SelectionCandidate], budget: int
) -> None:
    chosen = greedy(options, budget, LIMITS)
    assert chosen == greedy(options, budget, LIMITS)
    assert total_gain(options, chosen) <= total_gain(options, exact(options, budget, LIMITS)) + 1e-9


def test_gain_per_token_decides_where_the_budget_binds() -> None:
    options = [
        SelectionCandidate("long", "instruction", 10.0, 10),
        SelectionCandidate("short", "instruction", 6.0, 5),
        SelectionCandidate("other", "instruction", 6.0, 5),
    ]
    assert greedy(options, 10, LIMITS) == [1, 2]  # 12 for 10 tokens beats 10 for 10


def test_gain_decides_where_the_limit_binds() -> None:
    options = [
        SelectionCandidate("short", "tool", 1.0, 1),
        SelectionCandidate("rich", "tool", 9.0, 20),
    ]
    assert greedy(options, 100, {"tool": 1}) == [1]


def test_greedy_can_be_off_and_the_yardstick_shows_by_how_much() -> None:
    options = [
        SelectionCandidate("dense", "instruction", 6.0, 4),
        SelectionCandidate("a", "instruction", 5.0, 5),
        SelectionCandidate("b", "instruction", 5.0, 5),
    ]
    assert total_gain(options, greedy(options, 10, LIMITS)) == 6.0 + 5.0
    assert total_gain(options, exact(options, 10, LIMITS)) == 11.0
    assert total_gain(options, greedy(options, 8, LIMITS)) == 6.0


def test_three_limited_kinds_are_too_many_for_the_exact_way() -> None:
    with pytest.raises(ValueError, match="at most two kinds, not 3"):
        exact([], 10, {"a": 1, "b": 1, "c": 1})
