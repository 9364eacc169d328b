"""The embedded planner's weights: from a GGUF package to safetensors in the user's cache.

Reading the packaged GGUF file takes several seconds; the converted copy loads in about one.
"""

import io
import os
import shutil
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from ctrag.models import packages
from ctrag.models.lora import merge
from ctrag.settings import cache_folder

READY = "converted"
"""File that names the packaged file that a folder was converted from."""


def planner_folder(name_or_path: str = packages.PLANNER) -> Path:
    """A folder that transformers can load the planner's model and tokenizer from.

    Raises:
        ModelMissing: The weights are not on this machine.
    """
    folder = packages.find(name_or_path)
    if (folder / "config.json").exists():
        return folder
    packed = sorted(folder.glob("*.gguf"))
    if not packed:
        raise packages.ModelMissing(f"{folder}: holds neither config.json nor a .gguf file")
    target = cache_folder() / "models" / packed[0].stem
    if not (target / READY).exists():
        _convert(packed[0], target)
    return target


def load(folder: Path, threads: int, adapter: Path | None = None) -> tuple[Any, Any]:
    """(model, tokenizer); see `load_model`."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import AutoTokenizer

    return load_model(folder, threads, adapter), AutoTokenizer.from_pretrained(folder)


def load_model(folder: Path, threads: int, adapter: Path | None = None) -> Any:
    """The model, float32, in evaluation mode, on the CPU; an adapter is merged in."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    if adapter is not None:
        merge(model, adapter)
    return model.eval()


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
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        fresh.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        (temporary / READY).write_text(packed.name)
        if target.exists() and not (target / READY).exists():
            shutil.rmtree(target)  # left half made by a version that did not rename
        if not target.exists():
            temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
