"""Training the planner's LoRA adapter: loss only on the plan, several requests sharing one context.

Deterministic by seed. A killed run resumes from its last checkpoint and ends with the same weights,
because packs depend only on seed and epoch.
"""

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ctrag.assistant.planning.planner_prompt import SYSTEM
from ctrag.errors import InputError
from ctrag.models.chat_markup import END
from ctrag.models.lm_weights import planner_folder
from ctrag.models.lora import PlannerCard, save_adapter
from stores.files import replacing
from training.core.loop import Loop
from training.planner.examples import MixSettings, PlannerExample, packs
from training.planner.packs import PackedTokens, chat, row_of

Progress = Callable[[str], None]
CHECKPOINT = "checkpoint.pt"
_MAPS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


@dataclass(frozen=True, slots=True)
class PlannerSettings:
    """How the adapter is trained."""

    epochs: int = 1
    rank: int = 16
    alpha: int = 32
    learning_rate: float = 5e-4
    warm_up: float = 0.05
    weight_decay: float = 0.01
    longest: int = 900
    """Maximum tokens of a row."""
    threads: int = 2
    seed: int = 1
    save_every: int = 100
    """Steps between checkpoints."""
    four_bit: bool = False
    """Load the base with 4-bit weights (needs a GPU and bitsandbytes)."""
    mix: MixSettings = field(default_factory=MixSettings)


def train_planner(
    taught: Sequence[PlannerExample],
    base: str | None,
    settings: PlannerSettings,
    out: Path,
    source: dict[str, Any],
    progress: Progress = lambda _: None,
    resume: bool = True,
) -> PlannerCard:
    """Train an adapter and write it to `out`, with its card.

    Args:
        taught: The training data.
        base: Name, folder or hub name of the base model; the embedded one when None.
        settings: See `PlannerSettings`.
        out: The adapter's folder; the checkpoint is there too while training.
        source: `training.core.origin.origin` of the data sets, for the card.
        progress: Called with messages of loss, speed and time left.
        resume: Whether to resume from a checkpoint in `out`.

    Raises:
        ValueError: There is nothing to learn from, or nothing fits into a row.
    """
    import torch
    from torch.nn.functional import cross_entropy

    if not taught:
        raise InputError("data: no request has a labelled plan, there is nothing to learn")
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    model, encode = _load(base, settings)
    epochs = [_rows(encode, taught, settings, epoch) for epoch in range(settings.epochs)]
    steps = sum(len(rows) for rows in epochs)
    if not steps:
        raise InputError(f"data: no request fits into {settings.longest} tokens")
    learned = [one for one in model.parameters() if one.requires_grad]
    began, tokens = time.perf_counter(), 0

    def tell(text: str) -> None:
        progress(f"{text}, {tokens / (time.perf_counter() - began):.0f} tokens/s")

    def loss_of(row: PackedTokens) -> Any:
        nonlocal tokens
        tokens += len(row.tokens)
        return cross_entropy(*_predicted(model, row))

    groups = [{"params": learned, "lr": settings.learning_rate}]
    loop = Loop("planner", groups, learned, steps, settings.weight_decay, tell, settings.warm_up)
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
                "requests": float(len(taught)),
                "steps": float(steps),
                "last_loss": round(sum(last) / max(len(last), 1), 4),
            }
        },
    )
    save_adapter(out, _weights(model), card)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return card


def _load(base: str | None, settings: PlannerSettings) -> tuple[Any, Callable[[str], list[int]]]:
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
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    with warnings.catch_warnings():
        # peft asks transformers 5.23 for a property by its old name.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(model, options), encode


def _rows(
    encode: Callable[[str], list[int]],
    taught: Sequence[PlannerExample],
    settings: PlannerSettings,
    epoch: int,
) -> list[PackedTokens]:
    mixed = packs(taught, settings.mix, settings.seed * 1_000 + epoch)
    rows = [row_of(encode, *chat(pack, SYSTEM), END, settings.longest) for pack in mixed]
    return [row for row in rows if row is not None]


def _predicted(model: Any, row: PackedTokens) -> tuple[Any, Any]:
    """Logits at the plans' tokens, and the target tokens."""
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
    # Logits over 49,000 tokens are expensive, so they are computed only at plan positions.
    at = np.flatnonzero(row.targets >= 0)
    logits = causal.lm_head(hidden[at]).float()
    return logits, torch.from_numpy(row.targets[at]).to(causal.device)


def _weights(model: Any) -> dict[str, Any]:
    from peft import get_peft_model_state_dict

    return dict(get_peft_model_state_dict(model))


def _key(
    epochs: Sequence[Sequence[PackedTokens]], base: str | None, settings: PlannerSettings
) -> str:
    """Identifies a run by its settings and training data."""
    shared = replace(settings, threads=0, save_every=0)
    content = sha256(f"{base}|{shared!r}".encode())
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
