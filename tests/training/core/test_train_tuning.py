"""Claims about low-rank tuning of models with other maps than Llama's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.core.packed_rows import PackedTokens
from training.core.tuning import AdapterSettings, TuningSettings, tune

ROW = PackedTokens(
    tokens=np.array([1, 2, 3, 4, 5, 6]),
    positions=np.array([0, 1, 2, 3, 2, 3]),
    branches=np.array([0, 0, 1, 1, 2, 2]),
    targets=np.array([-100, -100, 7, 8, 9, 8]),
)
SHAPE = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}


def neox() -> Any:
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    return GPTNeoXForCausalLM(GPTNeoXConfig(**SHAPE, intermediate_size=64, initializer_range=0.2))


def llama() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**SHAPE, intermediate_size=64, initializer_range=0.2))


@pytest.mark.parametrize(
    ("make", "maps"),
    [
        (neox, {"query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"}),
        (llama, {f"{one}_proj" for one in ("q", "k", "v", "o", "gate", "up", "down")}),
    ],
)
def test_every_linear_map_of_the_layers_that_are_named_is_tuned_and_no_other(
    make: Any, maps: set[str], tmp_path: Path
) -> None:
    import torch

    torch.manual_seed(0)
    model = make()
    kept = {name: one.clone() for name, one in model.named_parameters()}
    settings = TuningSettings.of(AdapterSettings(rank=2, alpha=4, layers=1, learning_rate=1e-2))
    losses: list[str] = []
    tuned = tune(model, [ROW] * 20, settings, "key", tmp_path / "c.pt", losses.append)
    names = [name.split(".") for name in tuned.weights]
    assert {name[-3] for name in names} == maps
    assert {name[name.index("layers") + 1] for name in names} == {"1"}
    assert all(one.abs().max() > 0 for one in tuned.weights.values())
    assert tuned.loss < 4.0
    for name, one in model.named_parameters():
        if "lora" not in name:
            assert torch.equal(one, kept[name.replace(".base_layer", "")]), name
