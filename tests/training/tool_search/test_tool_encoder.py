"""Claims about contrastive tuning of the tool search encoder."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.models.tool_encoder import ToolEncoderWeights, TunedToolEncoder
from eval.discovery.data import Benchmark, Need
from training.tool_search import encoder as module
from training.tool_search.encoder import Pair, ToolEncoderSettings, recalls, train_tool_encoder

pytestmark = pytest.mark.training

QUICK = ToolEncoderSettings(layers=1, rank=2, batch=8, near=3, threads=1)
TOOLS = {
    "rain_now": ("Weather at this moment", ["is it wet outside", "do I need an umbrella now"]),
    "rain_tomorrow": ("Weather forecast", ["will it be wet on sunday", "umbrella for the trip?"]),
    "book_flight": ("Buys a plane ticket", ["get me to Oslo by air", "a seat to Rome on friday"]),
    "book_train": ("Buys a rail ticket", ["get me to Oslo by rail", "the night sleeper to Rome"]),
    "sum_numbers": ("Adds numbers", ["what do these come to: 3, 4, 5", "total of my column"]),
    "mean_numbers": ("Average of numbers", ["the typical value of 3, 4, 5", "centre of my column"]),
}


class Fixed:
    """Texts with vectors that a test names."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str]) -> Any:
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)

    def __call__(self, texts: list[str]) -> Any:
        return torch.from_numpy(self.encode(texts))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "toy"
    own.mkdir()
    tools = [{"name": name, "description": text} for name, (text, _) in TOOLS.items()]
    (own / "tools.json").write_text(json.dumps(tools))
    asked = [(text, name) for name, (_, texts) in TOOLS.items() for text in texts]
    rows = [
        {"query_id": f"q{place}", "text": text, "tools": [name]}
        for place, (text, name) in enumerate(asked)
    ]
    (own / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return own


def train(folder: Path, out: Path, settings: ToolEncoderSettings = QUICK) -> ToolEncoderWeights:
    return train_tool_encoder([folder], [folder], settings, out)


def test_recall_counts_needed_tools_among_the_nearest() -> None:
    tools = [CatalogueTool("a", ""), CatalogueTool("b", ""), CatalogueTool("c", "")]
    needs = [Need("1", "x", frozenset("a")), Need("2", "y", frozenset("bc"))]
    vectors = {one.text: [0.0, 0.0] for one in tools} | {"x": [1.0, 0.0], "y": [0.0, 1.0]}
    vectors[tools[0].text], vectors[tools[1].text] = [1.0, 0.5], [0.2, 0.4]
    found = recalls(Fixed(vectors), Benchmark(tools, needs))
    assert found == {"recall@1": 50.0, "recall@5": 100.0}  # y's nearest is a


def test_near_misses_are_the_nearest_tools_that_are_not_needed() -> None:
    tools = [CatalogueTool(name, "") for name in "abcd"]
    vectors = {one.text: [height] for one, height in zip(tools, (0.9, 0.8, 0.7, 0.1), strict=True)}
    need = Need("1", "x", frozenset("ac"))
    pairs = module._pairs(Fixed({**vectors, "x": [1.0]}), Benchmark(tools, [need]), 2, first=10)
    assert pairs == [Pair("x", tool, frozenset({10, 12}), (11, 13)) for tool in (10, 12)]


def test_another_needed_tool_is_not_a_negative() -> None:
    tools = ["a", "b", "c"]
    network = Fixed({"x": [1.0, 0.0], "a": [0.5, 0.0], "b": [0.9, 0.0], "c": [0.3, 0.0]})
    part = [Pair("x", 0, frozenset({0, 1}), (1, 2))]
    settings = replace(QUICK, misses=2, temperature=0.1)
    loss = float(module._loss(network, tools, settings, random.Random(0), part))
    assert loss == pytest.approx(math.log(1 + math.exp((0.3 - 0.5) / 0.1)), abs=1e-5)


def test_a_killed_run_resumes_to_the_same_weights(folder: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    twice = replace(QUICK, epochs=2)
    whole = train(folder, tmp_path / "whole", twice)
    saved = module.save

    def kill(*arguments: Any) -> None:
        saved(*arguments)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "save", kill)
        with pytest.raises(Killed):
            train(folder, tmp_path / "cut", twice)
    cut = train(folder, tmp_path / "cut", twice)
    assert whole.digest == cut.digest
    assert {"toy before", "toy"} == whole.card.figures.keys()


def test_the_served_encoder_is_the_trained_one(
    folder: Path, tmp_path: Path, configure: Any
) -> None:
    configure(weights=tmp_path / "weights")
    far = replace(QUICK, epochs=3, learning_rate=0.02)
    train(folder, tmp_path / "checkpoints", far).save(tmp_path / "out")
    weights = ToolEncoderWeights.load(tmp_path / "out")
    served = TunedToolEncoder(weights, "tuned")
    network = module.make_network(far)
    texts = [text for _, asked in TOOLS.values() for text in asked]
    plain = network.encode(texts)
    for name, low in network.low.items():
        for letter in "AB":
            array = weights.arrays[f"{far.tower}/{name}.{letter}"]
            getattr(low, letter).data.copy_(torch.from_numpy(array))
    tuned = network.encode(texts)
    found = served.encode(texts)
    assert (found * tuned).sum(axis=1).min() > 0.99
    assert (plain * tuned).sum(axis=1).mean() < 0.97
    assert np.array_equal(found[:2], served.encode(texts[:2]))
    assert served.encode([]).shape == (0, served.dimension)


def test_learned_changes_are_scaled_by_the_share(folder: Path, tmp_path: Path) -> None:
    whole = train(folder, tmp_path / "whole")
    half = train(folder, tmp_path / "half", replace(QUICK, share=0.5))
    for name, array in whole.arrays.items():
        share = 0.5 if name.endswith(".B") else 1.0
        assert half.arrays[name] == pytest.approx(share * array, abs=1e-6), name


def test_a_catalogue_without_requests_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "queries.jsonl").write_text("")
    with pytest.raises(ValueError, match="no request needs a tool"):
        train_tool_encoder([folder], [], QUICK, tmp_path / "out")
