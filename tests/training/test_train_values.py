"""Claims about training the reader of values and the ranker that weighs what it reads."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ctrag.apps.toolbox import Toolbox
from ctrag.context.retrieve import FURTHER
from ctrag.planner.arguments import ArgumentRanker, candidates, mixed
from ctrag.planner.value_reader import (
    LINE,
    LONGEST,
    MOST_READ,
    REQUEST,
    ValueReader,
    ValueReaderCard,
    value_text,
)
from ctrag.planner.values import Grounds
from ctrag.tools.reader import Tokens, ToolReader, tokens_of
from ctrag.tools.sight import ITEMS
from eval.examples import Example
from training import value_reader as module
from training.arguments import ArgumentSettings, Choice, choices
from training.retrieved import Retrieved
from training.value_reader import ValueReaderSettings, practised, train_value_reader
from training.values import train_values, with_reader

QUICK = ValueReaderSettings(layers=1, epochs=2, rank=2, batch=8, threads=1)
CARD: dict[str, Any] = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "seed": 1,
    "versions": {},
}


@pytest.fixture(scope="module")
def chosen(examples: list[Example]) -> list[Choice]:
    return choices(examples, [one.relevance for one in examples])


def train(chosen: list[Choice], folder: Path) -> ValueReader:
    return train_value_reader(chosen[:24], chosen[24:40], QUICK, CARD, folder)


def test_only_choices_that_can_be_made_are_practised() -> None:
    def choice(lines: int, right: list[float]) -> Choice:
        text = "\n".join(["request", *(f"value {line}" for line in range(lines))])
        return Choice("q", "a", text, np.empty((lines, 0)), np.array(right, np.float32))

    def encode(text: str) -> Tokens:
        return Tokens([1], [(0, 1)] * (len(text.split("\n")[1:])))

    single, wrong, good = choice(1, [1]), choice(2, [0, 0]), choice(2, [0, 1])
    assert [one.right.tolist() for one in practised([single, wrong, good], encode)] == [[0, 1]]


def test_a_killed_run_goes_on_to_the_same_reader(chosen: list[Choice], tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    whole = train(chosen, tmp_path / "whole")
    saved = module.save

    def kill(*arguments: Any) -> None:
        saved(*arguments)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "save", kill)
        with pytest.raises(Killed):
            train(chosen, tmp_path / "cut")
    cut = train(chosen, tmp_path / "cut")
    for name, array in whole.arrays.items():
        assert np.array_equal(array, cut.arrays[name]), name
    assert whole.card.figures == cut.card.figures
    assert whole.card.figures["held_out"]["choices"] > 0


def test_the_served_reader_says_what_the_trained_one_said(
    chosen: list[Choice], examples: list[Example], tmp_path: Path, configure: Any
) -> None:
    configure(weights=tmp_path / "weights")
    train(chosen, tmp_path / "checkpoints").save(tmp_path)
    served = ValueReader.load(tmp_path)
    network = module.make_network(QUICK).eval()
    parts = dict(network.named_parameters())
    for name, array in served.arrays.items():
        own = name.partition("/")[2]
        part = parts[own] if own in parts else getattr(network.low[own[:-2]], own[-1])
        part.data.copy_(torch.from_numpy(array))
    encode = tokens_of(QUICK.tower, REQUEST, LINE, LONGEST)
    seen = 0
    for grounds, tool, argument, offers in asked(examples):
        found = served.log_shares(grounds, tool, argument, offers)
        read = min(len(offers), MOST_READ)
        assert np.isnan(found[read:]).all()
        assert np.exp(found[:read]).sum() == pytest.approx(1.0)
        text = value_text(grounds, tool, argument, offers)
        practice = module.Practice(encode(text), np.ones(read, np.float32))
        shares, _ = module._shares(network, [practice])
        assert np.exp(found[:read]) == pytest.approx(shares.detach().exp().numpy()[0], abs=0.1)
        seen += 1
    assert seen == 4


def asked(examples: list[Example]) -> list[tuple[Any, Any, Any, Any]]:
    """The first four arguments that have several offers."""
    found: list[tuple[Any, Any, Any, Any]] = []
    for example in examples:
        tool = Toolbox.packaged().get(example.labels.plan.api) if example.labels.plan else None
        best = np.argsort(-example.relevance, kind="stable")[: ITEMS + FURTHER]
        view = example.scene.view
        ranked = [view.items[row] for row in best]
        grounds = Grounds.of(
            example.scene.request,
            view.person,
            ranked[:ITEMS],
            example.relevance[best],
            view.items,
            ranked[ITEMS:],
        )
        for argument in tool.arguments if tool else ():
            offers = candidates(argument, grounds.offers(tool, argument)) if tool else []
            if argument.match == "value" and len(offers) > 1 and len(found) < 4:
                found.append((grounds, tool, argument, offers))
    return found


def test_a_reader_begins_where_the_tool_readers_encoder_is(
    chosen: list[Choice], tmp_path: Path
) -> None:
    name = f"{QUICK.tower}/0.attention.self.query"
    network = module.make_network(QUICK)
    shapes = {
        f"{QUICK.tower}/{place}.{letter}": getattr(low, letter).shape
        for place, low in network.low.items()
        for letter in "AB"
    }
    draw = np.random.default_rng(0)
    arrays = {one: draw.normal(size=shape).astype(np.float32) for one, shape in shapes.items()}
    start = ToolReader(arrays, ToolReader.packaged().card)
    network.take(start)
    assert network.arrays()["0.attention.self.query.A"] == pytest.approx(arrays[f"{name}.A"])
    still = replace(QUICK, learning_rate=0.0, head_rate=0.0)
    same = train_value_reader(chosen[:24], [], still, CARD, tmp_path, start=start)
    assert all(np.array_equal(same.arrays[one], array) for one, array in arrays.items())
    assert same.card.settings["start"] == start.digest
    with pytest.raises(ValueError, match=r"start: the reader has no 0\.attention\.self\.query\.A"):
        network.take(ToolReader({}, start.card))


def belief(scores: list[float], read: list[float], weight: float) -> list[float]:
    return list(mixed(np.array(scores), np.array(read, np.float32), weight))


def test_what_was_not_read_counts_as_the_last_that_was() -> None:
    assert belief([1, 2, 3], [-1, -3, np.nan], 0.5) == [0.5, 0.5, 1.5]
    assert belief([1, 2], [np.nan, -1], 0.0) == [1, 2]


def test_a_reader_counts_what_held_out_choices_show(chosen: list[Choice]) -> None:
    class Says(ValueReader):
        def log_shares_of(self, text: str, count: int) -> Any:
            right = truth[text] if helpful else 1 - truth[text]
            return np.log((right + 0.01) / (right + 0.01).sum()).astype(np.float32)

    own = [one for one in chosen if one.right.sum() == 1 and len(one.right) > 2]
    truth = {one.text: one.right for one in own}
    card = ValueReaderCard(**CARD, figures={}, settings={}, tower=QUICK.tower, layers=1, scale=2.0)
    weights = {}
    for helpful in (True, False):
        reader = Says({}, card)
        weights[helpful] = with_reader(ArgumentRanker.packaged(), reader, own).card.reader_weight
    assert weights[True] > 0.0
    assert weights[False] == 0.0


def test_ranker_and_reader_are_saved_together_and_say_the_same(
    examples: list[Example], tmp_path: Path, configure: Any
) -> None:
    configure(weights=tmp_path / "weights")
    held = np.array([place < 10 for place in range(len(examples))])
    relevances = [one.relevance for one in examples]
    found = Retrieved(examples, relevances, held, "bins", ["own"] * len(examples))
    few = replace(ArgumentSettings(), rounds=5, fewest_in_leaf=2, threads=1)
    ranker = train_values(found, {}, (few, QUICK), CARD, tmp_path / "checkpoints")
    assert {"held_out", "with_reader", "read held_out"} <= ranker.card.figures.keys()
    ranker.save(tmp_path / "out")
    loaded = ArgumentRanker.load(tmp_path / "out")
    assert loaded.reader is not None
    assert ranker.reader is not None
    assert loaded.reader.card == ranker.reader.card
    grounds, tool, argument, offers = asked(examples)[0]
    orders = [one.order(grounds, tool, argument, offers) for one in (loaded, ranker)]
    assert [offer for offer, _ in orders[0]] == [offer for offer, _ in orders[1]]
    assert sum(share for _, share in orders[0]) == pytest.approx(1.0)
    kept = ArgumentRanker.packaged()
    beside = train_values(found, {}, (few, QUICK), CARD, tmp_path / "checkpoints", kept=kept)
    assert beside.model == kept.model
    assert beside.reader is not None
    assert beside.card.figures["held_out"] == kept.card.figures["held_out"]


def test_a_ranker_with_another_reader_is_refused(chosen: list[Choice], tmp_path: Path) -> None:
    reader = train(chosen, tmp_path / "checkpoints")
    packaged = ArgumentRanker.packaged()
    card = packaged.card.model_copy(update={"reader": "moon"})
    ArgumentRanker(packaged.model, card, reader).save(tmp_path)
    with pytest.raises(ValueError, match=r"the reader of values is not the one of arguments-card"):
        ArgumentRanker.load(tmp_path)
