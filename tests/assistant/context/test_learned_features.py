"""Claims about kinds of items and what requests needed before."""

from dataclasses import replace

import numpy as np
import pytest

from ctrag.assistant.context.learned_features import KINDS, kinds_of
from tests.assistant.context.conftest import ASKED, context_of, toy_learned_features, view_of

WANTED = {
    "m1": "mail unread",
    "m2": "mail read",
    "c1": "event today",
    "c2": "event today",  # going on
    "c3": "event over",
    "c4": "event later",
    "g1": "search",
    "n1": "note",
    "s1": "song playing",
    "s2": "song",
    "r1": "reminder overdue",  # although it is of today
    "r2": "reminder undated",
    "r3": "reminder today",
    "r4": "reminder later",
    "r5": "reminder done",  # although it is over
    "p1": "call missed",
    "p2": "call incoming",
    "p3": "call outgoing",
    "p4": "voicemail",  # although it was missed
}


@pytest.mark.parametrize("item_id", WANTED)
def test_the_kind_is_application_and_state_at_the_time_of_asking(item_id: str) -> None:
    context = context_of()
    assert KINDS[kinds_of(context)[context.view.row[item_id]]] == WANTED[item_id]


def test_every_kind_but_the_fallback_is_checked() -> None:
    assert set(WANTED.values()) == set(KINDS) - {"other"}


def test_without_music_no_song_plays() -> None:
    context = context_of(replace(ASKED, playing=None))
    assert KINDS[kinds_of(context)[context.view.row["s1"]]] == "song"


def test_kinds_follow_the_clock() -> None:
    later = context_of(replace(ASKED, asked_at=ASKED.asked_at.replace(hour=20, minute=30)))
    kinds = [KINDS[kind] for kind in kinds_of(later)]
    row = later.view.row
    assert (kinds[row["c1"]], kinds[row["r3"]]) == ("event over", "reminder overdue")


def test_scores_are_the_plain_formulas_for_any_weights() -> None:
    drawn = np.random.default_rng(5)
    plain = toy_learned_features()
    learned = replace(
        plain,
        app_weights=drawn.normal(size=plain.app_weights.shape).astype(np.float32),
        kind_weights=drawn.normal(size=plain.kind_weights.shape).astype(np.float32),
        item_map=drawn.normal(size=plain.item_map.shape).astype(np.float32),
    )
    view = view_of()
    context = context_of(replace(ASKED, text="dentist bus bus"), view)
    vector = np.array([1, 2, 0, 0, 0]) / 5**0.5
    mapped = [sum(vector[i] * learned.item_map[i, j] for i in range(5)) for j in range(5)]
    length = sum(value**2 for value in mapped) ** 0.5
    for row in range(len(view)):
        app = learned.app_weights[:, view.apps[row]]
        kind = learned.kind_weights[:, kinds_of(context)[row]]
        assert learned.app_scores(context)[row] == pytest.approx(
            vector @ app[:5] + app[5], abs=1e-5
        )
        assert learned.kind_scores(context)[row] == pytest.approx(
            vector @ kind[:5] + kind[5], abs=1e-5
        )
        cosine = sum(a * b for a, b in zip(view.vectors[row], mapped, strict=True)) / length
        assert learned.mapped_cosine(context)[row] == pytest.approx(cosine, abs=1e-5)


def test_a_map_that_leaves_nothing_gives_cosine_zero() -> None:
    learned = replace(toy_learned_features(), item_map=np.zeros((5, 5), np.float32))
    assert not learned.mapped_cosine(context_of()).any()
