"""Claims about comparing texts: shares that can be counted by hand, a classifier that can fail."""

import numpy as np
import pytest

from eval.synth_texts import Texts, distinct_ngrams, overlap, spread, told_apart


def test_distinct_n_counts_repeated_runs_of_words_once() -> None:
    texts = ["call my sister", "call my brother"]
    # Words: call my sister call my brother; 4 of 6 differ. Pairs: 3 of 4.
    assert distinct_ngrams(texts, 1, 2, 0) == pytest.approx(100 * 4 / 6)
    assert distinct_ngrams(texts, 2, 2, 0) == pytest.approx(100 * 3 / 4)


def test_spread_is_the_mean_cosine_distance() -> None:
    vectors = np.eye(3, dtype=np.float32)
    assert spread(vectors, 3, 0) == pytest.approx((100, 100))
    assert spread(np.ones((3, 1), dtype=np.float32), 3, 0) == pytest.approx((0, 0))


def test_overlap_counts_words_that_the_items_have() -> None:
    texts = Texts(
        ["dough lid", "who rang", "everything said"],
        ["a", "a", "b"],
        ["note: dough for two", "missed call from Nev", ""],
    )
    shared, none = overlap(texts)
    assert shared == pytest.approx(25)  # half of the first's words, none of the second's
    assert none == pytest.approx(50)


def test_the_classifier_finds_what_differs_and_nothing_where_nothing_does() -> None:
    draw = np.random.default_rng(1)
    vocabulary = "call ring note mail song walk rain book ship tree lamp door".split()

    def said(extra: str, who: str) -> Texts:
        texts = [f"{' '.join(draw.choice(vocabulary, 5))}{extra}" for _ in range(80)]
        return Texts(texts, [f"{who}{number // 4}" for number in range(80)], [""] * 80)

    vectors = np.ones((80, 2), dtype=np.float32)
    same = told_apart(said("", "s"), said("", "r"), (vectors, vectors), 0)
    other = told_apart(said(" please", "s"), said("", "r"), (vectors, vectors), 0)
    assert 25 < same["words"] < 75
    assert other["words"] > 95
    assert other["meaning"] == pytest.approx(50, abs=5)
