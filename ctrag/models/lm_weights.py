"""Weights of the language models: from packaged GGUF files to safetensors in the user's cache.

Reading a packaged GGUF file takes several seconds; the converted copy loads in about one.
"""

import io
import json
import os
import shutil
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any

from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.lora import CARD, attach, merge, read_adapter
from ctrag.models.made_folder import made
from ctrag.models.placement import Placement
from ctrag.models.weights import assembled, join_slices
from ctrag.settings import cache_folder
from stores.files import write_text

CPU = Placement()
_WHOLE = ("model.safetensors", "pytorch_model.bin")
_POINTER = b"version https://git-lfs"
TOKENIZER_FILES = (
    "tokenizer.json tokenizer.model tokenizer_config.json special_tokens_map.json "
    "added_tokens.json vocab.json merges.txt chat_template.jinja"
).split()
READY = "converted"
"""File that names the packaged file that a folder was converted from."""


def planner_folder(name_or_path: str = packages.PLANNER) -> Path:
    """A folder that transformers can load the planner's model and tokenizer from.

    Raises:
        ModelMissing: The weights are not on this machine.
    """
    if name_or_path == packages.INSTRUCT:
        return packages.hub_folder(f"Qwen/{name_or_path}") or _instruct_folder()
    folder = packages.find(name_or_path)
    if (folder / "config.json").exists():
        return folder
    packed = sorted(folder.glob("*.gguf"))
    if not packed:
        raise packages.ModelMissing(f"{folder}: holds neither config.json nor a .gguf file")
    target = cache_folder() / "models" / packed[0].stem
    if target.exists() and not (target / READY).exists():
        shutil.rmtree(target)  # left half made by a version that did not rename
    return made(target, partial(_convert, packed[0]))


def is_packaged(name_or_path: str) -> bool:
    """Whether that is the packaged planner's model, by name or as it was converted."""
    return name_or_path == packages.PLANNER or (Path(name_or_path) / READY).exists()


def _instruct_folder() -> Path:
    """The slices' model as safetensors in half precision, converted on the first call."""
    return assembled(f"{packages.INSTRUCT}-bf16", _convert_slices)


def _convert_slices(target: Path) -> None:
    """Write a Qwen2 GGUF file as transformers' files.

    transformers keeps the packed weights when it reads GGUF itself, and is slow with them.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import numpy as np
    import torch
    from gguf import GGUFReader, dequantize
    from safetensors.torch import save_file
    from transformers import AutoTokenizer

    packed = target / "packed.gguf"
    join_slices(packed)
    file = GGUFReader(packed)
    weights = {
        _name_of(tensor.name): torch.from_numpy(
            np.ascontiguousarray(dequantize(np.array(tensor.data), tensor.tensor_type))
        ).to(torch.bfloat16)
        for tensor in file.tensors
    }
    if weights.get("lm_head.weight") is not None and torch.equal(
        weights["lm_head.weight"], weights["model.embed_tokens.weight"]
    ):
        del weights["lm_head.weight"]
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    own = {
        key.partition(".")[2]: field.contents()
        for key, field in file.fields.items()
        if key.startswith("qwen2.")
    }
    config = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_act": "silu",
        "hidden_size": own["embedding_length"],
        "intermediate_size": own["feed_forward_length"],
        "num_hidden_layers": own["block_count"],
        "num_attention_heads": own["attention.head_count"],
        "num_key_value_heads": own["attention.head_count_kv"],
        "rms_norm_eps": own["attention.layer_norm_rms_epsilon"],
        "rope_theta": own["rope.freq_base"],
        "vocab_size": len(weights["model.embed_tokens.weight"]),
        "tie_word_embeddings": "lm_head.weight" not in weights,
        "max_position_embeddings": 4096,
        "eos_token_id": file.fields["tokenizer.ggml.eos_token_id"].contents(),
        "dtype": "bfloat16",
    }
    (target / "config.json").write_text(json.dumps(config, indent=1, default=int) + "\n")
    with redirect_stderr(io.StringIO()):
        tokenizer = AutoTokenizer.from_pretrained(target, gguf_file=packed.name)
    tokenizer.save_pretrained(target)
    packed.unlink()


_GGUF_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def _name_of(packed: str) -> str:
    """transformers' name of a GGUF tensor: `blk.3.attn_q.bias`."""
    block, _, rest = packed.removeprefix("blk.").rpartition(".")[0].partition(".")
    part = packed.rpartition(".")[2]
    if packed.startswith("blk."):
        return f"model.layers.{block}.{_GGUF_NAMES[rest]}.{part}"
    return f"{_GGUF_NAMES[block]}.{part}"


