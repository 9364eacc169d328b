"""Claims about genres and artists of one name."""

import pytest

from ctrag.assistant.planning.decoded import Decoded
from ctrag.assistant.planning.genres import artist_for_genre, is_genre
from ctrag.assistant.planning.plan import Plan


@pytest.mark.parametrize(
    ("name", "genre"),
    [
        ("Jazz", True),
        ("K-pop", True),
        ("Britpop", True),
        ("Sea shanties", True),
        ("rnb", True),
        ("80s", True),
        ("nineties hits", True),
        ("Ella Fitzgerald", False),
        ("Kraftwerk", False),
        ("ABBA", False),
    ],
)
def test_a_genre_has_a_word_for_a_kind_of_music(name: str, genre: bool) -> None:
    assert is_genre(name) is genre


def calls(name: str) -> list[Decoded]:
    plans = [Plan("play_genre", {"genre": name}), Plan("play_artist", {"artist": name})]
    return [Decoded(plan, str(plan), 0) for plan in plans]


@pytest.mark.parametrize(
    ("name", "known", "api"),
    [
        ("Kraftwerk", frozenset(), "play_artist"),
        ("Jazz", frozenset(), "play_genre"),
        ("Makossa", frozenset({"makossa"}), "play_genre"),
        ("makossa", frozenset(), "play_genre"),
        ("kraftwerk", frozenset(), "play_artist"),
    ],
)
def test_a_name_that_is_no_genre_is_an_artist_s(name: str, known: frozenset[str], api: str) -> None:
    made, shares = calls(name), [0.7, 0.3]
    artist_for_genre(made, shares, known)
    assert made[0].plan is not None
    assert (made[0].plan.api, shares) == (api, [0.7, 0.3])
