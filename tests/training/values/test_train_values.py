"""Claims about training the ranker of values."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.api_choice.classifier_features import ITEMS
from ctrag.assistant.context.retrieve import FURTHER
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.value_ranker import FEATURES, ValueRanker, with_absent
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample
from training.values.value_ranker import (
    ArgumentExample,
    ValueRankerSettings,
    choices,
    train_arguments,
)

QUICK = ValueRankerSettings(rounds=5, fewest_in_leaf=2, threads=1)
CARD: dict[str, Any] = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "seed": 1,
    "versions": {},
}


@pytest.fixture(scope="module")
def chosen(examples: list[RankingExample]) -> list[ArgumentExample]:
    return choices(examples, [one.relevance for one in examples])


def test_a_choice_has_a_row_for_each_candidate(
    examples: list[RankingExample], chosen: list[ArgumentExample]
) -> None:
    toolbox = Toolbox.packaged()
    places = iter(chosen)
    for example in examples[:20]:
        plan = example.labels.plan
        tool = None if plan is None else toolbox.get(plan.api)
        best = np.argsort(-example.relevance, kind="stable")[: ITEMS + FURTHER]
        view = example.context.view
        ranked = [view.items[row] for row in best]
        sources = ValueSources.of(
            example.context.request,
            view.person,
            ranked[:ITEMS],
            example.relevance[best],
            view.items,
            ranked[ITEMS:],
        )
        for argument in () if tool is None else tool.arguments:
            candidates = with_absent(argument, sources.candidates(tool, argument)) if tool else []
            if argument.match == "value" and candidates:
                choice = next(places)
                assert choice.query_id == example.asked.query_id
                assert choice.argument == f"{tool.api if tool else ''}.{argument.name}"
                assert choice.table.shape == (len(candidates), len(FEATURES))
                assert len(choice.right) == len(candidates)


def test_figures_are_computed_on_held_out_choices(chosen: list[ArgumentExample]) -> None:
    draw = np.random.default_rng(0)
    table = draw.normal(size=(3, len(FEATURES))).astype(np.float32)
    first, last, none = (
        ArgumentExample("q", "a.b", table, np.array(right, np.float32))
        for right in ([1, 0, 0], [0, 0, 1], [0, 0, 0])
    )
    ranker = train_arguments(chosen, [first, last, none, none], QUICK, CARD)
    order = np.argsort(-ranker._booster.predict(table), kind="stable")
    assert ranker.card.figures["held_out"] == {
        "ranked_first_right": 25.0 * (order[0] in (0, 2)),
        "first_offer_right": 25.0,
        "offered": 50.0,
        "choices": 4.0,
    }
    assert train_arguments(chosen, [], QUICK, CARD).card.figures == {}


def test_a_saved_ranker_orders_values_as_before(
    examples: list[RankingExample], chosen: list[ArgumentExample], tmp_path: Path
) -> None:
    ranker = train_arguments(chosen, [], QUICK, CARD)
    ranker.save(tmp_path)
    loaded = ValueRanker.load(tmp_path)
    assert loaded.card == ranker.card
    example = next(one for one in examples if one.labels.plan is not None)
    best = np.argsort(-example.relevance)
    view = example.context.view
    sources = ValueSources.of(
        example.context.request,
        view.person,
        [view.items[row] for row in best],
        example.relevance[best],
        view.items,
    )
    tool = Toolbox.packaged().get("call_contact")
    assert tool is not None
    [argument] = tool.arguments
    candidates = sources.candidates(tool, argument)
    assert len(candidates) > 1
    order = loaded.order(sources, tool, argument, candidates)
    assert order == ranker.order(sources, tool, argument, candidates)
    assert sum(share for _, share in order) == pytest.approx(1.0)


def test_plans_without_a_value_to_choose_are_ignored(chosen: list[ArgumentExample]) -> None:
    single = ArgumentExample("q", "a.b", chosen[0].table[:1], np.ones(1, np.float32))
    wrong = ArgumentExample("q", "a.b", chosen[0].table, np.zeros(len(chosen[0].table), np.float32))
    with pytest.raises(ValueError, match="no labelled plan has an argument to choose a value for"):
        train_arguments([single, wrong], [], QUICK, CARD)
