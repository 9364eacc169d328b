"""Claims about the ranker's features: each is worked out by hand for one request of Ada's."""

import inspect
import math
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.features import FEATURES, compute
from ctrag.assistant.context.item_arrays import PersonView, encode_items, load_view
from ctrag.assistant.context.learned_features import KINDS
from stores.people.dataset import Persona
from stores.people.items import Labels, Request
from stores.people.stores import Stores
from tests.assistant.context.conftest import (
    ADA,
    ASKED,
    BOB,
    AxisEncoder,
    context_of,
    toy_learned_features,
    view_of,
)

VIEW = view_of()
LEARNED = toy_learned_features()
NAMES = [feature.name for feature in FEATURES]
NAN = math.nan

MEAN = (1 + 1 + 2**-0.5) / 20  # of the cosines: c1 and r2 have 1, g1 the root of 1/2, 17 have 0
SPREAD = math.sqrt((1 + 1 + 0.5) / 20 - MEAN**2)

BY_HAND: dict[str, dict[str, float]] = {
    "cosine": {"c1": 1, "g1": 2**-0.5, "m1": 0},
    "cosine_behind_best": {"c1": 0, "g1": 2**-0.5 - 1, "m1": -1},
    "cosine_standing": {"c1": (1 - MEAN) / SPREAD, "m1": -MEAN / SPREAD},
    "cosine_rank": {"c1": 1, "r2": 1 / 2, "g1": 1 / 3},
    "cosine_rank_in_app": {"g1": 1, "r2": 1, "r1": 1 / 2},
    # The shortest of the three that say "dentist" is the best.
    "bm25_share": {"r2": 1, "m1": 0},
    "title_covered": {"c1": 1, "r2": 1 / 2, "g1": 1 / 4, "m1": 0},
    # Move, dentist, thing, 6, pm, tell, sister.
    "request_covered": {"c1": 1 / 7, "n1": 0},
    "time_from_now": {"c1": math.log1p(6), "m1": -math.log1p(2), "r2": NAN},
    "time_distance": {"c1": math.log1p(6), "m1": math.log1p(2), "r2": NAN},
    "day_gap": {"c4": 7, "c3": -7, "n1": -16, "c1": 0, "r2": NAN},
    "going_on": {"c2": 1, "c1": 0, "c3": 0, "m1": 0, "r2": 0},
    "next_in_app": {"c2": 1, "c1": 1 / 2, "c4": 1 / 3, "c3": 0, "r2": 0},
    "latest_in_app": {"c2": 1, "c3": 1 / 2, "c1": 0, "p1": 1, "p4": 1 / 4},
    "in_named_time": {"c1": 1, "r3": 0, "r2": 0},
    "named_time_gap": {"c1": 0, "r3": math.log1p(2), "c4": math.log1p(7 * 24 - 3 - 30), "r2": NAN},
    "named_clock_gap": {"c1": 0, "r3": 2, "c4": 3, "n1": 6, "p2": 0, "c2": 5.5, "r2": NAN},
    "opens": {"c1": math.log1p(7), "m2": math.log1p(3), "m1": 0},
    "opens_rank_in_app": {"c1": 1, "c2": 1 / 2, "m2": 1, "m1": 1 / 2},
    "since_opened": {"c1": math.log1p(1), "m2": math.log1p(24), "m1": NAN},
    "usual_hour_gap": {"c1": 0, "c2": 0, "n1": 3, "m2": 11, "m1": NAN},
    "usual_place": {"m2": 1, "c1": 0, "m1": NAN},
    "habit": {
        "c1": math.log1p(7) * 0.4,
        "m2": math.log1p(3) * math.exp(-((11 / 1.5) ** 2)),
        "n1": 0,
    },
    "habit_rank_in_app": {"c1": 1, "c2": 1 / 2},
    "unread": {"m1": 1, "m2": 0, "c1": 0},
    "done": {"r5": 1, "r1": 0},
    "kind": {"p4": KINDS.index("voicemail"), "r1": KINDS.index("reminder overdue")},
    "is_playing": {"s1": 1, "s2": 0},
    "with_playing": {"s1": 1, "s2": 1, "s3": 0, "n1": 0},
    "person_named": {"c1": 0.8, "c3": 0.8, "p2": 0.8, "m1": 0, "n1": 0},
    "person_in_text": {"c1": 1, "c3": 1, "m1": 0},
    "people_count": {"c3": 2, "c1": 1, "c2": 0, "n1": 0},
    "app_prior": {"c1": 2, "c4": 2, "m1": -1, "r1": 0},
    "kind_prior": {"c1": 3, "c4": 0, "n1": -2},
    "kind_prior_behind_best": {"c1": 0, "c4": -3, "n1": -5},
    "mapped_cosine": {"m1": 1, "g1": 2**-0.5, "c1": 0},
    "mapped_rank_in_app": {"m1": 1, "m2": 1 / 2, "s2": 1},
    "request_length": {"c1": 7, "r2": 7},
    "hour_of_day": {"c1": 12},
    "something_plays": {"c1": 1},
    "times_named": {"m1": 2},
    "best_cosine": {"m1": 1},
    "app_size": {"c1": 4, "r1": 5, "g1": 1},
}


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    return compute(context_of(view=VIEW), LEARNED)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_signal_has_the_value_worked_out_by_hand(name: str, table: np.ndarray) -> None:
    column = table[:, NAMES.index(name)]
    found = {item_id: float(column[VIEW.row[item_id]]) for item_id in BY_HAND[name]}
    assert found == pytest.approx(BY_HAND[name], abs=1e-5, nan_ok=True)


