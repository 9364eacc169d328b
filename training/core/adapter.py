"""Training a LoRA adapter of a causal language model: loss on the answers alone.

Deterministic by seed; a killed run goes on from its last checkpoint to the same weights.
"""

import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ctrag.errors import InputError
from ctrag.models.lm_weights import planner_folder
from ctrag.models.lora import PlannerCard, save_adapter
from stores.files import replacing
from training.core.loop import Loop
from training.core.packed import Encode, PackedTokens

Progress = Callable[[str], None]
CHECKPOINT = "checkpoint.pt"
_MAPS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


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
    save_every: int = 100
    """Steps between checkpoints."""
    four_bit: bool = False
    """Load the base with 4-bit weights (needs a GPU and bitsandbytes)."""


def train_adapter(
    rows_of: Callable[[Encode], Sequence[Sequence[PackedTokens]]],
    base: str | None,
    settings: AdapterSettings,
    out: Path,
    source: Mapping[str, Any],
    figures: Mapping[str, float],
    progress: Progress = lambda _: None,
    resume: bool = True,
) -> PlannerCard:
    """Train an adapter and leave it in `out`, with its card.

    Args:
        rows_of: The rows of each epoch, given the tokenizer.
        base: Name, folder or hub name of the base model; the planner's when None.
        settings: See `AdapterSettings`; a subclass may have more.
        out: The adapter's folder; the checkpoint lies there too while training.
        source: `training.core.origin.origin` of the data sets, for the card.
        figures: For the card, beside steps and loss.
        progress: Called with messages of loss, speed and time left.
        resume: Whether to go on from a checkpoint in `out`.

    Raises:
        ValueError: Nothing fits into a row.
    """
    import torch
    from torch.nn.functional import cross_entropy

    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    model, encode = _load(base, settings)
    epochs = rows_of(encode)
    steps = sum(len(rows) for rows in epochs)
    if not steps:
        raise InputError(f"data: no request fits into {settings.longest} tokens")
    learned = [one for one in model.parameters() if one.requires_grad]
    began, tokens = time.perf_counter(), 0

    def report(text: str) -> None:
        progress(f"{text}, {tokens / (time.perf_counter() - began):.0f} tokens/s")

    def loss_of(row: PackedTokens) -> Any:
        nonlocal tokens
        tokens += len(row.tokens)
        return cross_entropy(*_predicted(model, row))

    groups = [{"params": learned, "lr": settings.learning_rate}]
    loop = Loop("adapter", groups, learned, steps, settings.weight_decay, report, settings.warm_up)
    out.mkdir(parents=True, exist_ok=True)
    key = _key(epochs, base, settings)
    done = _restore(out, key, model, loop.optimiser, loop.schedule) if resume else 0
    every = [row for rows in epochs for row in rows]
    model.train()
    for begin in range(done, steps, settings.save_every):
        loop.run(every[begin : begin + settings.save_every], loss_of)
        _checkpoint(out, key, loop.done, model, loop.optimiser, loop.schedule)
    last = loop.losses[-50:]
    card = PlannerCard(
        **source,
        base=base or "",
        rank=settings.rank,
        alpha=settings.alpha,
        settings=json.loads(json.dumps(asdict(settings))),
        figures={
            "training": {
                **figures,
                "steps": float(steps),
                "last_loss": round(sum(last) / max(len(last), 1), 4),
            }
        },
    )
    save_adapter(out, _weights(model), card)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return card


def _load(base: str | None, settings: AdapterSettings) -> tuple[Any, Encode]:
    import torch
    from peft import LoraConfig, get_peft_model
    from tokenizers import Tokenizer
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder = planner_folder(base) if base else planner_folder()
    more: dict[str, Any] = {}
    if settings.four_bit:
        from transformers import BitsAndBytesConfig

        more["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16
        )
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16, **more)
    options = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=0.0,
        target_modules=_MAPS,
        task_type="CAUSAL_LM",
        layers_to_transform=_last_layers(model, settings.layers),
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    with warnings.catch_warnings():
        # peft asks transformers 5.23 for a property by its old name.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(model, options), encode


def _last_layers(model: Any, layers: int | None) -> list[int] | None:
    count = int(model.config.num_hidden_layers)
    return None if layers is None else list(range(max(count - layers, 0), count))


def _predicted(model: Any, row: PackedTokens) -> tuple[Any, Any]:
    """Logits of the answers' tokens, and which tokens they should have been."""
    import numpy as np
    import torch

    causal = model.get_base_model()
    sees = torch.from_numpy(row.sees())
    mask = torch.zeros(sees.shape, dtype=causal.dtype)
    mask[~sees] = torch.finfo(causal.dtype).min
    hidden = causal.model(
        input_ids=torch.from_numpy(row.tokens)[None].to(causal.device),
        attention_mask=mask[None, None].to(causal.device),
        position_ids=torch.from_numpy(row.positions)[None].to(causal.device),
        use_cache=False,
    ).last_hidden_state[0]
    # Logits of 49,000 tokens are dear: they are computed for answers only.
    at = np.flatnonzero(row.targets >= 0)
    logits = causal.lm_head(hidden[at]).float()
    return logits, torch.from_numpy(row.targets[at]).to(causal.device)


def _weights(model: Any) -> dict[str, Any]:
    from peft import get_peft_model_state_dict

    return dict(get_peft_model_state_dict(model))


def _key(
    epochs: Sequence[Sequence[PackedTokens]], base: str | None, settings: AdapterSettings
) -> str:
    """Tells runs apart: by settings, and by all that is learned from."""
    shared = {**asdict(settings), "threads": None, "save_every": None}
    content = sha256(f"{base}|{shared}".encode())
    for rows in epochs:
        for row in rows:
            content.update(row.tokens.tobytes())
            content.update(row.targets.tobytes())
    return content.hexdigest()


def _checkpoint(out: Path, key: str, step: int, model: Any, optimiser: Any, schedule: Any) -> None:
    import torch

    content = {
        "key": key,
        "step": step,
        "weights": _weights(model),
        "optimiser": optimiser.state_dict(),
        "schedule": schedule.state_dict(),
    }
    with replacing(out / CHECKPOINT) as file:
        torch.save(content, file)


def _restore(out: Path, key: str, model: Any, optimiser: Any, schedule: Any) -> int:
    """Steps that a checkpoint of the same run has done; 0 without one."""
    import torch
    from peft import set_peft_model_state_dict

    path = out / CHECKPOINT
    if not path.exists():
        return 0
    content = torch.load(path, weights_only=True)
    if content["key"] != key:
        return 0
    set_peft_model_state_dict(model, content["weights"])
    optimiser.load_state_dict(content["optimiser"])
    schedule.load_state_dict(content["schedule"])
    return int(content["step"])
