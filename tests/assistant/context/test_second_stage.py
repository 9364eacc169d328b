"""Claims about the second pass: items seen together."""

from dataclasses import replace

import numpy as np
import pytest

from ctrag.assistant.context import second_stage
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.learned_features import kinds_of
from ctrag.assistant.context.second_stage import (
    SECOND_STAGE_FEATURES,
    best_of,
    second_pass,
    second_stage_table,
)
from stores.people.dataset import Persona
from tests.assistant.context.conftest import ADA, ASKED, AxisEncoder, context_of, made, view_of

ENCODER = AxisEncoder()
VIEW = view_of(encoder=ENCODER)
NAMES = [feature.name for feature in SECOND_STAGE_FEATURES]


@pytest.fixture
def context() -> FeatureContext:
    return FeatureContext(VIEW, ASKED, ENCODER.encode([ASKED.text])[0], np.arange(len(VIEW)))


def rising(context: FeatureContext) -> np.ndarray:
    return np.linspace(0, 3, len(context), dtype=np.float32)


def test_the_best_come_first_and_belief_is_a_distribution(context: FeatureContext) -> None:
    found = best_of(context, rising(context))
    assert list(found.rows) == list(range(len(context)))[::-1][: second_stage.LOOKED_AT]
    assert found.belief.sum() == pytest.approx(1)
    assert list(np.argsort(-found.belief, kind="stable")) == list(range(len(found.rows)))


def test_a_correction_of_nothing_keeps_the_order(context: FeatureContext) -> None:
    scores = np.random.default_rng(1).normal(size=len(context)).astype(np.float32)
    both = second_pass(context, scores, lambda table: np.zeros(len(table), np.float32))
    assert list(np.argsort(-both, kind="stable")) == list(np.argsort(-scores, kind="stable"))


def test_what_is_not_looked_at_stays_behind(
    context: FeatureContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_stage, "LOOKED_AT", 3)
    both = second_pass(context, rising(context), lambda table: np.full(len(table), -50, np.float32))
    order = list(np.argsort(-both, kind="stable"))
    assert order == list(range(len(context)))[::-1]


def test_no_candidates_need_no_correction(context: FeatureContext) -> None:
    empty = replace(context, rows=np.empty(0, dtype=np.int64))
    scores = np.empty(0, np.float32)

    def never(table: np.ndarray) -> np.ndarray:
        raise AssertionError("nothing to correct")

    assert len(second_pass(empty, scores, never)) == 0


def test_ties_are_sums_over_the_items_believed_in(context: FeatureContext) -> None:
    found = best_of(context, rising(context))
    table = second_stage_table(found)
    links, rows = VIEW.links, found.view_rows
    for name, ties in (
        ("people_tie", links.people(rows)),
        ("words_tie", links.words(rows)),
        ("same_day_tie", links.same_day(rows)),
    ):
        by_hand = [
            sum(ties[row, other] * found.belief[other] for other in range(len(rows)))
            for row in range(len(rows))
        ]
        assert table[:, NAMES.index(name)] == pytest.approx(by_hand, abs=1e-5), name


def test_columns_of_an_item_and_of_the_best_are_what_they_say() -> None:
    note = made(
        "notes", "n2", "Bring the pass", "to the test on 24 April", "Travel", "2025-04-16T10:00"
    )
    view = view_of(Persona(ADA.person, (*ADA.items, note)), ENCODER)
    context = context_of(view=view)
    scores = rising(context)
    ids = [view.ids[row] for row in context.rows]
    scores[ids.index("c1")], scores[ids.index("r2")] = 5, 4  # the dentist comes first
    found = best_of(context, scores)
    table = dict(zip(NAMES, second_stage_table(found).T, strict=True))
    order = sorted(range(len(ids)), key=lambda row: -scores[row])
    assert [ids[row] for row in order[:2]] == ["c1", "r2"]
    weights = [np.exp(scores[row] / 2) for row in order]
    belief = [weight / sum(weights) for weight in weights]
    kinds = kinds_of(context)[order]
    links = view.links
    words, days, groups, cosines = (
        ties(found.view_rows) for ties in (links.words, links.days, links.groups, links.cosines)
    )
    others = range(len(order))
    by_hand = {
        "belief": belief,
        "behind_best": [scores[row] - 5 for row in order],
        "place": list(others),
        "own_kind": list(kinds),
        "best_kind": [kinds[0]] * len(order),
        "best_belief": [belief[0]] * len(order),
        "words_with_best": [words[place, 0] for place in others],
        "days_tie": [sum(days[place, one] * belief[one] for one in others) for place in others],
        "groups_tie": [sum(groups[place, one] * belief[one] for one in others) for place in others],
        "meaning_tie": [
            sum(cosines[place, one] * belief[one] for one in others) for place in others
        ],
        "meaning_with_best": [cosines[place, 0] for place in others],
        "closest_tie": [
            max(cosines[place, one] * np.sqrt(belief[one]) for one in others) for place in others
        ],
    }
    for name, values in by_hand.items():
        assert np.ptp(values) > 0 or name.startswith("best_"), f"{name} says nothing here"
        assert table[name] == pytest.approx(values, abs=1e-5), name


def test_an_item_is_never_tied_to_itself() -> None:
    rows = np.arange(len(VIEW))
    links = VIEW.links
    for ties in (
        links.people(rows),
        links.groups(rows),
        links.words(rows),
        links.days(rows),
        links.same_day(rows),
        links.cosines(rows),
    ):
        assert not np.diag(ties).any()
        assert ties == pytest.approx(ties.T, abs=1e-6)


def test_items_of_the_same_person_are_tied() -> None:
    rows = np.arange(len(VIEW))
    ties = VIEW.links.people(rows)
    for one in rows:
        for other in rows:
            shared = set(VIEW.people[one]) & set(VIEW.people[other])
            if one != other and shared:
                assert ties[one, other] == 1, (VIEW.ids[one], VIEW.ids[other])
