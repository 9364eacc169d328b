"""Which of some names is said as a whole."""

import math

from eval.instructions.name_choice import Spelling, likeliest, ways_of


def test_the_name_is_the_likeliest_as_a_whole_and_not_by_its_first_word() -> None:
    # 0.6 x 0.3 and 0.6 x 0.7 x 0.2 against 0.4 x 0.9: greedily 0 would be said first.
    logs = as_logs({(): {0: 0.6, 1: 0.4}, (0,): {0: 0.3, 1: 0.7}, (0, 1): {2: 0.2}, (1,): {2: 0.9}})
    assert likeliest({"book": (0, 0), "book_again": (0, 1, 2), "cancel": (1, 2)}, logs) == "cancel"
    assert likeliest({"book": (0, 0)}, logs) == "book"


NAMES = {"book": (0, 9), "book_again": (0, 1, 9), "cancel": (1, 2, 9), "cancel_all": (1, 2, 3, 9)}


def as_logs(chances: dict[Spelling, dict[int, float]]) -> dict[Spelling, dict[int, float]]:
    return {
        path: {token: math.log(chance) for token, chance in some.items()}
        for path, some in chances.items()
    }


def test_ways_are_all_beginnings_with_the_names_that_go_on_from_each() -> None:
    assert ways_of(NAMES) == {
        (): {0: ["book", "book_again"], 1: ["cancel", "cancel_all"]},
        (0,): {9: ["book"], 1: ["book_again"]},
        (1,): {2: ["cancel", "cancel_all"]},
        (0, 1): {9: ["book_again"]},
        (1, 2): {9: ["cancel"], 3: ["cancel_all"]},
        (1, 2, 3): {9: ["cancel_all"]},
    }
    assert ways_of({"book": (0, 9)}) == {(): {0: ["book"]}, (0,): {9: ["book"]}}
