"""Which tool the embedded model names, bound to the names it was given."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eval.tool_choice import EmbeddedChooser, WindowExceeded, asking, likeliest

NAMES = ["cancel_order", "cancel_order_items", "get_weather"]


@pytest.fixture(scope="module")
def chooser(planner: Any) -> EmbeddedChooser:
    return EmbeddedChooser(str(planner.folder), threads=1)


def test_the_choice_is_one_of_the_names_and_a_shared_prefix_changes_nothing(
    chooser: EmbeddedChooser,
) -> None:
    system = "You are a shop's agent. Tools: cancel_order, cancel_order_items, get_weather."
    first = chooser.choose(system, asking("Cancel my order", []), NAMES)
    again = chooser.choose(system, asking("Cancel my order", ["look(x=1)"]), NAMES)
    assert first.name in NAMES
    assert again.computed_tokens < again.prompt_tokens
    alone = EmbeddedChooser(str(chooser.folder), threads=1)
    alone._loaded = chooser._loaded
    fresh = alone.choose(system, asking("Cancel my order", ["look(x=1)"]), NAMES)
    assert fresh.name == again.name
    assert fresh.computed_tokens == fresh.prompt_tokens > again.computed_tokens


def test_one_name_needs_no_decoding(chooser: EmbeddedChooser) -> None:
    assert chooser.choose("Tools: x.", "hello", ["x"]).name == "x"


def test_what_does_not_fit_the_window_is_refused(chooser: EmbeddedChooser) -> None:
    with pytest.raises(WindowExceeded, match=r"tokens for a window of 8192"):
        chooser.choose("word " * 9000, "hello", NAMES)


def test_no_name_is_refused(chooser: EmbeddedChooser) -> None:
    with pytest.raises(ValueError, match="names: there is none to choose from"):
        chooser.choose("x", "hello", [])


def test_the_name_is_the_likeliest_as_a_whole_and_not_by_its_first_word() -> None:
    # 0.6 x 0.3 and 0.6 x 0.7 x 0.2 against 0.4 x 0.9: greedily 0 would be said first.
    chances = {(): [0.6, 0.4, 0.0], (0,): [0.3, 0.7, 0.0], (0, 1): [0.5, 0.3, 0.2]}
    chances[1,] = [0.05, 0.05, 0.9]
    names = {"book": (0, 0), "book_again": (0, 1, 2), "cancel": (1, 2)}
    asked: list[tuple[int, ...]] = []

    def after(path: tuple[int, ...], keep: int) -> NDArray[np.float64]:
        asked.append(path)
        paths = [path[: len(path) - back] for back in range(keep - 1, -1, -1)]
        with np.errstate(divide="ignore"):
            return np.log(np.array([chances[one] for one in paths]))

    assert likeliest(names, after) == "cancel"
    assert asked == [(), (0,), (0, 1), (1,)]
    assert likeliest({"book": (0, 0)}, after) == "book"


def test_the_likeliest_name_is_that_of_scoring_every_name() -> None:
    draw = np.random.default_rng(5)
    for _ in range(40):
        names = {
            f"name{''.join(map(str, path))}": (*path, 4)
            for length in (1, 2, 3)
            for path in product(range(4), repeat=length)
            if draw.random() < 0.2
        }
        table: dict[tuple[int, ...], NDArray[np.float64]] = {}

        def row(
            path: tuple[int, ...], table: dict[tuple[int, ...], NDArray[np.float64]] = table
        ) -> NDArray[np.float64]:
            return table.setdefault(path, np.log(draw.dirichlet(np.full(5, 0.3))))

        def after(path: tuple[int, ...], keep: int, row: Any = row) -> NDArray[np.float64]:
            return np.stack([row(path[: len(path) - back]) for back in range(keep - 1, -1, -1)])

        found = likeliest(names, after)
        told = {
            name: sum(row(path[:at])[token] for at, token in enumerate(path))
            for name, path in names.items()
        }
        assert told[found] == pytest.approx(max(told.values()))
