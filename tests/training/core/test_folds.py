"""Claims about people in folds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.core.folds import folds_by_person

PEOPLE = st.lists(st.sampled_from("ada bob cyd dan eve fay gus".split()), min_size=3).filter(
    lambda people: len(set(people)) >= 3
)


@given(PEOPLE, st.integers(1, 3), st.integers(0, 99))
def test_everybody_is_in_exactly_one_fold_with_all_of_their_rows(
    people: list[str], count: int, seed: int
) -> None:
    fold = folds_by_person(people, count, seed)
    assert len(fold) == len(people)
    for person in set(people):
        assert len({place for one, place in zip(people, fold, strict=True) if one == person}) == 1


@given(PEOPLE, st.integers(1, 3), st.integers(0, 99))
def test_folds_have_as_many_people_give_or_take_one(
    people: list[str], count: int, seed: int
) -> None:
    fold = folds_by_person(people, count, seed)
    where = dict(zip(people, fold, strict=True))
    sizes = [sum(place == one for place in where.values()) for one in range(count)]
    assert sum(sizes) == len(where)
    assert max(sizes) - min(sizes) <= 1


@given(PEOPLE, st.randoms())
def test_folds_do_not_depend_on_the_order_of_rows(people: list[str], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = random.sample(people, len(people))
    first = dict(zip(people, folds_by_person(people, 3, 1), strict=True))
    second = dict(zip(shuffled, folds_by_person(shuffled, 3, 1), strict=True))
    assert first == second


def test_another_seed_gives_other_folds() -> None:
    people = [f"p{number}" for number in range(40)]
    first, again, other = (folds_by_person(people, 5, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_fewer_people_than_folds_are_refused() -> None:
    with pytest.raises(ValueError, match="3 folds need as many people, there are 2"):
        folds_by_person(["ada", "bob", "ada"], 3, 1)
