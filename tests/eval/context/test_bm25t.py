"""Claims about BM25 with a k1 for each term."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from eval.context.bm25t import Bm25T, gain, solve_k1

TERMS = st.lists(st.sampled_from("abcde"), max_size=6)


@pytest.mark.parametrize("k1", [0.01, 0.5, 0.999, 1.0, 1.0000001, 1.001, 1.2, 7.0, 400.0])
def test_gain_is_the_mean_of_ln_x_plus_1_under_the_density_of_the_saturation(k1: float) -> None:
    # The saturation x / (x + k1) has the density k1 / (x + k1)².
    integral, _ = quad(lambda x: math.log(x + 1) * k1 / (x + k1) ** 2, 0, np.inf, limit=500)
    assert gain(np.array([k1]))[0] == pytest.approx(integral, rel=1e-5)


@given(st.floats(2e-3, 5e2))
def test_solving_inverts_the_gain(k1: float) -> None:
    assert solve_k1(gain(np.array([k1])))[0] == pytest.approx(k1, rel=1e-5)


def test_targets_out_of_reach_give_the_ends_of_the_interval() -> None:
    assert solve_k1(np.array([0.0, 50.0])) == pytest.approx([1e-3, 1e3])


def test_each_term_solves_its_own_equation() -> None:
    documents = [["bus", "bus", "bus"], ["bus", "rent"], ["rent"]]
    fitted = Bm25T.fit(documents)
    lengths = [1 - 0.4 + 0.4 * size / 2 for size in (3, 2, 1)]  # the mean length is 2
    wanted = (math.log(3 / lengths[0] + 1) + math.log(1 / lengths[1] + 1)) / 2
    assert gain(fitted.k1[[fitted.columns["bus"]]])[0] == pytest.approx(wanted, abs=1e-9)


def plain_scores(query: list[str], documents: list[list[str]], b: float) -> list[float]:
    fitted = Bm25T.fit(documents, b)
    average = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for term in set(query):
            holding = sum(term in other for other in documents)
            if term in document:
                count = document.count(term) / (1 - b + b * len(document) / average)
                k1 = fitted.k1[fitted.columns[term]]
                idf = math.log((len(documents) + 1) / (holding + 0.5))
                score += idf * (k1 + 1) * count / (k1 + count)
        scores.append(score)
    return scores


@given(TERMS, st.lists(TERMS, min_size=1, max_size=6).filter(any), st.sampled_from([0.0, 0.4, 1.0]))
def test_scores_equal_a_plain_loop(query: list[str], documents: list[list[str]], b: float) -> None:
    # b = 1 leaves an empty document without length; nothing divides by it.
    scores = Bm25T.fit(documents, b).scores(query, documents)
    assert scores == pytest.approx(plain_scores(query, documents, b))


def test_words_that_the_collection_does_not_have_say_nothing() -> None:
    fitted = Bm25T.fit([["bus"], ["rent"]])
    assert list(fitted.scores(["zebra"], [["zebra"], ["bus"]])) == [0.0, 0.0]


def test_a_word_asked_twice_counts_once() -> None:
    documents = [["bus"], ["rent", "bus"]]
    fitted = Bm25T.fit(documents)
    assert list(fitted.scores(["bus", "bus"], documents)) == list(fitted.scores(["bus"], documents))


@pytest.mark.parametrize("documents", [[], [[]], [[], []]])
def test_a_collection_without_terms_is_refused(documents: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="documents: none has a term"):
        Bm25T.fit(documents)
