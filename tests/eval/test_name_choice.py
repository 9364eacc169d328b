"""The best of some names is found without scoring them all, and is the best all the same."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eval.name_choice import Spelling, branches, calibrated, likeliest


def test_the_name_is_the_likeliest_as_a_whole_and_not_by_its_first_word() -> None:
    # 0.6 x 0.3 and 0.6 x 0.7 x 0.2 against 0.4 x 0.9: greedily 0 would be said first.
    chances = {(): [0.6, 0.4, 0.0], (0,): [0.3, 0.7, 0.0], (0, 1): [0.5, 0.3, 0.2]}
    chances[1,] = [0.05, 0.05, 0.9]
    names = {"book": (0, 0), "book_again": (0, 1, 2), "cancel": (1, 2)}
    asked: list[Spelling] = []

    def after(path: Spelling, keep: int) -> NDArray[np.float64]:
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
        table: dict[Spelling, NDArray[np.float64]] = {}

        def row(
            path: Spelling, table: dict[Spelling, NDArray[np.float64]] = table
        ) -> NDArray[np.float64]:
            return table.setdefault(path, np.log(draw.dirichlet(np.full(5, 0.3))))

        def after(path: Spelling, keep: int, row: Any = row) -> NDArray[np.float64]:
            return np.stack([row(path[: len(path) - back]) for back in range(keep - 1, -1, -1)])

        found = likeliest(names, after)
        told = {
            name: sum(row(path[:at])[token] for at, token in enumerate(path))
            for name, path in names.items()
        }
        assert told[found] == pytest.approx(max(told.values()))


NAMES = {"book": (0, 9), "book_again": (0, 1, 9), "cancel": (1, 2, 9), "cancel_all": (1, 2, 3, 9)}


def rows(chances: dict[Spelling, dict[int, float]]) -> dict[Spelling, NDArray[np.float64]]:
    return {
        path: np.log([some.get(token, 1e-9) for token in range(10)])
        for path, some in chances.items()
    }


def test_only_places_where_names_part_are_read() -> None:
    assert branches(NAMES) == [(), (0,), (1, 2)]
    assert branches({"book": (0, 9)}) == []


def test_a_name_that_is_said_readily_whatever_is_asked_does_not_win_by_that() -> None:
    # What is asked makes "cancel" four times as likely as it was and "book" hardly likelier.
    blank = rows({(): {0: 0.8, 1: 0.02}, (0,): {9: 0.5, 1: 0.5}, (1, 2): {9: 0.5, 3: 0.1}})
    asked = rows({(): {0: 0.9, 1: 0.08}, (0,): {9: 0.5, 1: 0.5}, (1, 2): {9: 0.3, 3: 0.3}})

    def after(path: Spelling, keep: int) -> NDArray[np.float64]:
        # The third token of "cancel" is its only way on; how likely it is says nothing.
        return asked[path][None] if path in asked else np.log([[1e-9] * 10])

    # Quotients 1.125 and 4 at the start, two names behind each; 0.6 and 3 behind "cancel":
    # 0.78 x 0.83 for "cancel_all".
    assert calibrated(NAMES, after, blank) == "cancel_all"
    assert calibrated({"book": (0, 9)}, after, blank) == "book"


def test_names_that_begin_alike_are_no_less_likely_for_it() -> None:
    # Three of four names begin alike; nothing is asked but a little more of "b" than of "a...".
    names = {"aa": (0, 1, 9), "ab": (0, 2, 9), "ac": (0, 3, 9), "b": (4, 9)}
    blank = rows({(): {0: 0.5, 4: 0.5}, (0,): {1: 0.3, 2: 0.3, 3: 0.3}})
    asked = rows({(): {0: 0.4, 4: 0.6}, (0,): {1: 0.4, 2: 0.25, 3: 0.25}})

    def after(path: Spelling, keep: int) -> NDArray[np.float64]:
        return asked[path][None]

    # 3 x 0.8 against 1 x 1.2 at the start, 4/9 behind "a": 0.67 x 0.44 = 0.30 against 0.33.
    assert calibrated(names, after, blank) == "b"
    asked[0,][1] = np.log(0.6)
    # 6/11 behind "a": 0.67 x 0.55 = 0.36.
    assert calibrated(names, after, blank) == "aa"


def test_the_calibrated_name_is_that_of_scoring_every_name() -> None:
    draw = np.random.default_rng(7)
    for _ in range(40):
        names = {
            f"name{''.join(map(str, path))}": (*path, 4)
            for length in (1, 2, 3)
            for path in product(range(4), repeat=length)
            if draw.random() < 0.2
        }
        if not names:
            continue
        asked = {path: np.log(draw.dirichlet(np.full(5, 0.3))) for path in branches(names)}
        blank = {path: np.log(draw.dirichlet(np.full(5, 0.3))) for path in asked}

        def after(path: Spelling, keep: int, asked: Any = asked) -> NDArray[np.float64]:
            return asked[path][None]

        def told(
            whole: Spelling, names: Any = names, asked: Any = asked, blank: Any = blank
        ) -> float:
            total = 0.0
            for at in range(len(whole)):
                path = whole[:at]
                ways = {one[at] for one in names.values() if one[:at] == path}
                if len(ways) > 1:
                    beneath = {
                        way: sum(one[: at + 1] == (*path, way) for one in names.values())
                        for way in ways
                    }
                    quotients = {
                        way: beneath[way] * np.exp(asked[path][way] - blank[path][way])
                        for way in ways
                    }
                    total += np.log(quotients[whole[at]] / sum(quotients.values()))
            return total

        best = max(told(whole) for whole in names.values())
        assert told(names[calibrated(names, after, blank)]) == pytest.approx(best)
