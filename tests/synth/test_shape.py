"""Claims about the sizes of data sets, which match the paper's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.people.app_spec import packaged_apps
from synth.offline.sources import sources
from synth.shape import (
    CYCLE,
    PAPER_ITEMS,
    PAPER_PERSONAS,
    PAPER_TEST,
    PAPER_TRAIN,
    is_test,
    item_counts,
    kinds_of,
    person_seed,
    requests_of,
    round_of,
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


@given(st.integers(0, 10**6), st.integers(0, 5))
def test_a_source_is_never_used_in_both_parts(number: int, rounds: int) -> None:
    assert is_test(number) == is_test(number + rounds * CYCLE)
    assert round_of(person_seed(3, number)) == number // CYCLE


def test_the_cycle_length_is_the_number_of_sources() -> None:
    assert len(sources()) == CYCLE
    assert all(one.test == is_test(one.position) for one in sources())


def test_no_source_is_a_dev_person() -> None:
    assert {one.persona.person.person_id[0] for one in sources()} == {"p", "w"}
    from stores.people.dataset import load_dataset
    from synth.reference import split_folder

    dev = {one.person.profile.name for one in load_dataset(split_folder("dev")).personas}
    assert not dev & {one.persona.person.profile.name for one in sources()}


def test_kinds_are_deterministic_and_varied_for_each_person() -> None:
    assert kinds_of(7, 1, 9) == kinds_of(7, 1, 9)
    for number in range(50):
        kinds = kinds_of(number, 1, 9)
        assert max(kinds.count(kind) for kind in kinds) <= 2
