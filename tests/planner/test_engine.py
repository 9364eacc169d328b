"""Claims about the engines: one interface, the same logits, and nothing stands in unasked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.planner.adapter import PlannerCard, save_adapter
from ctrag.planner.embedded import EmbeddedPlanner
from ctrag.planner.engine import Engine, OnnxEngine, TransformersEngine, open_engine, planner_graph
from ctrag.planner.llama_graph import write_graph

TOKENS = [5, 17, 3, 80, 41, 2, 66, 9, 33]
LAYERS = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of two layers with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=96,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        initializer_range=0.2,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():  # the graph's embeddings are half precision
        model.model.embed_tokens.weight.copy_(model.model.embed_tokens.weight.half().float())
    target = tmp_path_factory.mktemp("llama")
    model.save_pretrained(target)
    return target


@pytest.fixture(scope="module")
def reference(folder: Path) -> TransformersEngine:
    return TransformersEngine(folder, threads=1)


@pytest.fixture(scope="module")
def exact(folder: Path, reference: TransformersEngine) -> OnnxEngine:
    """The graph with float32 weights."""
    return graph_of(folder, reference, None)


def graph_of(folder: Path, reference: TransformersEngine, bits: int | None) -> OnnxEngine:
    config = json.loads((folder / "config.json").read_text())
    weights = {name: one.detach().numpy() for name, one in reference._model.state_dict().items()}
    write_graph(weights, config, folder / f"{bits}.onnx", bits)
    return OnnxEngine(folder / f"{bits}.onnx", config, threads=1)


@pytest.fixture(params=["reference", "exact"])
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.getfixturevalue(request.param)
    return found


def test_the_graph_has_the_references_logits(
    exact: OnnxEngine, reference: TransformersEngine
) -> None:
    ours, _ = exact.forward(TOKENS, keep=len(TOKENS))
    theirs, _ = reference.forward(TOKENS, keep=len(TOKENS))
    assert ours.shape == theirs.shape == (len(TOKENS), 96)
    assert np.abs(theirs).max() > 1.0
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_eight_bits_keep_the_logits_and_four_keep_fewer(
    folder: Path, exact: OnnxEngine, reference: TransformersEngine
) -> None:
    wanted, _ = exact.forward(TOKENS, keep=len(TOKENS))
    errors = {}
    for bits in (8, 4):
        found, _ = graph_of(folder, reference, bits).forward(TOKENS, keep=len(TOKENS))
        errors[bits] = float(np.abs(found - wanted).mean() / np.abs(wanted).mean())
    assert errors[8] < 0.05
    assert errors[8] < errors[4]


def test_reading_in_pieces_is_reading_at_once(engine: Engine) -> None:
    whole, _ = engine.forward(TOKENS, keep=2)
    _, cache = engine.forward(TOKENS[:4])
    _, cache = engine.forward(TOKENS[4:8], cache)
    last, _ = engine.forward(TOKENS[8:], cache)
    assert last.shape == (1, 96)
    np.testing.assert_allclose(last[0], whole[-1], atol=1e-4)


def test_a_cache_can_be_continued_in_two_ways(engine: Engine) -> None:
    _, cache = engine.forward(TOKENS[:6])
    first, _ = engine.forward([7, 8], cache)
    second, _ = engine.forward([9, 10], cache)
    again, _ = engine.forward([7, 8], cache)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, second, atol=1e-3)
    plain, _ = engine.forward([*TOKENS[:6], 9, 10])
    np.testing.assert_allclose(second, plain, atol=1e-4)


def test_the_graph_holds_the_adapter(
    folder: Path, tmp_path: Path, configure: Callable[..., None]
) -> None:
    import torch

    configure(weights=tmp_path / "weights")
    adapter = saved_adapter(tmp_path / "adapter", torch.full((64, 4), 0.3))
    tuned, _ = open_engine("onnxruntime", folder, 1, adapter).forward(TOKENS)
    plain, _ = open_engine("onnxruntime", folder, 1, None).forward(TOKENS)
    wanted, _ = open_engine("transformers", folder, 1, adapter).forward(TOKENS)
    assert np.abs(tuned - wanted).mean() < 0.3 * np.abs(plain - wanted).mean()


def saved_adapter(target: Path, up: Any) -> Path:
    import torch

    torch.manual_seed(1)
    prefix = "base_model.model.model.layers.0.self_attn.q_proj"
    card = PlannerCard(
        command="none", base="", rank=4, alpha=8, settings={}, data="", data_sha256="", seed=1,
        figures={}, versions={},
    )  # fmt: skip
    weights = {f"{prefix}.lora_A.weight": torch.randn(4, 64), f"{prefix}.lora_B.weight": up}
    save_adapter(target, weights, card)
    return target


def test_a_graph_is_made_once_for_each_model_and_adapter(
    folder: Path, tmp_path: Path, configure: Callable[..., None]
) -> None:
    import torch

    configure(weights=tmp_path / "weights")
    config = json.loads((folder / "config.json").read_text())
    first = planner_graph(folder, config, None)
    made = first.stat().st_mtime_ns
    assert planner_graph(folder, config, None).stat().st_mtime_ns == made
    one = planner_graph(folder, config, saved_adapter(tmp_path / "a", torch.ones(64, 4)))
    two = planner_graph(folder, config, saved_adapter(tmp_path / "b", torch.zeros(64, 4)))
    assert len({first, one, two}) == 3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model_type": "qwen3"}, "model_type: the onnxruntime engine needs 'llama'"),
        ({"attention_bias": True}, "attention_bias: .* needs False, this model has True"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "rope_type: .* this model has 'yarn'"),
    ],
)
def test_another_architecture_is_refused_with_the_engine_that_runs_it(
    folder: Path, changed: dict[str, Any], message: str
) -> None:
    config = {**json.loads((folder / "config.json").read_text()), **changed}
    with pytest.raises(ValueError, match=f"{message}.*CTRAG_PLANNER_ENGINE=transformers"):
        planner_graph(folder, config, None)


def test_the_packaged_model_runs_on_the_fast_engine_unless_it_is_told_otherwise() -> None:
    assert EmbeddedPlanner().engine_name == "onnxruntime"
    assert EmbeddedPlanner(engine="transformers").engine_name == "transformers"
    assert EmbeddedPlanner("openlm-research/open_llama_7b_v2").engine_name == "transformers"
