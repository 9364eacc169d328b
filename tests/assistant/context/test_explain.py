"""Claims about reasons in words: Ada's are worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from ctrag.assistant.context.explain import because, clause, lifts_of
from ctrag.assistant.context.features import FEATURES, compute
from stores.people.items import Request
from tests.assistant.context.conftest import ASKED, context_of, toy_learned_features, view_of

VIEW = view_of()
NAMES = [feature.name for feature in FEATURES]
BUS = replace(ASKED, text="bus", place="bus", playing=None)


def said(name: str, item_id: str, request: Request = ASKED) -> str:
    context, row, column = context_of(request, VIEW), VIEW.row[item_id], NAMES.index(name)
    value = float(compute(context, toy_learned_features())[row, column])
    return clause(context, row, FEATURES[column], value)


BY_HAND: list[tuple[str, str, Request, str]] = [
    ("cosine", "c1", ASKED, "cosine 1.00 with your request"),
    ("cosine_rank", "c1", ASKED, "#1 of the candidates in meaning"),
    ("bm25", "c1", ASKED, "has your “dentist”"),
    ("title_covered", "c1", ASKED, "its title has your “dentist”"),
    ("request_covered", "n1", ASKED, "has none of your words"),
    ("title_covered", "m1", replace(ASKED, text="elm streets"), "its title has none of your words"),
    ("bm25", "m1", replace(ASKED, text="elm streets"), "has your “elm”, “streets”"),
    ("time_from_now", "c1", ASKED, "dated in 6 hours"),
    ("time_from_now", "c3", ASKED, "dated 7 days ago"),
    ("time_from_now", "s1", ASKED, "dated 5 minutes ago"),
    ("time_from_now", "r2", ASKED, ""),
    ("going_on", "c2", ASKED, "the item has begun and is not over: yes"),
    ("in_named_time", "c1", ASKED, "in your “6 pm”"),
    ("in_named_time", "c4", ASKED, "not in your “6 pm”"),
    ("in_named_time", "c4", BUS, ""),
    ("named_time_gap", "r3", ASKED, "2 hours from a time you name"),
    ("next_in_app", "c4", ASKED, "#3 of what comes next in its application"),
    ("next_in_app", "c3", ASKED, ""),
    ("opens", "c1", ASKED, "opens in 30 days: 7"),
    ("since_opened", "c1", ASKED, "last opened 1 hour ago"),
    ("usual_hour_gap", "n1", ASKED, "3 hours from its usual hour"),
    ("usual_place", "m2", ASKED, "at its usual place: yes"),
    ("usual_place", "c1", ASKED, "at its usual place: no"),
    ("usual_place", "n1", ASKED, ""),
    ("kind", "p1", ASKED, "its kind is “call missed”"),
    # The learned log odds of events and of events of today are 2 and 3.
    ("app_prior", "c1", ASKED, "88 % likely that such requests need its application"),
    ("kind_prior", "c1", ASKED, "95 % likely that such requests need its kind of item"),
    ("is_playing", "s1", ASKED, "the song that plays: yes"),
    ("person_named", "c1", ASKED, "involves Mia Quist whom you may mean"),
    ("person_named", "p1", ASKED, "involves nobody whom you may mean"),
    ("people_count", "c3", ASKED, "how many people the item involves: 2"),
    ("tuned_probability", "c1", ASKED, ""),
]


@pytest.mark.parametrize(("name", "item_id", "request_", "words_"), BY_HAND)
def test_a_clause_says_what_the_signals_value_supports(
    name: str, item_id: str, request_: Request, words_: str
) -> None:
    assert said(name, item_id, request_) == words_


@pytest.mark.parametrize(
    ("chance", "told"),
    [(0.001, "under 1 %"), (0.62, "62 %"), (0.999, "over 99 %"), (1.0, "100 %")],
)
def test_a_probability_is_said_no_rounder_than_it_is(chance: float, told: str) -> None:
    feature = FEATURES[NAMES.index("tuned_probability")]
    value = float(np.log(chance))
    assert clause(context_of(view=VIEW), 0, feature, value) == f"{told} likely by the tuned encoder"


def test_every_signal_is_told_without_its_name() -> None:
    context = context_of(view=VIEW)
    table = compute(context, toy_learned_features())
    for column, feature in enumerate(FEATURES):
        told = [
            clause(context, row, feature, float(table[row, column])) for row in range(len(context))
        ]
        assert any(told) or feature.group == "tuned"  # there is no adapter here
        assert not any(one for one in told if "_" in one or "nan" in one)


def why(item_id: str, **added: float) -> tuple[str, ...]:
    context, row = context_of(view=VIEW), VIEW.row[item_id]
    lifts = np.zeros(len(FEATURES), dtype=np.float32)
    for name, value in added.items():
        lifts[NAMES.index(name)] = value
    return because(context, row, compute(context, toy_learned_features())[row], lifts)


def test_what_a_signal_adds_is_counted_from_the_median_candidate() -> None:
    # Means are 3 and 2, medians 0 and 1: only the median leaves the usual candidate at nought.
    added = np.array([[0, 1], [0, 1], [9, 4]], dtype=np.float32)
    assert lifts_of(added).tolist() == [[0, 0], [0, 0], [9, 3]]


def test_what_lifts_comes_first_and_the_strongest_before_the_weaker() -> None:
    assert why("c1", usual_place=-1, app_prior=0.5, person_named=0.6, in_named_time=2) == (
        "in your “6 pm”",
        "involves Mia Quist whom you may mean",
        "88 % likely that such requests need its application",
        "but at its usual place: no",
    )


def test_signals_of_one_group_are_one_reason_by_the_strongest_of_the_same_sign() -> None:
    rank = "#1 of the candidates in meaning"
    assert why("c1", cosine=0.2, cosine_rank=0.3, cosine_behind_best=-0.4) == (f"{rank}",)
    assert why("c1", cosine=0.4, cosine_rank=-0.4) == ()
    assert why("c1", cosine=0.4, cosine_rank=-0.9) == (f"but {rank}",)


def test_what_hardly_weighs_is_not_told() -> None:
    assert why("c1", person_named=0.09) == ()
    assert why("c1", person_named=0.11) == ("involves Mia Quist whom you may mean",)


def test_at_most_four_reasons_lift_and_two_lower() -> None:
    lifting = {"cosine": 9, "bm25": 8, "opens": 7, "kind": 6, "person_named": 5}
    assert why("c1", **lifting)[-1] == "its kind is “event today”"
    assert len(why("c1", **lifting)) == 4
    assert why("c1", cosine=-3, bm25=-2, opens=-1) == (
        "but cosine 1.00 with your request",
        "but has your “dentist”",
    )


def test_what_an_item_lacks_never_speaks_for_it() -> None:
    assert why("n1", bm25=1.0, opens=2.0, unread=3.0, person_named=4.0) == ()
    assert why("n1", bm25=-1.0) == ("but has none of your words",)


def test_a_signal_that_does_not_apply_and_the_request_itself_are_no_reason() -> None:
    assert why("r2", named_time_gap=1.0, time_from_now=2.0) == ()
    assert why("c1", request_length=3.0, app_size=3.0, hour_of_day=-3.0) == ()
