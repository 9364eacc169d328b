"""Claims about LoRA training, on a Llama of two random layers: loss, resume, seed, peft's format."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.models.lora import PlannerCard, has_adapter, load_card, merge
from eval.core.examples import RankingExample
from training.core.adapter import CHECKPOINT
from training.planner.examples import MixSettings, PlannerExample, lessons
from training.planner.train import PlannerSettings, train_planner

SOURCE = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "people": [],
    "seed": 1,
    "versions": {},
}
QUICK = PlannerSettings(
    epochs=1, rank=4, alpha=8, threads=1, save_every=2, mix=MixSettings(together=3, no_tools=1.0)
)


@pytest.fixture(scope="module")
def taught(examples: list[RankingExample]) -> list[PlannerExample]:
    return lessons(examples, [one.relevance for one in examples])[:24]


def train(
    taught: list[PlannerExample],
    base: Path,
    out: Path,
    settings: PlannerSettings = QUICK,
    messages: list[str] | None = None,
    **more: Any,
) -> PlannerCard:
    messages = [] if messages is None else messages
    return train_planner(taught, str(base), settings, out, SOURCE, messages.append, **more)


def weights(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(str(folder / "adapter_model.safetensors"))


def test_the_same_seed_gives_the_same_adapter(
    taught: list[PlannerExample], llama: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        train(taught, llama, tmp_path / name)
    first, second = weights(tmp_path / "one"), weights(tmp_path / "two")
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert any(np.abs(one).max() > 0 for name, one in first.items() if "lora_B" in name)


def test_a_killed_run_resumes_to_the_same_weights(
    taught: list[PlannerExample], llama: Path, tmp_path: Path
) -> None:
    class Killed(Exception):
        pass

    train(taught, llama, tmp_path / "whole")

    import training.core.steps as module

    saved = module.save
    done: list[int] = []

    def kill(out: Path, key: str, model: Any, loop: Any) -> None:
        saved(out, key, model, loop)
        done.append(loop.done)
        if len(done) == 2:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "save", kill)
        with pytest.raises(Killed):
            train(taught, llama, tmp_path / "cut")
    assert (tmp_path / "cut" / CHECKPOINT).exists()
    assert not has_adapter(tmp_path / "cut")
    train(taught, llama, tmp_path / "cut")
    assert not (tmp_path / "cut" / CHECKPOINT).exists()
    whole, cut = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    for name, one in whole.items():
        assert np.array_equal(one, cut[name]), name


def test_training_lowers_the_loss(
    taught: list[PlannerExample], llama: Path, tmp_path: Path
) -> None:
    from dataclasses import replace

    long = replace(QUICK, epochs=12, learning_rate=1e-2, save_every=1000)
    messages: list[str] = []
    card = train(taught, llama, tmp_path, long, messages)
    first = float(messages[0].split("loss ")[1].split(",")[0])
    assert card.figures["training"]["last_loss"] < first - 1.0
    assert "tokens/s" in messages[0]
    assert "min left" in messages[0]


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")
def test_peft_and_our_merging_agree(
    taught: list[PlannerExample], llama: Path, tmp_path: Path
) -> None:
    import torch
    from peft import PeftModel
    from transformers import LlamaForCausalLM

    train(taught, llama, tmp_path)
    assert load_card(tmp_path).rank == 4
    ids = torch.tensor([[5, 6, 7, 8]])
    ours = LlamaForCausalLM.from_pretrained(llama, dtype=torch.float32).eval()
    plain = ours(ids).logits.detach().numpy().copy()
    merge(ours, tmp_path)
    theirs = PeftModel.from_pretrained(
        LlamaForCausalLM.from_pretrained(llama, dtype=torch.float32), str(tmp_path)
    ).eval()
    with torch.inference_mode():
        mine, other = ours(ids).logits.numpy(), theirs(ids).logits.numpy()
    assert mine == pytest.approx(other, abs=1e-5)
    assert np.abs(mine - plain).max() > 1e-4


def test_an_adapter_of_another_base_is_refused(
    taught: list[PlannerExample], llama: Path, tmp_path: Path
) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    train(taught, llama, tmp_path)
    small = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=64,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
        )
    )
    with pytest.raises(ValueError, match="wrong base model"):
        merge(small, tmp_path)


def test_nothing_to_learn_is_an_error(llama: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        train([], llama, tmp_path)
