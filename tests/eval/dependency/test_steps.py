"""Claims about ranking the steps of demonstrations, on chances that stand in a table."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ctrag.agents.next_tool import Demonstration
from eval.dependency import steps as module
from eval.dependency.figures import figures_of
from eval.dependency.steps import Steps, rank_steps, roll_out

NAMES = ["end", "a", "b", "c"]
ALL = np.arange(4)


class Chances:
    """Ranks as a table says: history → chances of `end`, `a`, `b` and `c`."""

    def __init__(self, table: dict[tuple[str, ...], list[float]]) -> None:
        self.memory = SimpleNamespace(names=NAMES, numbers={n: at for at, n in enumerate(NAMES)})
        self.table = table
        self.asked: list[tuple[str, ...]] = []

    def among(self, tools: None) -> Any:
        return ALL

    def prepare(self, text: str, history: Sequence[str], method: str) -> None:
        pass

    def chances(self, text: str, history: Sequence[str], method: str, among: Any) -> Any:
        self.asked.append(tuple(history))
        return np.array(self.table[tuple(history)])


def test_ties_go_to_the_smaller_number_and_end_can_be_taken_out() -> None:
    ranker: Any = Chances(
        {
            (): [0.2, 0.2, 0.4, 0.2],  # a: behind b, and behind `end`, which is as likely
            ("a",): [0.1, 0.3, 0.3, 0.3],  # c: behind a and b, not behind `end`
            ("a", "c"): [0.5, 0.1, 0.3, 0.1],
        }
    )
    steps = Steps.of([Demonstration("q", "go", ("a", "c"))])
    ranks = rank_steps(ranker, steps, "combined")
    assert list(ranks.with_end) == [3, 3, 1]
    assert list(ranks.without_end[:2]) == [2, 3]
    assert list(steps.ends) == [False, False, True]
    assert list(steps.first) == [True, False, False]


def test_of_several_right_tools_the_best_counts_and_f1_is_of_as_many_first_ones() -> None:
    ranker: Any = Chances({(): [0.1, 0.2, 0.4, 0.3], ("a",): [0.7, 0.1, 0.1, 0.1]})
    steps = Steps.of(
        [
            Demonstration("q", "go", ("a",), others=(("c",),)),  # second and third: half of two
            Demonstration("r", "run", ("a",), others=(("d", "b"),)),  # d is unknown
        ]
    )
    ranks = rank_steps(ranker, steps, "combined")
    assert list(ranks.with_end) == [2, 1, 1, 1]
    assert ranks.right is not None
    assert list(ranks.right) == pytest.approx([1 / 2, 1, 2 / 3, 1])
    figures = figures_of(ranks, steps)
    assert figures["top1"] == 75
    assert figures["f1"] == pytest.approx(100 * (1 / 2 + 1 + 2 / 3 + 1) / 4, abs=0.01)
    last = steps.only(np.array([False, False, True, False]))
    assert last.acceptable(0) == ["a", "d", "b"]


def test_a_roll_out_is_exact_with_any_right_tool() -> None:
    ranker: Any = Chances({(): [0.1, 0.2, 0.4, 0.3], ("b",): [0.7, 0.1, 0.1, 0.1]})
    right = Demonstration("q", "go", ("a",), others=(("b",),))
    wrong = Demonstration("r", "run", ("a",), others=(("c",),))
    found = roll_out(ranker, [right, wrong], "combined", None, ALL)
    assert found["exact"] == 50


def test_a_tool_that_is_unknown_or_not_ranked_is_never_found() -> None:
    ranker: Any = Chances({(): [0.1, 0.2, 0.3, 0.4]})
    steps = Steps(
        [Demonstration("q", "go", (name,)) for name in ("d", "c", "a")],
        [(), (), ()],
        ["d", "c", "a"],
    )
    ranks = rank_steps(ranker, steps, "combined", among=np.array([0, 1, 2]))
    assert list(ranks.with_end) == [np.inf, np.inf, 2]  # `c`, the likeliest, is not ranked
    assert list(ranks.without_end) == [np.inf, np.inf, 2]


def test_milliseconds_are_those_of_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, worked = iter([3.0, 3.25]), iter([7.0, 7.125])
    monkeypatch.setattr(
        module,
        "time",
        SimpleNamespace(perf_counter=lambda: next(clock), thread_time=lambda: next(worked)),
    )
    ranker: Any = Chances({(): [0.1, 0.2, 0.3, 0.4]})
    steps = Steps([Demonstration("q", "go", ("a",))], [()], ["a"])
    assert rank_steps(ranker, steps, "combined").milliseconds.tolist() == [[250, 125]]


def test_a_roll_out_counts_what_is_exact_what_has_the_same_tools_and_what_ends() -> None:
    ranker: Any = Chances(
        {
            (): [0.1, 0.5, 0.3, 0.1],
            ("a",): [0.1, 0.1, 0.6, 0.2],
            ("a", "b"): [0.7, 0.1, 0.1, 0.1],
            ("b",): [0.2, 0.6, 0.1, 0.1],
            ("b", "a"): [0.9, 0.1, 0.0, 0.0],
        }
    )
    demonstrations = [
        Demonstration("1", "go", ("a", "b")),
        Demonstration("2", "go", ("b", "a")),  # the same tools in another order
        Demonstration("3", "go", ("c",)),
        Demonstration("4", "go", ("a",), ("b",)),  # begins behind `b`
        Demonstration("5", "go", ("a", "b")),
        Demonstration("6", "go", ("c", "c")),
        Demonstration("7", "go", ("c",)),
    ]
    found = roll_out(ranker, demonstrations, "combined", None, ALL)
    assert found == {"exact": 42.86, "same_tools": 57.14, "ended": 100}
    assert roll_out(ranker, [], "combined", None, ALL) == {"exact": 0, "same_tools": 0, "ended": 0}


def test_a_roll_out_that_does_not_end_is_cut_at_twelve_calls() -> None:
    again = {("a",) * count: [0.1, 0.9, 0.0, 0.0] for count in range(14)}
    ranker: Any = Chances(again)
    rows = [Demonstration(str(count), "go", ("a",) * count) for count in (11, 12, 13)]
    found = roll_out(ranker, rows, "combined", None, ALL)
    assert found == {"exact": 33.33, "same_tools": 33.33, "ended": 0}
    assert max(map(len, ranker.asked)) == 11


def test_a_share_of_those_that_end_is_of_all() -> None:
    ranker: Any = Chances(
        {(): [0.9, 0.1, 0, 0], **{("b",) * n: [0, 0, 1, 0] for n in range(1, 14)}}
    )
    rows = [
        Demonstration("1", "go", ("a",)),
        Demonstration("2", "go", ("a",), ("b",)),
        Demonstration("3", "go", ("a",)),
    ]
    assert roll_out(ranker, rows, "combined", None, ALL)["ended"] == 66.67


def test_only_methods_that_ask_a_language_model_ask_it() -> None:
    own: Any = Chances({(): [0.1, 0.2, 0.3, 0.4]})
    asker: Any = Chances({(): [0.1, 0.4, 0.3, 0.2]})
    steps = Steps([Demonstration("q", "go", ("a",))], [()], ["a"])
    assert rank_steps(own, steps, "combined", asker).with_end[0] == 3
    assert rank_steps(own, steps, "less_is_more", asker).with_end[0] == 1
    assert rank_steps(own, steps, "less_is_more", None).with_end[0] == 3
