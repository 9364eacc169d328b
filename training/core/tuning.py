"""Low-rank tuning of a causal language model on rows of tokens: loss on the answers alone.

Deterministic by seed; a killed run goes on from its last checkpoint to the same weights. Needs
torch and peft alone: packed training jobs carry this module.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from training.core.loop import Loop
from training.core.packed_rows import PackedTokens
from training.core.steps import run_steps

Progress = Callable[[str], None]
CHECKPOINT = "checkpoint.pt"
_LLAMA = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    """How an adapter is trained."""

    epochs: int = 1
    rank: int = 16
    alpha: int = 32
    learning_rate: float = 5e-4
    warm_up: float = 0.05
    weight_decay: float = 0.01
    layers: int | None = None
    """Layers, counted from the last, that are changed; None for all."""
    longest: int = 900
    """Tokens of a row at most."""
    threads: int = 2
    seed: int = 1
    steps: int | None = None
    """Steps at most: of a mixed epoch only so many rows; None for all."""
    save_every: int = 100
    """Steps between checkpoints at most."""
    save_seconds: float = 60.0
    """Seconds between checkpoints at most."""
    average: float = 0.0
    """Share of the adapter to begin with in what is kept; see `mean_change`."""


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """What tuning itself needs of `AdapterSettings`."""

    rank: int
    alpha: int
    learning_rate: float
    warm_up: float
    weight_decay: float
    layers: int | None
    seed: int
    save_every: int
    save_seconds: float

    @classmethod
    def of(cls, settings: AdapterSettings) -> "TuningSettings":
        """Those of an adapter's settings."""
        return cls(**{name: getattr(settings, name) for name in cls.__dataclass_fields__})

    def key(self, base: str, rows: Sequence[PackedTokens]) -> str:
        """Tells runs apart: by settings, and by all that is learned from."""
        shared = {**asdict(self), "save_every": None, "save_seconds": None}
        content = sha256(f"{base}|{shared}".encode())
        for row in rows:
            content.update(row.tokens.tobytes())
            content.update(row.targets.tobytes())
        return content.hexdigest()


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning leaves."""

    weights: dict[str, Any]
    """peft's names → tensors."""
    steps: int
    loss: float
    """Mean of the last steps that this process made."""


def tune(
    model: Any,
    rows: Sequence[PackedTokens],
    settings: TuningSettings,
    key: str,
    checkpoint: Path,
    progress: Progress = lambda _: None,
    resume: bool = True,
    begun: dict[str, Any] | None = None,
) -> Tuned:
    """Tune low-rank maps in a causal model, one row a step.

    Args:
        model: The base model, where it is to be trained.
        rows: All steps, of every epoch.
        settings: See `TuningSettings`.
        key: Of this run: a checkpoint with another one is not resumed.
        checkpoint: The file that a rerun goes on from; removed at the end by the caller.
        progress: Called with messages of loss, speed and time left.
        resume: Whether to go on from the checkpoint.
        begun: Weights to begin with, peft's names → tensors; fresh ones when None.

    Raises:
        ValueError: `begun` does not change the same maps.
    """
    import torch
    from torch.nn.functional import cross_entropy

    torch.manual_seed(settings.seed)
    model = with_low_rank(model, settings)
    if begun is not None:
        _begin(model, begun)
    learned = [one for one in model.parameters() if one.requires_grad]
    began, tokens = time.perf_counter(), 0

    def report(text: str) -> None:
        progress(f"{text}, {tokens / (time.perf_counter() - began):.0f} tokens/s")

    def loss_of(row: PackedTokens) -> Any:
        nonlocal tokens
        tokens += len(row.tokens)
        return cross_entropy(*_predicted(model, row))

    groups = [{"params": learned, "lr": settings.learning_rate}]
    steps = len(rows)
    loop = Loop("adapter", groups, learned, steps, settings.weight_decay, report, settings.warm_up)
    loss = run_steps(
        model,
        loop,
        steps,
        lambda at: loss_of(rows[at]),
        checkpoint,
        key,
        settings.seed,
        resume,
        settings.save_every,
        settings.save_seconds,
    )
    return Tuned(_weights(model), steps, loss)


def _begin(model: Any, weights: dict[str, Any]) -> None:
    from peft import set_peft_model_state_dict

    if weights.keys() != _weights(model).keys():
        raise ValueError("the adapter to begin with changes other maps; set its layers")
    set_peft_model_state_dict(model, weights)


def mean_change(before: dict[str, Any], after: dict[str, Any], share: float) -> dict[str, Any]:
    """The weighted mean of two adapters' changes, of their rank: trained further on one thing, a
    model forgets less of another (Wortsman et al., CVPR 2022, average whole models).

    Args:
        before: peft's names → tensors.
        after: Of the same maps and ranks.
        share: Of `before`.
    """
    import torch

    found: dict[str, Any] = {}
    for name in (one for one in after if one.endswith("lora_A.weight")):
        other = name.replace("lora_A", "lora_B")
        downs = torch.cat([before[name].double(), after[name].double()])
        ups = torch.cat([share * before[other].double(), (1 - share) * after[other].double()], 1)
        left, first = torch.linalg.qr(ups)
        right, second = torch.linalg.qr(downs.T)
        turn, sizes, back = torch.linalg.svd(first @ second.T)
        rank = len(after[name])
        roots = sizes[:rank].sqrt()
        found[other] = ((left @ turn[:, :rank]) * roots).float()
        found[name] = (roots[:, None] * (back[:rank] @ right.T)).float()
    return found


def with_low_rank(model: Any, settings: TuningSettings) -> Any:
    """The model with low-rank maps beside its linear maps, which alone are learned."""
    from peft import LoraConfig, get_peft_model

    count = int(model.config.num_hidden_layers)
    layers = settings.layers
    options = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=0.0,
        target_modules=_maps(model),
        task_type="CAUSAL_LM",
        layers_to_transform=None if layers is None else list(range(max(count - layers, 0), count)),
    )
    with warnings.catch_warnings():
        # peft asks transformers 5.23 for a property by its old name.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(model, options)


def _maps(model: Any) -> list[str]:
    """The linear maps of a layer: Llama's, or those of an architecture with other names."""
    import torch

    head = model.get_output_embeddings()
    names = {
        name.rpartition(".")[2]
        for name, part in model.named_modules()
        if isinstance(part, torch.nn.Linear) and part is not head
    }
    known = [name for name in _LLAMA if name in names]
    return known or sorted(names)


def _predicted(model: Any, row: PackedTokens) -> tuple[Any, Any]:
    """Logits of the answers' tokens, and which tokens they should have been."""
    import torch

    causal = model.get_base_model()
    place = causal.get_input_embeddings().weight.device
    sees = torch.from_numpy(row.sees())
    mask = torch.zeros(sees.shape, dtype=causal.dtype)
    mask[~sees] = torch.finfo(causal.dtype).min
    hidden = causal.base_model(
        input_ids=torch.from_numpy(row.tokens)[None].to(place),
        attention_mask=mask[None, None].to(place),
        position_ids=torch.from_numpy(row.positions)[None].to(place),
        use_cache=False,
    ).last_hidden_state[0]
    # Logits of 49,000 tokens are dear: they are computed for answers only.
    at = np.flatnonzero(row.targets >= 0)
    logits = causal.get_output_embeddings()(hidden[at]).float()
    return logits, torch.from_numpy(row.targets[at]).to(logits.device)


def _weights(model: Any) -> dict[str, Any]:
    from peft import get_peft_model_state_dict

    return dict(get_peft_model_state_dict(model))
