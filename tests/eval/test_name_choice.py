"""Which of some names is said: as a whole, and against a blank prompt where names part."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from eval.name_choice import Spelling, branches, calibrated, likeliest, ways_of


def test_the_name_is_the_likeliest_as_a_whole_and_not_by_its_first_word() -> None:
    # 0.6 x 0.3 and 0.6 x 0.7 x 0.2 against 0.4 x 0.9: greedily 0 would be said first.
    logs = told({(): {0: 0.6, 1: 0.4}, (0,): {0: 0.3, 1: 0.7}, (0, 1): {2: 0.2}, (1,): {2: 0.9}})
    assert likeliest({"book": (0, 0), "book_again": (0, 1, 2), "cancel": (1, 2)}, logs) == "cancel"
    assert likeliest({"book": (0, 0)}, logs) == "book"


NAMES = {"book": (0, 9), "book_again": (0, 1, 9), "cancel": (1, 2, 9), "cancel_all": (1, 2, 3, 9)}


def told(chances: dict[Spelling, dict[int, float]]) -> dict[Spelling, dict[int, float]]:
    return {
        path: {token: math.log(chance) for token, chance in some.items()}
        for path, some in chances.items()
    }


def test_ways_are_all_beginnings_and_branches_those_where_names_part() -> None:
    assert branches(ways_of(NAMES)) == {
        (): {0: ["book", "book_again"], 1: ["cancel", "cancel_all"]},
        (0,): {9: ["book"], 1: ["book_again"]},
        (1, 2): {9: ["cancel"], 3: ["cancel_all"]},
    }
    assert branches(ways_of({"book": (0, 9)})) == {}
    assert ways_of({"book": (0, 9)}) == {(): {0: ["book"]}, (0,): {9: ["book"]}}


def test_a_name_that_is_said_readily_whatever_is_asked_does_not_win_by_that() -> None:
    # What is asked makes "cancel" four times as likely as it was and "book" hardly likelier.
    blank = told({(): {0: 0.8, 1: 0.02}, (0,): {9: 0.5, 1: 0.5}, (1, 2): {9: 0.5, 3: 0.1}})
    asked = told({(): {0: 0.9, 1: 0.08}, (0,): {9: 0.5, 1: 0.5}, (1, 2): {9: 0.3, 3: 0.3}})

    # What follows the first token of "cancel" is its only way on; how likely it is says nothing.
    # Quotients 1.125 and 4 at the start, two names behind each; 0.6 and 3 behind "cancel":
    # 0.78 x 0.83 for "cancel_all".
    assert calibrated(ways_of(NAMES), asked, blank) == "cancel_all"
    assert calibrated(ways_of({"book": (0, 9)}), {}, {}) == "book"


def test_names_that_begin_alike_are_no_less_likely_for_it() -> None:
    # Three of four names begin alike; nothing is asked but a little more of "b" than of "a...".
    names = {"aa": (0, 1, 9), "ab": (0, 2, 9), "ac": (0, 3, 9), "b": (4, 9)}
    blank = told({(): {0: 0.5, 4: 0.5}, (0,): {1: 0.3, 2: 0.3, 3: 0.3}})
    asked = told({(): {0: 0.4, 4: 0.6}, (0,): {1: 0.4, 2: 0.25, 3: 0.25}})

    # 3 x 0.8 against 1 x 1.2 at the start, 4/9 behind "a": 0.67 x 0.44 = 0.30 against 0.33.
    assert calibrated(ways_of(names), asked, blank) == "b"
    asked[0,][1] = math.log(0.6)
    # 6/11 behind "a": 0.67 x 0.55 = 0.36.
    assert calibrated(ways_of(names), asked, blank) == "aa"


def test_the_calibrated_name_is_that_of_scoring_every_name_token_by_token() -> None:
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
        parted = branches(ways_of(names))
        asked, blank = (
            {path: dict(enumerate(np.log(draw.dirichlet(np.full(5, 0.3))))) for path in parted}
            for _ in range(2)
        )

        def whole_told(
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

        best = max(whole_told(whole) for whole in names.values())
        assert whole_told(names[calibrated(ways_of(names), asked, blank)]) == pytest.approx(best)
