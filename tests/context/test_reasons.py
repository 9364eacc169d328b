"""Claims about reasons in words: Ada's are worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from ctrag.context import matters
from ctrag.context.case import Case
from ctrag.context.matters import AGAINST, ASIDE, EITHER, FOR, MATTERS, Matter, Speaks
from ctrag.context.reasons import all_matters, because
from ctrag.context.signals import SIGNALS, compute
from stores.items import Request
from tests.context.conftest import ASKED, scene_of, toy_prior, view_of

VIEW = view_of()
NAMES = [signal.name for signal in SIGNALS]


def case_of(item_id: str, request: Request = ASKED) -> Case:
    scene = scene_of(request, VIEW)
    return Case(scene, VIEW.row[item_id], compute(scene, toy_prior()))


def about(signal: str) -> Matter:
    return next(matter for matter in all_matters() if signal in matter.signals)


def said(signal: str, item_id: str, way: Speaks, request: Request = ASKED) -> str:
    """What is told first of those that speak this way; empty when nothing does."""
    told = about(signal).tell(case_of(item_id, request))
    return next((text for speaks, text in told if speaks is way), "")


BUS = replace(ASKED, text="bus", place="bus", playing=None)
TOMORROW = replace(ASKED, text="ring ben tomorrow morning")
BY_HAND: list[tuple[str, str, Speaks, Request, str]] = [
    ("cosine", "c1", FOR, ASKED, "it is the closest of your 20 items in meaning"),
    ("cosine", "g1", FOR, ASKED, "it is the 2nd closest of your 20 items to what such requests are about"),
    ("cosine", "n1", AGAINST, ASKED, "3 of your 20 items are closer in meaning"),
    # The toy map turns dentists into buses.
    ("mapped_cosine", "m1", FOR, ASKED, "it is the closest of your 20 items to what such requests are about"),
    ("bm25", "c1", FOR, ASKED, "its title has your word “dentist”"),
    ("bm25", "c1", AGAINST, ASKED, "of your 7 telling words it has only “dentist”"),
    ("bm25", "n1", AGAINST, ASKED, "it has none of your words"),
    ("bm25", "n1", FOR, ASKED, ""),
    ("bm25", "c1", FOR, replace(ASKED, text="dentistry"), "its “dentist” is spelled much like your “dentistry”"),
    ("bm25", "c1", ASIDE, replace(ASKED, text="?"), "the request has no telling word"),
    ("time_from_now", "c1", FOR, ASKED, "it begins today at 18:00"),
    ("time_from_now", "c2", FOR, ASKED, "it is going on, until 12:30"),
    ("time_from_now", "c3", AGAINST, ASKED, "it was over on 10 April, 7 days ago"),
    ("time_from_now", "c4", EITHER, ASKED, "it begins on 24 April, 7 days ahead"),
    ("time_from_now", "p1", FOR, ASKED, "the call was today at 11:00, the latest of your calls"),
    ("time_from_now", "s1", FOR, ASKED, "you last played it 5 minutes ago, the latest of your songs"),
    ("time_from_now", "r3", FOR, ASKED, "it is due today at 20:00, the next of your reminders"),
    ("time_from_now", "r2", EITHER, ASKED, "it has no date"),
    ("in_named_time", "c1", FOR, ASKED, "its time fits your “6 pm”"),
    ("in_named_time", "r3", EITHER, ASKED, "it is 2 hours from your “6 pm”"),
    ("in_named_time", "r3", FOR, ASKED, ""),
    ("in_named_time", "c4", AGAINST, ASKED, "it is 6 days from your “6 pm”"),
    ("in_named_time", "p2", FOR, ASKED, "its clock time, 18:00, fits your “6 pm”"),
    ("in_named_time", "r2", AGAINST, ASKED, "it has no date, and you say “6 pm”"),
    ("in_named_time", "c1", ASIDE, BUS, "the request names no time"),
    ("opens", "c1", FOR, ASKED, "you usually open it around 12:30 (7 times in 30 days)"),
    ("opens", "c1", AGAINST, ASKED, "you usually open it at work, not at home"),
    ("opens", "m2", FOR, ASKED, "you usually open it at home (3 times in 30 days)"),
    ("opens", "m2", AGAINST, ASKED, "you usually open it between 23:00 and 01:00, not at 12:00"),
    ("opens", "c2", FOR, ASKED, "you opened it once in 30 days, around 11:30"),
    ("opens", "c2", AGAINST, ASKED, "you opened it only once in 30 days"),
    ("opens", "c2", FOR, BUS, "you opened it once in 30 days, around 11:30 on the way"),
    ("opens", "n1", AGAINST, ASKED, "you have not opened it in 30 days"),
    ("opens", "n1", FOR, ASKED, ""),
    ("opens", "m1", EITHER, ASKED, "you have not opened it in 30 days"),
    # The prior's log odds are 3, -2 and 0.
    ("kind", "c1", FOR, ASKED, "requests like this one mostly need an event of today (95 %)"),
    ("kind", "n1", EITHER, ASKED, "requests like this one sometimes need a note (12 %)"),
    ("kind", "p4", FOR, ASKED, "requests like this one often need a voicemail (50 %)"),
    ("app_size", "n1", EITHER, ASKED, "you have no other note"),
    ("app_size", "c1", EITHER, ASKED, "it is one of your 4 events"),
    ("is_playing", "s1", FOR, ASKED, "it is the song that plays"),
    ("is_playing", "s2", FOR, ASKED, "it shares “Jazz” with the song that plays"),
    ("is_playing", "n1", AGAINST, ASKED, "it shares no playlist or genre with the song that plays"),
    ("is_playing", "s1", ASIDE, BUS, "no song of yours plays"),
    ("person_named", "c1", FOR, ASKED, "the request points at Mia Quist (sister)"),
    ("person_named", "m1", AGAINST, ASKED, "it says nothing of Mia Quist (sister), at whom the request may point"),
    ("person_named", "p1", FOR, TOMORROW, "the request points at Ben Okoro (dispatcher)"),
    ("person_named", "m2", EITHER, BUS, "it involves City Shop"),
    ("person_named", "n1", ASIDE, BUS, "the request points at nobody you know"),
]  # fmt: skip


@pytest.mark.parametrize(("signal", "item_id", "way", "request_", "words_"), BY_HAND)
def test_what_is_said_is_the_sentence_worked_out_by_hand(
    signal: str, item_id: str, way: Speaks, request_: Request, words_: str
) -> None:
    assert said(signal, item_id, way, request_) == words_


def lifts(**added: float) -> np.ndarray:
    found = np.zeros(len(SIGNALS), dtype=np.float32)
    for name, value in added.items():
        found[NAMES.index(name)] = value
    return found


def why(item_id: str, **added: float) -> tuple[str, ...]:
    case = case_of(item_id)
    return because(case.scene, case.row, case.table, lifts(**added))


def test_signals_of_one_matter_are_one_reason() -> None:
    closest_ = "it is the closest of your 20 items in meaning"
    assert why("c1", cosine=0.2, cosine_rank=0.3, mapped_cosine=0.1) == (closest_,)
    assert why("c1", cosine=0.4, mapped_cosine=-0.4) == ()


def test_what_lifts_comes_first_and_the_strongest_before_the_weaker() -> None:
    assert why("c1", opens=-1, kind=0.5, person_named=0.6, in_named_time=2) == (
        "its time fits your “6 pm”",
        "the request points at Mia Quist (sister)",
        "requests like this one mostly need an event of today (95 %)",
        "but you usually open it at work, not at home",
    )


def test_what_hardly_weighs_is_not_told() -> None:
    assert why("c1", person_named=0.04) == ()
    told = why("c1", in_named_time=2, person_named=0.19, opens=-0.39)
    assert told == ("its time fits your “6 pm”",)


@pytest.mark.parametrize(
    ("others", "chance", "told"),
    [
        (0.01, 0.9, "points to it first (90 %)"),
        (0.5, 0.3, "points to it too (30 %)"),
        (0.5, 0.02, "hardly points to it (2 %)"),
    ],
)
def test_a_models_word_is_told_and_silences_nothing_that_is_seen(
    others: float, chance: float, told: str
) -> None:
    case = case_of("c1")
    table = case.table.copy()
    table[:, NAMES.index("tuned_probability")] = np.log(others)
    table[case.row, NAMES.index("tuned_probability")] = np.log(chance)
    away = "hardly" in told
    added = lifts(tuned_probability=-30 if away else 30, person_named=0.6)
    learned = f"what was learned from others' requests {told}"
    seen = "the request points at Mia Quist (sister)"
    expected = (seen, f"but {learned}") if away else (learned, seen)
    assert because(case.scene, case.row, table, added) == expected


def test_a_lift_for_what_is_no_merit_is_passed_over() -> None:
    assert why("n1", opens=3.0, cosine=1.0, person_named=2.0) == ()
    assert why("c1", is_playing=-1.0) != ()
    assert why("s1", is_playing=-1.0) == ()


def test_what_is_true_of_the_request_alone_is_no_reason() -> None:
    case = case_of("n1", BUS)
    added = lifts(times_named=1.0, something_plays=1.0, people_count=1.0)
    assert because(case.scene, case.row, case.table, added) == ()


def test_one_item_alone_is_compared_with_nothing() -> None:
    scene = scene_of(view=VIEW, rows=[VIEW.row["c1"]])
    case = Case(scene, 0, compute(scene, toy_prior()))
    assert because(scene, 0, case.table, lifts(cosine=1.0)) == ()
    assert because(scene, 0, case.table, lifts(person_named=1.0)) != ()


def test_ranks_among_some_of_the_items_are_not_said_of_all() -> None:
    scene = scene_of(view=VIEW, rows=[VIEW.row[item_id] for item_id in ("m1", "c1", "g1")])
    case = Case(scene, 1, compute(scene, toy_prior()))
    [told] = because(scene, 1, case.table, lifts(cosine=1.0))
    assert told == "it is the closest of the 3 items looked at in meaning"


def test_every_signal_belongs_to_one_matter_at_most_and_no_matter_names_another() -> None:
    named = [name for matter in MATTERS for name in matter.signals]
    assert len(named) == len(set(named))
    assert set(named) <= set(NAMES)
    assert set(matters._CLOSE) <= set(named)
    assert {name for matter in all_matters() for name in matter.signals} == set(NAMES)


def test_a_signal_without_phrases_is_told_by_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctrag.context.reasons.MATTERS", [])
    assert why("c1", in_named_time=1.0) == (
        "whether the item lies in a span that the request names: 1.00, "
        "more than for all your other items",
    )
    assert why("m2", day_gap=-1.0) == (
        "but calendar days between request and item, within a month: -2.00",
    )
    assert why("m1", unread=1.0) == ("a mail that was not read: yes",)
    assert why("r2", named_time_gap=1.0) == (
        "hours from the nearest time that the request names: does not apply",
    )
