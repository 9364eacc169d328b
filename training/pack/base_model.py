"""A base model on its way: its weights as they are or in 8 bits, and the model made of them.

Needs torch, transformers and numpy alone: packed training jobs carry this module.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from training.core.precision import number_type
from training.pack.given import Given
from training.pack.slices import joined

BASE, WEIGHTS, CONFIG = "base", "model.safetensors", "config.json"
SCALE = "|scale"
"""Ends the names of the scales beside weights in 8 bits."""
_BLOCK = 32
"""Weights that share a scale, along the inputs."""


def causal_model(given: Given) -> Any:
    """The language model, in bfloat16 where that is faster."""
    from transformers import AutoModelForCausalLM

    return _model(given, AutoModelForCausalLM, number_type(given.place))


def encoder_model(given: Given) -> Any:
    """The encoder, in float32, as `ctrag.models.onnx_encoder.load_model` opens it."""
    import torch
    from transformers import AutoModel

    own = {"attn_implementation": "eager", "add_pooling_layer": False}
    return _model(given, AutoModel, torch.float32, **own).eval()


def _model(given: Given, kind: Any, dtype: Any, **options: Any) -> Any:
    import transformers
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder = _joined(given.folder, given.content)
    if given.content["bits"] is None:
        return kind.from_pretrained(folder, dtype=dtype, **options)
    weights = _in_full(folder / WEIGHTS, dtype)
    config = transformers.AutoConfig.from_pretrained(folder)
    named = getattr(transformers, config.architectures[0])  # its auto class wants a folder
    made = named.from_pretrained(None, config=config, state_dict=weights, dtype=dtype, **options)
    made.name_or_path = str(folder)  # peft looks there for the size of the vocabulary
    return made


def _joined(folder: Path, job: Mapping[str, Any]) -> Path:
    """The base model's folder, its weights joined from their slices the first time."""
    whole = folder / BASE / WEIGHTS
    if not whole.exists() or whole.stat().st_size != sum(one["bytes"] for one in job["weights"]):
        fresh = whole.with_suffix(".new")
        with fresh.open("wb") as file:
            for block in joined(job["weights"], folder / BASE):
                file.write(block)
        fresh.replace(whole)
    return folder / BASE


def in_eight_bits(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Matrices as whole numbers of 8 bits with a scale for each 32 of them; the rest as it is."""
    import torch

    found: dict[str, Any] = {}
    for name, one in weights.items():
        if one.ndim != 2 or one.shape[1] % _BLOCK:
            found[name] = one
            continue
        blocks = one.float().reshape(len(one), -1, _BLOCK)
        scales = (blocks.abs().amax(dim=2) / 127).to(torch.float16)
        steps = scales.float().clamp_min(torch.finfo(torch.float16).tiny)[..., None]
        whole = (blocks / steps).round().clamp(-127, 127)
        found[name] = whole.to(torch.int8).reshape(one.shape)
        found[f"{name}{SCALE}"] = scales
    return found


def _in_full(path: Path, dtype: Any) -> dict[str, Any]:
    """What `in_eight_bits` had, nearly."""
    from safetensors import safe_open

    found = {}
    with safe_open(path, framework="pt") as file:
        names = set(file.keys())
        for name in sorted(names):
            if name.endswith(SCALE):
                continue
            one = file.get_tensor(name)
            if f"{name}{SCALE}" in names:
                steps = file.get_tensor(f"{name}{SCALE}").float()[..., None]
                one = (one.float().reshape(len(one), -1, _BLOCK) * steps).reshape(one.shape)
            found[name] = one.to(dtype)
    return found
