"""LoRA adapters of language models: low-rank changes of linear maps, in peft's format or packed."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from ctrag.errors import InputError, reading
from ctrag.models import packages
from ctrag.models.arrays import load_arrays, save_arrays
from ctrag.models.cards import Card
from stores.files import write_bytes, write_text

WEIGHTS, CONFIG, CARD = "adapter_model.safetensors", "adapter_config.json", "adapter-card.json"
PACKED = "adapter.npz"
"""The weights in 8 bits, in place of the other two files."""


class PlannerCard(Card):
    """Where an adapter comes from."""

    base: str
    """Name of the base model; empty for the embedded one."""
    rank: int = Field(ge=1)
    alpha: int


PLANS, SLOTS = "lora", "slots"
"""What an adapter was trained for: whole plans, or slots; also the packaged adapters' folders."""
_BASES = {PLANS: packages.PLANNER, SLOTS: packages.INSTRUCT}


def packaged_adapter(base: str, purpose: str = PLANS) -> Path | None:
    """Folder of the adapter that ctrag ships for a base model, or None.

    Args:
        base: Name of the base model.
        purpose: `PLANS` or `SLOTS`.
    """
    folder = Path(str(files("ctrag.models").joinpath("artefact", purpose)))
    return folder if base == _BASES[purpose] and has_adapter(folder) else None


def has_adapter(folder: Path) -> bool:
    """Whether the folder holds an adapter."""
    weights = (folder / WEIGHTS).exists() or (folder / PACKED).exists()
    return weights and (folder / CARD).exists()


def is_merged(folder: Path) -> bool:
    """Whether the folder holds a whole model that an adapter was merged into."""
    return (folder / CARD).exists() and (folder / "config.json").exists()


def load_card(folder: Path) -> PlannerCard:
    """The card of the adapter in `folder`; FileNotFoundError when there is none."""
    with reading(folder / CARD):
        return PlannerCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))


def weights_sha256(folder: Path) -> str:
    """Hash of the weights of the adapter in `folder`."""
    packed = folder / PACKED
    return sha256((packed if packed.exists() else folder / WEIGHTS).read_bytes()).hexdigest()


def pack(folder: Path, out: Path) -> None:
    """Write the adapter in `folder` in 8 bits, half as large, with its card; peft cannot read it.

    Args:
        folder: Holds an adapter as `save_adapter` writes it.
        out: Made when missing.
    """
    from safetensors.numpy import load_file

    out.mkdir(parents=True, exist_ok=True)
    weights = load_file(str(folder / WEIGHTS))
    arrays = {name: one.astype(np.float32) for name, one in weights.items()}
    save_arrays(out / PACKED, arrays, eight_bits=True)
    write_text(out / CARD, (folder / CARD).read_text(encoding="utf-8"))


def _weights(folder: Path) -> dict[str, Any]:
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if (folder / PACKED).exists():
        arrays = load_arrays(folder / PACKED)
        return {name: torch.from_numpy(one) for name, one in arrays.items()}
    try:
        return load_file(str(folder / WEIGHTS))
    except SafetensorError as error:
        raise InputError(f"{folder / WEIGHTS}: damaged ({error})") from None


def check_adapter(weights: Mapping[str, Any], rank: int, place: Path) -> None:
    """Refuse weights that are not the pairs of factors of an adapter, or not numbers: a run that
    diverged leaves NaN, and a damaged file anything.

    Args:
        weights: peft's names → tensors.
        rank: Between the factors.
        place: Named in errors.

    Raises:
        ValueError: They are none.
    """
    names = [name.removesuffix(".lora_A.weight") for name in weights if "lora_A" in name]
    wanted = {f"{name}.lora_{factor}.weight" for name in names for factor in "AB"}
    if not names or wanted != set(weights):
        raise InputError(f"{place}: is no adapter: its weights are not pairs of lora_A and lora_B")
    for name, one in weights.items():
        if one.ndim != 2 or one.shape["lora_B" in name] != rank:
            raise InputError(
                f"{place}: {name} has the shape {tuple(one.shape)}, not of rank {rank}"
            )
        if not one.is_floating_point() or not bool(one.isfinite().all()):
            raise InputError(f"{place}: {name} holds values that are no finite numbers")


def read_adapter(folder: Path) -> tuple[PlannerCard, dict[str, Any]]:
    """Card and weights of the adapter in `folder`, checked.

    Raises:
        FileNotFoundError: There is none.
        ValueError: It is damaged.
    """
    card, weights = load_card(folder), _weights(folder)
    check_adapter(weights, card.rank, folder)
    return card, weights


def save_adapter(folder: Path, weights: Mapping[str, Any], card: PlannerCard) -> None:
    """Write an adapter in float16 so that peft can read it too, and its card.

    Args:
        folder: Made when missing.
        weights: peft's names → tensors.
        card: Written beside them.
    """
    import torch
    from safetensors.torch import save

    folder.mkdir(parents=True, exist_ok=True)
    small = {
        name: one.detach().to("cpu", torch.float16).contiguous() for name, one in weights.items()
    }
    write_bytes(folder / WEIGHTS, save(small))
    (folder / PACKED).unlink(missing_ok=True)
    maps = sorted({name.split(".")[-3] for name in weights if name.endswith("lora_A.weight")})
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": card.rank,
        "lora_alpha": card.alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": maps,
        "base_model_name_or_path": card.base,
    }
    write_text(folder / CONFIG, json.dumps(config, indent=1) + "\n")
    write_text(folder / CARD, card.written())


def merge(model: Any, folder: Path) -> None:
    """Add the adapter in `folder` to the weights of a model of its base.

    Raises:
        ValueError: The adapter is for another architecture.
    """
    import torch

    with torch.no_grad():
        for path, linear, down, up in _changes(model, folder):
            change = up.float() @ down.float()
            if change.shape != linear.weight.shape:
                raise InputError(
                    f"{folder}: {path} is {tuple(linear.weight.shape)} in the model and "
                    f"{tuple(change.shape)} in the adapter; wrong base model?"
                )
            linear.weight += change.to(linear.weight.device, linear.weight.dtype)


def attach(model: Any, folder: Path) -> None:
    """Put the adapter in `folder` beside the weights of a model of its base, which are kept.

    Raises:
        ValueError: The adapter is for another architecture.
    """
    import torch

    def beside(down: Any, up: Any) -> Any:
        def add(linear: Any, inputs: Any, output: Any) -> Any:
            first, second = down.to(output.device), up.to(output.device)
            return output + (inputs[0].to(first.dtype) @ first.T @ second.T).to(output.dtype)

        return add

    for path, linear, down, up in _changes(model, folder):
        wanted = (up.shape[0], down.shape[1])
        if wanted != (linear.out_features, linear.in_features):
            raise InputError(
                f"{folder}: {path} is {(linear.out_features, linear.in_features)} in the model and "
                f"{wanted} in the adapter; wrong base model?"
            )
        linear.register_forward_hook(beside(down.to(torch.bfloat16), up.to(torch.bfloat16)))


def _changes(model: Any, folder: Path) -> Iterator[tuple[str, Any, Any, Any]]:
    """Name of each changed map, the map, and the two factors of its change, the second scaled."""
    card, weights = read_adapter(folder)
    for name, down in weights.items():
        if not name.endswith("lora_A.weight"):
            continue
        path = name.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
        try:
            linear = model.get_submodule(path)
            linear.weight  # noqa: B018  # is it a linear map
        except AttributeError:
            raise InputError(f"{folder}: the model has no {path}; wrong base model?") from None
        yield path, linear, down, weights[name.replace("lora_A", "lora_B")] * card.alpha / card.rank
