"""Claims about the sizes of data sets, which match the paper's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.people.app_spec import packaged_apps
from synth.shape import (
    CYCLE,
    PAPER_ITEMS,
    PAPER_PERSONAS,
    PAPER_TEST,
    PAPER_TRAIN,
    TRY,
    base_seed,
    is_test,
    item_counts,
    kinds_of,
    oblique_share,
    parsed_levels,
    person_seed,
    requests_of,
    talks_of,
)


def test_791_people_make_the_papers_requests_and_split() -> None:
    numbers = range(PAPER_PERSONAS)
    test = sum(requests_of(number) for number in numbers if is_test(number))
    train = sum(requests_of(number) for number in numbers if not is_test(number))
    assert train + test == 4338 + 936
    assert test == pytest.approx(PAPER_TEST, rel=0.01)
    assert train == pytest.approx(PAPER_TRAIN, rel=0.01)


def test_items_of_791_people_are_those_of_table_4_within_5_percent() -> None:
    drawn = [item_counts(packaged_apps(), person_seed(1, number)) for number in range(791)]
    for app, mean in PAPER_ITEMS.items():
        assert sum(one[app] for one in drawn) / 791 == pytest.approx(mean, rel=0.05), app


@given(st.integers(0, 10**6), st.integers(1, 400), st.integers(0, 5))
def test_further_tries_are_about_the_same_person(number: int, seed: int, tries: int) -> None:
    assert base_seed(person_seed(seed + tries * TRY, number)) == person_seed(seed, number)


@given(st.integers(0, 10**6), st.integers(0, 5))
def test_the_parts_repeat_with_the_cycle(number: int, rounds: int) -> None:
    assert is_test(number) == is_test(number + rounds * CYCLE)


def test_kinds_are_deterministic_and_varied_for_each_person() -> None:
    assert kinds_of(7, 1, 9) == kinds_of(7, 1, 9)
    for number in range(50):
        kinds = kinds_of(number, 1, 9)
        assert max(kinds.count(kind) for kind in kinds) <= 3


def test_levels_have_the_shares_that_are_set() -> None:
    plain = parsed_levels("ask=50,tell=50,new=0,cannot=0,oblique=0,several=0,dialogue=20")
    drawn = [kind for number in range(300) for kind in kinds_of(number, 1, 6, plain)]
    assert set(drawn) == {"mismatch", "write"}
    assert drawn.count("write") / len(drawn) == pytest.approx(0.5, abs=0.05)
    assert oblique_share("mismatch", plain) == 0
    talks = [talks_of(number, plain) for number in range(PAPER_PERSONAS)]
    assert [sum(count) for count in zip(*talks, strict=True)] == [0, pytest.approx(1055, abs=2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("asks=3", "'asks' must be one of ask, tell"),
        ("ask=much", "must be a level and a number"),
        ("ask=-1", "ask must be 0 or more"),
        ("ask=0,tell=0,new=0,cannot=0,oblique=0", "one of ask, tell, new, cannot and oblique"),
    ],
)
def test_a_share_that_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parsed_levels(text)
