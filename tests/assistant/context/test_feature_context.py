"""Claims about a request beside a person's items."""

import math
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import PersonView
from stores.people.items import Contact, Request
from tests.assistant.context.conftest import ADA, ASKED, NOW, context_of, used, view_of

VIEW = view_of()
WORDS = st.lists(st.sampled_from("dentist street jazz home mia unknown book".split()), max_size=5)


def plain_bm25(view: PersonView, query: list[str]) -> list[float]:
    """Lucene's BM25 with k1 = 1.2 and b = 0.5."""
    count = len(view)
    average = sum(map(len, view.terms)) / count
    scores = []
    for document in view.terms:
        tf = Counter(document)
        score = 0.0
        for term in set(query):
            holding = sum(term in other for other in view.terms)
            idf = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
            score += idf * tf[term] / (tf[term] + 1.2 * (1 - 0.5 + 0.5 * len(document) / average))
        scores.append(score)
    return scores


@given(WORDS)
def test_bm25_equals_lucenes_formula(query: list[str]) -> None:
    assert VIEW.bm25.scores(query) == pytest.approx(plain_bm25(VIEW, query), rel=1e-5)


def test_bm25_equals_the_librarys_own_answer() -> None:
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.5)
    index.index(VIEW.terms, show_progress=False)
    assert np.array_equal(context_of(view=VIEW).bm25, index.get_scores(["dentist"]))


def test_bm25_of_unknown_words_is_zero() -> None:
    assert not VIEW.bm25.scores(["zebra"]).any()
    assert not VIEW.bm25.scores([]).any()


def test_bm25_of_some_rows_keeps_the_statistics_of_all_items() -> None:
    some = context_of(view=VIEW, rows=[2, 12])
    assert np.array_equal(some.bm25, context_of(view=VIEW).bm25[[2, 12]])


def named(text: str) -> dict[str, float]:
    return context_of(replace(ASKED, text=text)).named_people


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("ring Ben", {"ben okoro": 1.0}),
        ("anything from okoro?", {"ben okoro": 1.0}),
        ("where is TERE MACIAS", {"tere macias": 1.0}),
        ("tell my sister", {"mia quist": 0.8}),
        ("write the dispatchers", {"ben okoro": 0.8}),
        ("what did the teacher say", {"tere macias": 0.8 * 1 / 2}),  # of "head teacher"
        ("the head teacher called", {"tere macias": 0.8}),
        ("Tere, the head teacher", {"tere macias": 1.0}),
        ("ben and my sister", {"ben okoro": 1.0, "mia quist": 0.8}),
        ("nothing of that", {}),
        ("", {}),
    ],
)
def test_people_are_named_by_a_part_of_their_name_or_by_relation(
    text: str, people: dict[str, float]
) -> None:
    assert named(text) == pytest.approx(people)


def test_parts_of_names_of_two_letters_name_nobody() -> None:
    person = replace(ADA.person, contacts=(Contact("Al Rossi"),))
    view = PersonView(person, ADA.items, VIEW.vectors)
    assert context_of(replace(ASKED, text="al dente"), view).named_people == {}


def gap(at: datetime, hours: tuple[int, ...]) -> float:
    item = replace(ADA.items[0], usage=used(1, None, hours, None))
    view = PersonView(ADA.person, (item,), np.ones((1, 5), np.float32))
    return float(context_of(replace(ASKED, asked_at=at), view).usual_hour_gap[0])


@pytest.mark.parametrize(
    ("clock", "hours", "wanted"),
    [
        ("08:00", (8,), 0.0),
        ("08:59", (8,), 0.0),
        ("09:30", (8,), 0.5),
        ("07:00", (8,), 1.0),
        ("23:30", (0,), 0.5),
        ("00:30", (23,), 0.5),
        ("01:00", (22,), 2.0),
        ("20:30", (8,), 11.5),
        ("12:00", (8, 14), 2.0),
    ],
)
def test_the_usual_hour_is_a_whole_hour_and_the_gap_wraps_round_midnight(
    clock: str, hours: tuple[int, ...], wanted: float
) -> None:
    assert gap(datetime.fromisoformat(f"2025-04-17T{clock}"), hours) == pytest.approx(wanted)


