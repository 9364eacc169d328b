"""Claims about commands that train on what was trained before."""

from pathlib import Path

import pytest

from ctrag.cards import Card
from ctrag.cli.training import check_held_out


def card(data: str, seed: int = 1) -> Card:
    return Card(
        command="toy", data=data, data_sha256="-", seed=seed, settings={}, figures={}, versions={}
    )


@pytest.mark.parametrize(
    ("learned", "data", "seed"),
    [("train+people", "people", 1), ("train", "train", 2)],
    ids=["from all of them", "from others than were held out"],
)
def test_what_learned_from_people_who_are_held_out_is_not_built_on(
    learned: str, data: str, seed: int
) -> None:
    with pytest.raises(
        ValueError, match=rf"--start: it learned from people of {data} who are held"
    ):
        check_held_out("--start", card(learned), Path("any") / data, seed)


def test_who_was_held_out_before_may_be_held_out_again() -> None:
    check_held_out("--start", card("train+people"), Path("any/train"), 1)
    check_held_out("--start", card("train+people"), Path("any/others"), 7)
