"""Claims about the engines: one interface, the same logits, and nothing stands in unasked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.models import lm_engine as engines
from ctrag.models import onnx_llama
from ctrag.models.language_model import LanguageModel
from ctrag.models.lm_engine import (
    Engine,
    OnnxEngine,
    TransformersEngine,
    open_engine,
    planner_graph,
)
from ctrag.models.lora import PlannerCard, save_adapter
from ctrag.models.onnx_llama import blocks_of, write_graph

TOKENS = [5, 17, 3, 80, 41, 2, 66, 9, 33]


@pytest.fixture(scope="module")
def reference(tiny_llama: Path) -> TransformersEngine:
    return TransformersEngine(tiny_llama, threads=1)


@pytest.fixture(scope="module")
def exact(tiny_llama: Path, reference: TransformersEngine) -> OnnxEngine:
    """The graph with float32 weights, as it is served."""
    return graph_of(tiny_llama, reference, None)


def graph_of(
    folder: Path, reference: TransformersEngine, bits: int | None, widened: bool = False
) -> OnnxEngine:
    config = json.loads((folder / "config.json").read_text())
    file = folder / f"{bits}-{widened}.onnx"
    write_graph(weights_of(reference), config, file, bits, widened)
    return OnnxEngine(file, config, threads=1)


def weights_of(reference: TransformersEngine) -> dict[str, Any]:
    return {name: one.detach().numpy() for name, one in reference._model.state_dict().items()}


@pytest.fixture(params=["reference", "exact"])
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.getfixturevalue(request.param)
    return found


def test_the_graph_has_the_references_logits(
    exact: OnnxEngine, reference: TransformersEngine
) -> None:
    ours, _ = exact.forward(TOKENS, keep=len(TOKENS))
    theirs, _ = reference.forward(TOKENS, keep=len(TOKENS))
    assert ours.shape == theirs.shape == (len(TOKENS), 257)
    assert np.abs(theirs).max() > 1.0
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_eight_bits_keep_the_logits(
    tiny_llama: Path, exact: OnnxEngine, reference: TransformersEngine
) -> None:
    wanted, _ = exact.forward(TOKENS, keep=len(TOKENS))
    found, _ = graph_of(tiny_llama, reference, 8).forward(TOKENS, keep=len(TOKENS))
    assert 0 < float(np.abs(found - wanted).mean() / np.abs(wanted).mean()) < 0.05


def test_widened_weights_read_many_tokens_as_the_blocks_say_and_few_as_bytes_do(
    tiny_llama: Path, reference: TransformersEngine
) -> None:
    config = json.loads((tiny_llama / "config.json").read_text())
    rounded = {
        name: as_in_blocks(one) if name.endswith("_proj.weight") else one
        for name, one in weights_of(reference).items()
    }
    write_graph(rounded, config, tiny_llama / "rounded.onnx", None)
    many = (TOKENS * 5)[:42]
    wanted, cache = OnnxEngine(tiny_llama / "rounded.onnx", config, threads=1).forward(many)
    narrow = graph_of(tiny_llama, reference, 8)
    widened = graph_of(tiny_llama, reference, 8, widened=True)
    found, own = widened.forward(many)
    np.testing.assert_allclose(np.asarray(own[0].numpy()), cache[0].numpy(), atol=1e-4)
    # The head stays in bytes: one token is read there.
    assert np.abs(found - wanted).mean() / np.abs(wanted).mean() < 0.02
    few, _ = narrow.forward(TOKENS)
    np.testing.assert_allclose(widened.forward(TOKENS)[0], few, atol=1e-5)
    assert np.abs(narrow.forward(many)[1][0].numpy() - cache[0].numpy()).max() > 1e-4


def as_in_blocks(weight: Any) -> Any:
    packed, scales = blocks_of(weight)
    return ((packed.astype(np.float32) - 128) * scales[..., None]).reshape(weight.shape)


def test_a_cut_cache_is_that_of_the_beginning(engine: Engine) -> None:
    _, whole = engine.forward(TOKENS)
    wanted, _ = engine.forward([7, 8], engine.forward(TOKENS[:5])[1])
    found, _ = engine.forward([7, 8], engine.cut(whole, 5))
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    again, _ = engine.forward([7, 8], whole)
    assert np.abs(again - found).max() > 1e-3  # the whole one is as it was


def test_blocks_hold_each_weight_to_half_a_step() -> None:
    weight = np.linspace(-2, 1, 4 * 64, dtype=np.float32).reshape(4, 64)
    weight[3, 32:] = 0
    packed, scales = blocks_of(weight)
    assert packed.shape == (4, 2, 32)
    assert scales.shape == (4, 2)
    again = (packed.astype(np.float32) - 128) * scales[..., None]
    assert (np.abs(again - weight.reshape(4, 2, 32)) <= scales[..., None] / 2 + 1e-6).all()


@pytest.mark.parametrize("bits", [None, 8])
def test_a_qwen2_graph_adds_the_biases_of_queries_keys_and_values(
    tmp_path: Path, bits: int | None
) -> None:
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=96,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        initializer_range=0.2,
        tie_word_embeddings=True,
    )
    model = Qwen2ForCausalLM(config)
    for name, one in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(one)
    model.save_pretrained(tmp_path)
    theirs, _ = TransformersEngine(tmp_path, 1).forward(range(9), keep=9)
    written = json.loads((tmp_path / "config.json").read_text())
    weights = {name: one.detach().numpy() for name, one in model.state_dict().items()}
    write_graph(weights, written, tmp_path / "graph.onnx", bits)
    ours, _ = OnnxEngine(tmp_path / "graph.onnx", written, threads=1).forward(range(9), keep=9)
    error = float(np.abs(ours - theirs).mean() / np.abs(theirs).mean())
    assert error < (1e-3 if bits is None else 0.05)


def test_reading_in_pieces_is_reading_at_once(engine: Engine) -> None:
    whole, _ = engine.forward(TOKENS, keep=2)
    _, cache = engine.forward(TOKENS[:4])
    _, cache = engine.forward(TOKENS[4:8], cache)
    last, _ = engine.forward(TOKENS[8:], cache)
    assert last.shape == (1, 257)
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
    tiny_llama: Path,
    tmp_path: Path,
    configure: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    configure(weights=tmp_path / "weights")
    monkeypatch.setattr(engines, "BITS", None)
    adapter = saved_adapter(tmp_path / "adapter", torch.full((64, 4), 0.05))
    tuned, _ = open_engine("onnxruntime", tiny_llama, 1, adapter).forward(TOKENS)
    plain, _ = open_engine("onnxruntime", tiny_llama, 1, None).forward(TOKENS)
    wanted, _ = open_engine("transformers", tiny_llama, 1, adapter).forward(TOKENS)
    np.testing.assert_allclose(tuned, wanted, atol=1e-4)
    assert not np.allclose(plain, wanted, atol=1e-2)


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
    tiny_llama: Path, tmp_path: Path, configure: Callable[..., None]
) -> None:
    import torch

    configure(weights=tmp_path / "weights")
    config = json.loads((tiny_llama / "config.json").read_text())
    first = planner_graph(tiny_llama, config, None)
    made = first.stat().st_mtime_ns
    assert planner_graph(tiny_llama, config, None).stat().st_mtime_ns == made
    one = planner_graph(tiny_llama, config, saved_adapter(tmp_path / "a", torch.ones(64, 4)))
    two = planner_graph(tiny_llama, config, saved_adapter(tmp_path / "b", torch.zeros(64, 4)))
    assert len({first, one, two}) == 3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model_type": "qwen3"}, "model_type: the onnxruntime engine needs 'llama'"),
        ({"head_dim": 100}, "head_dim: .* needs a multiple of 16, this model has 100"),
        ({"attention_bias": True}, "attention_bias: .* needs False, this model has True"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "rope_type: .* this model has 'yarn'"),
    ],
)
def test_another_architecture_is_refused_with_the_engine_that_runs_it(
    tiny_llama: Path, changed: dict[str, Any], message: str
) -> None:
    config = {**json.loads((tiny_llama / "config.json").read_text()), **changed}
    with pytest.raises(ValueError, match=f"{message}.*CTRAG_PLANNER_ENGINE=transformers"):
        planner_graph(tiny_llama, config, None)


def test_a_model_that_is_too_large_for_a_graph_is_refused(
    tiny_llama: Path, reference: TransformersEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_llama, "LARGEST", 1000)
    with pytest.raises(ValueError, match="takes 1,000 bytes at most, this model has"):
        graph_of(tiny_llama, reference, None)


def test_the_packaged_model_runs_on_the_fast_engine_unless_it_is_told_otherwise() -> None:
    assert LanguageModel().engine_name == "onnxruntime"
    assert LanguageModel(engine="transformers").engine_name == "transformers"
    assert LanguageModel("openlm-research/open_llama_7b_v2").engine_name == "transformers"


REQUESTS = (
    "push it half an hour",
    "read me the rent note",
    "tell them I'm late",
    "what did Tom want",
    "move lunch to one",
    "cancel the dentist",
    "is there music for this",
    "remind me at six",
    "who called",
    "delete that",
    "again please",
    "naïve 日本語 😀",
)


def test_both_engines_plan_alike_under_a_grammar(exact: OnnxEngine, tiny_llama: Path) -> None:
    model = LanguageModel(str(tiny_llama), threads=1)
    fast = LanguageModel(str(tiny_llama), threads=1, engine="onnxruntime")
    fast.engine = exact
    lark = """
    start: ("read" | "move" | "none") "(" (NAME "=" VALUE)? ")"
    NAME: "title" | "until" | "to"
    VALUE: /"[a-z ]{1,12}"/
    """
    plans = set()
    for request in REQUESTS:
        prompt = model.encode(request)
        slow_one, slow_sure, asked = model.bound(prompt, lark)
        fast_one, fast_sure, _ = fast.bound(prompt, lark)
        assert asked
        assert fast_one == slow_one
        assert fast_sure == pytest.approx(slow_sure, rel=1e-3)
        plans.add(tuple(slow_one))
    assert len(plans) > 1


def test_going_on_from_what_was_read_changes_no_answer_and_reads_less(
    tiny_llama: Path, engine: Engine
) -> None:
    lark = 'start: "note " /[a-z ]{3,9}/ ("; " /[a-z ]{3,9}/)?'
    plain = LanguageModel(str(tiny_llama), threads=1)
    on = LanguageModel(str(tiny_llama), threads=1)
    plain.engine = engine
    on.engine = counting = Counting(engine)
    for asked in REQUESTS:
        on.forget()
        counting.read = 0
        for prompt in (f"request: {asked} to: read", f"request: {asked} to: write it down"):
            for begin in ("", "note a", "note ab"):
                tokens = plain.encode(prompt)
                wanted, sure, _ = plain.bound(tokens, lark, begin, until=None)
                found, as_sure, ran = on.bound(tokens, lark, begin, 3, None, resume=True)
                assert ran
                assert found == wanted
                assert as_sure == pytest.approx(sure, rel=1e-3)
        # Two prompts, of which the second has its last words alone, and six answers.
        assert counting.read < 2 * len(plain.encode(prompt)) + 6 * 24


class Counting:
    """An engine that counts the tokens which it reads."""

    def __init__(self, engine: Engine) -> None:
        self.name, self._engine, self.read = engine.name, engine, 0

    def forward(self, tokens: Any, cache: Any = None, keep: int = 1) -> Any:
        self.read += len(tokens)
        return self._engine.forward(tokens, cache, keep)

    def cut(self, cache: Any, length: int) -> Any:
        return self._engine.cut(cache, length)