def test_an_item_without_usual_hours_has_no_gap() -> None:
    assert math.isnan(gap(NOW, ()))


@given(st.integers(0, 1439), st.sets(st.integers(0, 23), min_size=1))
def test_the_gap_is_the_way_to_the_nearest_usual_hour(minute: int, hours: set[int]) -> None:
    # Minute by minute in both directions until the clock shows a usual hour.
    way = next(
        step
        for step in range(721)
        if {(minute + step) % 1440 // 60, (minute - step - 1) % 1440 // 60} & hours
        or minute // 60 in hours
    )
    assert gap(
        datetime(2025, 4, 17) + timedelta(minutes=minute), tuple(hours)
    ) * 60 == pytest.approx(way, abs=1e-6)


def test_rank_within_app_starts_anew_in_each_application() -> None:
    context = context_of(rows=[0, 1, 2, 3, 4])  # two mails, three events
    scores = np.array([1.0, 2.0, 5.0, 9.0, 7.0])
    assert list(context.rank_within_app(scores)) == [1 / 2, 1 / 1, 1 / 3, 1 / 1, 1 / 2]


def test_rank_within_app_gives_missing_scores_nothing_and_ties_their_order() -> None:
    context = context_of(rows=[0, 1, 2, 3, 4])
    scores = np.array([np.nan, 2.0, 5.0, 5.0, np.nan])
    assert list(context.rank_within_app(scores)) == [0, 1, 1, 1 / 2, 0]


@pytest.mark.parametrize(
    "place", ["commute", "Car", "train", "BUS", "driving", "subway", "metro", "tram"]
)
def test_ways_of_travelling_are_one_place(place: str) -> None:
    assert context_of(replace(ASKED, place=place)).place == "commute"


@pytest.mark.parametrize(
    ("place", "folded"), [("Home", "home"), ("Café, Elm-Street", "cafe elm street"), (None, "")]
)
def test_other_places_are_folded(place: str | None, folded: str) -> None:
    assert context_of(replace(ASKED, place=place)).place == folded


def test_times_are_counted_from_the_request() -> None:
    context = context_of()
    row = context.view.row
    assert context.starts[row["c1"]] == 6
    assert context.ends[row["c1"]] == 7
    assert context.starts[row["m1"]] == -2
    assert math.isnan(context.starts[row["r2"]])


def test_days_are_those_of_the_calendar_and_not_24_hours() -> None:
    context = context_of(replace(ASKED, asked_at=datetime(2025, 4, 16, 23, 59)))
    row = context.view.row
    assert context.day_gap[row["r1"]] == 1  # nine hours later
    assert context.day_gap[row["g1"]] == 0
    assert context.day_gap[row["c3"]] == -6


def test_the_song_that_plays_is_found_by_id() -> None:
    assert context_of().playing_row == VIEW.row["s1"]
    assert context_of(replace(ASKED, playing=None)).playing_row is None
    assert context_of(replace(ASKED, playing="gone")).playing_row is None


def test_at_most_six_readings_of_times_are_kept() -> None:
    text = "at 1 or 2 pm or at 3 or at 4, at 5, tomorrow, on Monday, in June"
    assert len(context_of(replace(ASKED, text=text)).expressions) == 6


def test_some_rows_have_the_same_values_as_all() -> None:
    rows = [4, 0, 13]
    some, every = context_of(rows=rows), context_of()
    for name in ("apps", "cosine", "bm25", "starts", "ends", "day_gap", "usual_hour_gap"):
        assert np.array_equal(getattr(some, name), getattr(every, name)[rows], equal_nan=True), name


def test_a_person_without_items_has_an_empty_context() -> None:
    view = PersonView(ADA.person, (), np.empty((0, 5), np.float32))
    context = FeatureContext(view, Request("dentist", NOW), np.ones(5, np.float32), np.arange(0))
    assert len(context.cosine) == len(context.bm25) == len(context.usual_hour_gap) == 0
