"""Claims about commands that train on what was trained before."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ctrag.cli.train_plain import confidence, said
from ctrag.cli.training import check_held_out, held_out
from ctrag.models.cards import Card
from synth.reference import split_folder
from training.core.origin import people_of


def card(people: frozenset[str] | None) -> Card:
    return Card(
        command="toy",
        data="train",
        data_sha256="-",
        people=None if people is None else sorted(people),
        seed=1,
        settings={},
        figures={},
        versions={},
    )


@pytest.fixture(scope="module")
def dev() -> Path:
    return split_folder("dev")


def test_what_learned_from_people_who_are_held_out_is_not_built_on(dev: Path) -> None:
    out = held_out(dev, 1)
    assert len(out) == 40 / 5
    with pytest.raises(ValueError, match="--start: it learned from 8 of 8 people who are held out"):
        check_held_out("--start", card(people_of([dev])), out)
    with pytest.raises(ValueError, match=r"--start: it learned from . of 8 people"):
        check_held_out("--start", card(people_of([dev]) - held_out(dev, 2)), out)


def test_who_was_held_out_before_may_be_held_out_again(dev: Path) -> None:
    out = held_out(dev, 1)
    check_held_out("--start", card(people_of([dev]) - out), out)


def test_a_card_that_names_nobody_is_not_built_on(dev: Path) -> None:
    with pytest.raises(
        ValueError, match=r"--start: its card does not name .* `ctrag train people`"
    ):
        check_held_out("--start", card(None), held_out(dev, 1))


@pytest.mark.parametrize("command", [said, confidence])
def test_choices_are_not_learned_from_whom_the_slot_filler_knows(
    command: Callable[..., None], tmp_path: Path
) -> None:
    known = Path(__file__).parents[2] / "data" / "everyday-train"
    with pytest.raises(ValueError, match=r"CTRAG_SLOT_ADAPTER: it learned from 10 of 13 people"):
        command(known, tmp_path / "out")
    assert not (tmp_path / "out").exists()