def test_all_signals_but_those_with_tests_of_their_own_are_worked_out() -> None:
    # For bm25 see test_feature_context.py, for trigrams test_words.py, for tuned ones test_tuned.py.
    assert set(NAMES) - set(BY_HAND) == {
        "bm25",
        "trigram_overlap",
        "tuned_probability",
        "tuned_behind_best",
    }


def test_shared_features_are_those_of_the_context(table: np.ndarray) -> None:
    context = context_of(view=VIEW)
    assert table[:, NAMES.index("bm25")] == pytest.approx(context.bm25)
    assert table[:, NAMES.index("bm25")].argmax() == VIEW.row["r2"]


def column(name: str, request: Request, item_id: str) -> float:
    return float(compute(context_of(request, VIEW), LEARNED)[VIEW.row[item_id], NAMES.index(name)])


def test_later_readings_of_a_time_count_less() -> None:
    # 6 o'clock: today's evening, tomorrow's morning, tomorrow's evening; the second counts 1 / 1.5.
    early = replace(VIEW.items[VIEW.row["r4"]], fields={"due": datetime(2025, 4, 18, 6)})
    items = tuple(early if item.id == "r4" else item for item in ADA.items)
    view = PersonView(ADA.person, items, VIEW.vectors)
    request = replace(ASKED, text="the 6 o'clock thing")
    found = compute(context_of(request, view), LEARNED)[:, NAMES.index("in_named_time")]
    assert (found[VIEW.row["c1"]], found[VIEW.row["r4"]]) == pytest.approx((1, 1 / 1.5))


def test_trigrams_see_the_word_form_that_stems_miss() -> None:
    asked = replace(ASKED, text="dentistry")
    assert column("request_covered", asked, "c1") == 0
    assert column("trigram_overlap", asked, "c1") > column("trigram_overlap", asked, "m1")


def test_a_request_that_names_no_time_has_no_gap_to_it() -> None:
    asked = replace(ASKED, text="call my sister")
    assert math.isnan(column("named_time_gap", asked, "c1"))
    assert math.isnan(column("named_clock_gap", asked, "c1"))
    assert column("times_named", asked, "c1") == column("in_named_time", asked, "c1") == 0


def test_a_request_that_names_a_day_only_has_no_clock_gap() -> None:
    asked = replace(ASKED, text="tomorrow")
    assert math.isnan(column("named_clock_gap", asked, "c1"))
    assert not math.isnan(column("named_time_gap", asked, "c1"))


def test_days_are_counted_within_a_month() -> None:
    assert column("day_gap", replace(ASKED, asked_at=datetime(2025, 12, 1)), "c1") == -30


def test_names_are_unique_and_groups_are_the_declared_ones() -> None:
    groups = {"meaning", "words", "time", "usage", "state", "people", "learned", "tuned"}
    assert len(set(NAMES)) == len(NAMES)
    assert {feature.group for feature in FEATURES} == groups | {"request"}
    assert all(feature.unit and feature.meaning.endswith(".") for feature in FEATURES)


REQUESTS = st.builds(
    Request,
    text=st.one_of(
        st.text(max_size=60),
        st.lists(st.sampled_from("dentist Ben sister tomorrow at 6 pm jazz rent last week".split()), max_size=8).map(" ".join),
    ),
    asked_at=st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)),
    place=st.sampled_from([None, "home", "bus", "Elm Street"]),
    playing=st.sampled_from([None, "s1", "gone"]),
)  # fmt: skip


@given(REQUESTS, st.sets(st.integers(0, len(ADA.items) - 1), min_size=1))
def test_for_any_request_every_signal_is_a_finite_number_or_missing_and_always_the_same(
    request: Request, rows: set[int]
) -> None:
    contexts = [context_of(request, VIEW, sorted(rows)) for _ in range(2)]
    for feature in FEATURES:
        first, second = (np.asarray(feature.column(one, LEARNED), float) for one in contexts)
        assert first.shape == (len(rows),), feature.name
        assert not np.isinf(first).any(), feature.name
        assert np.array_equal(first, second, equal_nan=True), feature.name
    assert compute(contexts[0], LEARNED).shape == (len(rows), len(FEATURES))


def test_one_item_alone_has_features() -> None:
    table = compute(context_of(view=view_of(Persona(ADA.person, ADA.items[:1]))), LEARNED)
    assert table.shape == (1, len(FEATURES))
    assert table[0, NAMES.index("cosine_standing")] == 0


def test_signals_do_not_change_with_other_peoples_data(tmp_path: Path) -> None:
    encoder = AxisEncoder()

    def table_beside(name: str, *others: Persona) -> np.ndarray:
        stores = Stores(tmp_path / name)
        people = [ADA, *others]
        stores.import_personas(people, lambda owned: encode_items(encoder, list(owned)), "axes")
        return compute(context_of(view=load_view(stores, "ada", encoder)), LEARNED)

    alone, beside = table_beside("alone"), table_beside("beside", BOB)
    assert np.array_equal(alone, beside, equal_nan=True)


def test_no_signal_can_see_a_label() -> None:
    labels = {field.name for field in fields(Labels)}
    seen = {field.name for field in (*fields(FeatureContext), *fields(Request))}
    seen |= {name for name, _ in inspect.getmembers(FeatureContext)}
    assert not labels & seen
    for feature in FEATURES:
        assert list(inspect.signature(feature.column).parameters) == ["context", "learned"], (
            feature.name
        )
