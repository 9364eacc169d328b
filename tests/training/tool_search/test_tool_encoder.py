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

from ctrag.models.onnx_encoder import load_model
from ctrag.models.tool_encoder import ToolEncoderWeights, TunedToolEncoder
from training.core import steps
from training.tool_search.encoder import ToolEncoderSettings, tokenised, train_tool_encoder
from training.tool_search.tokenised import TokenisedBenchmark
from training.tool_search.tuning import (
    Pair,
    PairTuning,
    make_network,
    pair_loss,
    pairs_of,
    recalls,
)

pytestmark = pytest.mark.training

QUICK = ToolEncoderSettings(layers=1, rank=2, batch=8, near=3, save_seconds=0.0, threads=1)
TOOLS = {
    "rain_now": ("Weather at this moment", ["is it wet outside", "do I need an umbrella now"]),
    "rain_tomorrow": ("Weather forecast", ["will it be wet on sunday", "umbrella for the trip?"]),
    "book_flight": ("Buys a plane ticket", ["get me to Oslo by air", "a seat to Rome on friday"]),
    "book_train": ("Buys a rail ticket", ["get me to Oslo by rail", "the night sleeper to Rome"]),
    "sum_numbers": ("Adds numbers", ["what do these come to: 3, 4, 5", "total of my column"]),
    "mean_numbers": ("Average of numbers", ["the typical value of 3, 4, 5", "centre of my column"]),
}


A, B, C, D, X, Y = ((place,) for place in range(6))
"""Rows of tokens, each with a vector that a test names."""


class Fixed:
    """An encoder of such rows."""

    def __init__(self, vectors: dict[tuple[int], list[float]]) -> None:
        self.vectors = vectors

    def encode(self, rows: list[tuple[int]]) -> Any:
        return np.array([self.vectors[row] for row in rows], dtype=np.float32)

    def __call__(self, rows: list[tuple[int]]) -> Any:
        return torch.from_numpy(self.encode(rows))


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
    benchmark = TokenisedBenchmark([A, B, C], [X, Y], [frozenset({0}), frozenset({1, 2})])
    vectors = {A: [1.0, 0.5], B: [0.2, 0.4], C: [0.0, 0.0], X: [1.0, 0.0], Y: [0.0, 1.0]}
    found = recalls(Fixed(vectors), benchmark)
    assert found == {"recall@1": 50.0, "recall@5": 100.0}  # y's nearest is a


def test_near_misses_are_the_nearest_tools_that_are_not_needed() -> None:
    vectors = {A: [0.9], B: [0.8], C: [0.7], D: [0.1], X: [1.0]}
    benchmark = TokenisedBenchmark([A, B, C, D], [X], [frozenset({0, 2})])
    pairs = pairs_of(Fixed(vectors), benchmark, 2, first=10)
    assert pairs == [Pair(X, tool, frozenset({10, 12}), (11, 13)) for tool in (10, 12)]


def test_another_needed_tool_is_not_a_negative() -> None:
    network = Fixed({X: [1.0, 0.0], A: [0.5, 0.0], B: [0.9, 0.0], C: [0.3, 0.0]})
    part = [Pair(X, 0, frozenset({0, 1}), (1, 2))]
    settings = PairTuning(misses=2, temperature=0.1)
    loss = float(pair_loss(network, [A, B, C], settings, random.Random(0), part))
    assert loss == pytest.approx(math.log(1 + math.exp((0.3 - 0.5) / 0.1)), abs=1e-5)


def test_a_file_keeps_a_tokenised_catalogue() -> None:
    whole = TokenisedBenchmark([[7, 8], [9]], [[1], [2, 3, 4]], [frozenset({1}), frozenset({0, 1})])
    assert TokenisedBenchmark.of(whole.arrays()) == whole


def test_a_request_that_no_tool_serves_is_left_out(folder: Path) -> None:
    with (folder / "queries.jsonl").open("a") as file:
        file.write(json.dumps({"query_id": "none", "text": "sing", "tools": []}) + "\n")
    sources, tests = tokenised([folder], [folder], QUICK)
    assert [len(one.requests) for one in (*sources, *tests.values())] == [12, 12]


def test_a_killed_run_resumes_to_the_same_weights(folder: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    twice = replace(QUICK, epochs=2)
    whole = train(folder, tmp_path / "whole", twice)
    saved = steps.save

    def kill(path: Path, key: str, network: Any, loop: Any) -> None:
        saved(path, key, network, loop)
        if loop.done == 3:  # of four, in the middle of the second epoch
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "save", kill)
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
    network = make_network(load_model(far.tower), far)
    [benchmark], _ = tokenised([folder], [], far)
    texts = [text for _, asked in TOOLS.values() for text in asked]
    plain = network.encode(benchmark.requests)
    for name, low in network.low.items():
        for letter in "AB":
            array = weights.arrays[f"{far.tower}/{name}.{letter}"]
            getattr(low, letter).data.copy_(torch.from_numpy(array))
    tuned = network.encode(benchmark.requests)
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