def load(folder: Path, threads: int, adapter: Path | None = None) -> tuple[Any, Any]:
    """(model, tokenizer); see `load_model`."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import AutoTokenizer

    return load_model(folder, threads, adapter), AutoTokenizer.from_pretrained(folder)


def load_model(
    folder: Path, threads: int, adapter: Path | None = None, placement: Placement = CPU
) -> Any:
    """The model in evaluation mode: float32 on a processor, bfloat16 on a GPU.

    An adapter is merged in; beside weights of few bits it is kept apart.

    Raises:
        ValueError: See `Placement.check`; or the adapter is for another architecture.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    placement.check()
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(threads)
    on_cpu = placement.place == "cpu"
    model = placement.loaded(folder, torch.float32 if on_cpu else torch.bfloat16)
    if adapter is not None:
        (attach if placement.bits else merge)(model, adapter)
    return model.eval()


def check_weights(folder: Path) -> None:
    """Raise what would go wrong while loading a model's weights, which takes long to find out.

    Raises:
        ModelMissing: There are none, a part of them is missing, or a file only points to them.
    """
    names = [name for name in _WHOLE if (folder / name).exists()]
    if not names:
        for index in sorted(folder.glob("*.index.json")):
            shards = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
            names = sorted(set(shards))
            break
        else:
            raise packages.ModelMissing(
                f"{folder}: holds no weights ({', '.join(_WHOLE)}, or their shards with an index)"
            )
    for name in names:
        path = folder / name
        if not path.exists():
            raise packages.ModelMissing(f"{folder}: its index names {name}, which is not there")
        with path.open("rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                raise packages.ModelMissing(
                    f"{path}: is a pointer of Git LFS, not the weights; run `git lfs pull` there"
                )


def write_merged(base: str | None, adapter: Path, out: Path) -> Path:
    """Write a base model with an adapter merged in, in its own precision; returns the folder.

    Args:
        base: Name, folder or hub name; the planner's when None.
        adapter: Folder of the adapter, whose card is kept beside the weights.
        out: Made when missing.

    Raises:
        ValueError: The adapter is damaged or for another architecture, or `out` is one of both.
        ModelMissing: The base is not on this machine.
    """
    import torch

    card, _ = read_adapter(adapter)  # before the base, which takes long
    folder = planner_folder(base) if base else planner_folder()
    if out.resolve() in (adapter.resolve(), folder.resolve()):
        raise InputError(f"--out: {out} is the adapter or its base; give another folder")
    model = load_model(folder, 1, adapter)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    dtype = str(config.get("dtype") or config.get("torch_dtype") or "bfloat16")
    out.mkdir(parents=True, exist_ok=True)
    model.to(getattr(torch, dtype)).save_pretrained(out)
    for name in TOKENIZER_FILES:
        if (folder / name).exists():
            shutil.copy(folder / name, out)
    write_text(out / CARD, card.model_dump_json(indent=1) + "\n")
    return out


def _convert(packed: Path, target: Path) -> None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    # The GGUF reader draws a progress bar on stderr that no option turns off.
    with redirect_stderr(io.StringIO()):
        tokenizer = AutoTokenizer.from_pretrained(packed.parent, gguf_file=packed.name)
        loaded = AutoModelForCausalLM.from_pretrained(
            packed.parent, gguf_file=packed.name, dtype=torch.float32
        )
    # A model read from GGUF refuses to be saved; a fresh one with the same weights does not.
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    fresh = LlamaForCausalLM(config).float()
    weights = {name: tensor.float() for name, tensor in loaded.state_dict().items()}
    missing = set(fresh.load_state_dict(weights, strict=False).missing_keys) - {"lm_head.weight"}
    if missing:
        raise packages.ModelMissing(f"{packed}: no weights for {', '.join(sorted(missing)[:3])}")
    fresh.save_pretrained(target)
    tokenizer.save_pretrained(target)
    (target / READY).write_text(packed.name)
