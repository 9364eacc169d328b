"""Claims about comparing texts: shares that can be counted by hand, a classifier that can fail."""

import numpy as np
import pytest

from eval.synth.texts import (
    Texts,
    distinct_ngrams,
    load_texts,
    overlap,
    spread,
    synthetic_auc,
    text_figures,
)
from stores.people.dataset import load_dataset, load_labels
from synth.reference import split_folder


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
    same = synthetic_auc(said("", "s"), said("", "r"), (vectors, vectors), 0)
    other = synthetic_auc(said(" please", "s"), said("", "r"), (vectors, vectors), 0)
    assert 25 < same["words"] < 75
    assert other["words"] > 95
    assert other["meaning"] == pytest.approx(50, abs=5)


def test_distinct_n_is_the_mean_over_draws_of_so_many_texts() -> None:
    # A draw of one text of three: "a a" has one half, the others two halves of distinct words.
    texts = ["a a", "b c", "d e"]
    draw = np.random.default_rng(4)
    shares = [0.5 if draw.choice(3, 1, replace=False)[0] == 0 else 1.0 for _ in range(20)]
    assert 0 < shares.count(0.5) < 20
    assert distinct_ngrams(texts, 1, 1, 4) == pytest.approx(100 * sum(shares) / 20)


def test_figures_are_of_one_two_and_three_words_and_rounded_to_hundredths() -> None:
    texts = Texts(["call my sister", "call my brother now"], ["a", "b"], ["my sister", "lid"])
    found = text_figures(texts, np.array([[1, 0], [1 / 3, 8**0.5 / 3]], np.float32), 2, 0)
    assert found == {
        "distinct_1": 71.43,  # call my sister brother now, of 7
        "distinct_2": 80.0,  # of 2 + 3 pairs, "call my" twice
        "distinct_3": 100.0,
        "spread": 66.67,
        "nearest": 66.67,
        "overlap": 25.0,  # "sister" of "call" and "sister"; nothing
        "no_overlap": 50.0,
        "words": 3.5,
    }


def test_a_limit_takes_people_evenly_and_only_their_requests() -> None:
    folder = split_folder("dev")
    dataset = load_dataset(folder)
    everybody = [one.person.person_id for one in dataset.personas]
    some = load_texts([folder], len(everybody) // 2)
    kept = everybody[::2]
    asked = [one for one in dataset.requests if one.person_id in kept]
    assert some.people == [one.person_id for one in asked]
    labels = load_labels(folder)
    assert [bool(one) for one in some.wanted] == [
        bool(known.relevant) and known.kind not in ("explicit", "no_tool")
        for known in (labels[one.query_id] for one in asked)
    ]
    assert some.texts == [one.request.text for one in asked]
    assert load_texts([folder]).texts == [one.request.text for one in dataset.requests]


def test_a_word_that_is_said_again_counts_by_its_logarithm() -> None:
    """The figure for words is that of counts weighed by hand."""
    from scipy.sparse import diags
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    from eval.synth.texts import _auc

    draw = np.random.default_rng(5)
    vocabulary = "call ring note mail song walk".split()

    def said(who: str, again: int) -> Texts:
        texts = [
            " ".join(np.repeat(draw.choice(vocabulary, 3), draw.integers(1, again, 3)))
            for _ in range(40)
        ]
        return Texts(texts, [f"{who}{number // 4}" for number in range(40)], [""] * 40)

    synthetic, reference = said("s", 3), said("r", 5)
    vectors = np.ones((40, 2), dtype=np.float32)
    counter = CountVectorizer(ngram_range=(1, 2), token_pattern=r"[\w']+|[^\w\s]", min_df=2)
    counts = counter.fit_transform([*synthetic.texts, *reference.texts]).astype(float)
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    counts.data = 1 + np.log(counts.data)
    rows = normalize(counts @ diags(np.log(81 / (1 + documents)) + 1))
    people = [*(f"s {one}" for one in synthetic.people), *(f"r {one}" for one in reference.people)]
    expected = 100 * _auc(rows, np.array([1] * 40 + [0] * 40), people, 0)
    found = synthetic_auc(synthetic, reference, (vectors, vectors), 0)
    assert found["words"] == pytest.approx(expected)
