"""Twins are found, and figures without them count the rest alone."""

import numpy as np
import pytest

from ctrag.agents.next_tool import Demonstration
from eval.core.twins import groups, overlaps, twins
from eval.dependency.steps import Ranks, Steps
from eval.dependency.without_twins import CHAINS, WORDS, without_twins


def test_overlap_is_words_in_common_of_all_words_of_both() -> None:
    found = overlaps(["Cancel my order", "Play jazz"], ["cancel the order now", "play jazz"])
    assert found == pytest.approx(np.array([[2 / 5, 0.0], [0.0, 1.0]]))
    assert twins(["a b c d e", "a b"], ["a b c d x"], 0.6).tolist() == [True, False]
    assert twins(["a"], []).tolist() == [False]


def test_a_group_holds_twins_of_twins_and_equal_chains() -> None:
    texts = ["a b c d", "a b c d e", "b c d e f", "x y", "p q"]
    of_words = groups(texts)
    assert of_words[0] == of_words[1] == of_words[2]
    assert len(set(of_words)) == 3
    of_both = groups(texts, ["k1", "k2", "k3", "k4", "k1"])
    assert of_both[4] == of_both[0]
    assert of_both[3] != of_both[0]


def test_figures_without_twins_count_the_steps_of_the_others() -> None:
    learned = [Demonstration("k", "cancel my order now", ("find", "cancel"))]
    held = [
        Demonstration("same", "cancel my order", ("find", "cancel")),
        Demonstration("chain", "something quite different", ("find", "cancel")),
        Demonstration("new", "play some jazz", ("play",)),
    ]
    steps = Steps.of(held)  # three steps, three, two
    first = np.array([1.0] * 6 + [2.0, 1.0])
    ranks = {"combined": Ranks(first, first, np.zeros((8, 2)))}
    found = without_twins(ranks, steps, held, learned)
    words, chains = found[WORDS], found[CHAINS]
    assert isinstance(words, dict)
    assert isinstance(chains, dict)
    assert (words["twins"], words["steps"]) == (1, 5)
    assert (chains["twins"], chains["steps"]) == (2, 2)
    assert chains["figures"]["combined"]["top1"] == 50.0  # type: ignore[index, call-overload]
