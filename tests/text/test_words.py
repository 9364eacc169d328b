"""Claims about text as words and as trigrams."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.text.trigrams import grams, trigram_cosines
from ctrag.text.words import STOPWORDS, fold, terms, words

TEXTS = st.text(alphabet="abc deé'-.5", max_size=40)


def trigrams_of(text: str) -> Counter[str]:
    padded = [f" {word} " for word in words(text)]
    return Counter(word[at : at + 3] for word in padded for at in range(len(word) - 2))


def plain_cosines(query: str, candidates: list[str]) -> list[float]:
    """TF-IDF cosine with dictionaries; what no candidate has weighs nothing."""
    tables = [trigrams_of(text) for text in candidates]
    spread = Counter(gram for table in tables for gram in table)
    idf = {gram: math.log((1 + len(tables)) / (1 + df)) + 1 for gram, df in spread.items()}

    def weigh(table: Counter[str]) -> dict[str, float]:
        known = {gram: count for gram, count in table.items() if gram in idf}
        return {gram: (1 + math.log(count)) * idf[gram] for gram, count in known.items()}

    asked = weigh(trigrams_of(query))
    found = []
    for table in map(weigh, tables):
        dot = sum(weight * table.get(gram, 0.0) for gram, weight in asked.items())
        norms = math.hypot(*asked.values()) * math.hypot(*table.values())
        found.append(dot / norms if norms else 0.0)
    return found


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Macías", "macias"),
        ("GROSS", "gross"),
        ("Groß", "gross"),
        ("Łódź", "łodz"),
        ("ﬁle", "file"),
    ],
)
def test_folding_drops_case_and_accents(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text(alphabet=st.characters(max_codepoint=0x24F), max_size=60))
def test_folding_a_latin_text_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_words_are_split_at_everything_that_is_no_letter_or_digit() -> None:
    assert words("It's the 6 o'clock_thing, Señor!") == [
        "it",
        "s",
        "the",
        "6",
        "o",
        "clock",
        "thing",
        "senor",
    ]


def test_terms_are_stems_in_order_without_stopwords() -> None:
    assert terms("Are the dentists calling about my bookings?") == [
        "dentist",
        "call",
        "about",
        "book",
    ]


def test_word_forms_are_one_term() -> None:
    assert terms("remind") == terms("REMINDED") == terms("reminding")


@given(st.text(max_size=80))
def test_any_text_has_terms_that_are_no_stopwords_before_stemming(text: str) -> None:
    assert len(terms(text)) == sum(word not in STOPWORDS for word in words(text))


def test_trigram_cosine_of_a_small_case_by_hand() -> None:
    # " ab" and "ab " stand in both candidates (idf 1), " cd" and "cd " in one (idf ln(3/2) + 1).
    rare = math.log(3 / 2) + 1
    cosines = trigram_cosines(grams("ab"), [grams("ab"), grams("ab cd")])
    assert cosines == pytest.approx([1.0, 2 / (math.sqrt(2) * math.hypot(1, 1, rare, rare))])


@given(TEXTS, st.lists(TEXTS, max_size=5))
def test_trigram_cosines_equal_a_plain_implementation(query: str, candidates: list[str]) -> None:
    cosines = trigram_cosines(grams(query), [grams(text) for text in candidates])
    assert cosines == pytest.approx(plain_cosines(query, candidates), abs=1e-6)


def test_trigrams_forgive_a_slip_that_words_do_not() -> None:
    texts = ["dentist appointment", "bus timetable"]
    assert not set(terms("dentsit apointment")) & set(terms(texts[0]))
    near, far = trigram_cosines(grams("dentsit apointment"), [grams(text) for text in texts])
    assert near > 0.5 > far


def test_repeated_trigrams_weigh_by_the_logarithm_of_their_count() -> None:
    found = grams("ab ab ab")
    assert found.weights == pytest.approx([1 + math.log(3)] * 2)


@pytest.mark.parametrize(
    ("query", "candidates"), [("", ["ab"]), ("...", ["ab"]), ("ab", ["", "!"])]
)
def test_texts_without_words_have_cosine_zero(query: str, candidates: list[str]) -> None:
    cosines = trigram_cosines(grams(query), [grams(text) for text in candidates])
    assert not cosines.any()
    assert cosines.shape == (len(candidates),)


def test_only_the_beginning_of_a_very_long_text_is_read() -> None:
    long, longer = "ab " * 1_000, "ab " * 1_000 + "zebra " * 1_000
    assert np.array_equal(grams(long).ids, grams(longer).ids)
