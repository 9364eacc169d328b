"""A training job as a folder: see `training.pack.job`, which runs it."""

import json
import math
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.errors import InputError
from ctrag.models.onnx_encoder import load_model
from ctrag.models.tool_encoder import ToolEncoderWeights
from stores.files import write_text
from training.core.adapter import AdapterSettings, RowsOf, base_of, flat
from training.core.origin import origin
from training.core.packed_rows import PackedTokens, arrays_of
from training.core.tuning import TuningSettings
from training.pack.base_model import BASE, CONFIG, WEIGHTS, in_eight_bits
from training.pack.job import FORMAT, JOB, TOOL_ENCODER
from training.pack.slices import blocks_of, cut, digest
from training.tool_search.encoder import ToolEncoderSettings, changes_of, tokenised
from training.tool_search.tuning import BEFORE, PairTuning

JOBS = ("planner", "slots", TOOL_ENCODER)
"""What can be packed."""
LARGEST = 50_000_000
"""Bytes of a file at most."""
CODE = "code"
_CARRIED = (
    "core/checkpoints.py",
    "core/loop.py",
    "core/low_rank.py",
    "core/packed_rows.py",
    "core/precision.py",
    "core/ragged.py",
    "core/steps.py",
    "core/tuning.py",
    "pack/adapter_job.py",
    "pack/base_model.py",
    "pack/given.py",
    "pack/job.py",
    "pack/slices.py",
    "pack/tool_encoder_job.py",
    "tool_search/tokenised.py",
    "tool_search/tuning.py",
)
"""Modules that need torch, transformers, peft and numpy alone."""
_ROWS = 400
"""Rows in a file: some 3 MB."""
_RUN = '''"""Runs this training job; needs torch, transformers, peft and numpy. See --help."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "code"))

from training.pack.job import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(HERE))
'''


def pack_adapter(
    job: str,
    rows_of: RowsOf,
    base: str | None,
    settings: AdapterSettings,
    out: Path,
    source: Mapping[str, Any],
    figures: Mapping[str, float],
    bits: int | None = None,
) -> dict[str, Any]:
    """Write the training of an adapter as a folder that runs elsewhere.

    Args:
        job: A key of `JOBS`.
        rows_of, base, settings, source, figures: As for `training.core.adapter.train_adapter`.
        out: The folder; must be empty or missing.
        bits: 8 for the base model's weights in 8 bits; None for bfloat16.

    Returns:
        The content of its job file.

    Raises:
        ValueError: The folder is not empty, nothing fits into a row, or see `base_of`.
    """
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging as quiet

    check_empty(out)
    folder, tokenizer = base_of(base)
    rows = flat(rows_of(tokenizer), settings.longest)
    out.mkdir(parents=True, exist_ok=True)
    content = {
        "job": job,
        "base": base or "",
        "bits": bits,
        "tuning": asdict(TuningSettings.of(settings)),
        "settings": asdict(settings) | {"bits": bits},
        "threads": settings.threads,
        "source": dict(source),
        "figures": dict(figures),
        "requests": int(figures.get("requests", 0)),
        "steps": len(rows),
        "tokens": sum(len(row.tokens) for row in rows),
        "rows": _rows(rows, out),
    }
    quiet.disable_progress_bar()
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    return finished(out, content, model, bits)


def pack_tool_encoder(
    data: Sequence[Path],
    held_out: Sequence[Path],
    settings: ToolEncoderSettings,
    out: Path,
    before: ToolEncoderWeights | None = None,
) -> dict[str, Any]:
    """Write the tuning of tool search's encoder as a folder that runs elsewhere.

    Args:
        data, held_out, settings, before: As for `train_tool_encoder`.
        out: The folder; must be empty or missing.

    Returns:
        The content of its job file.

    Raises:
        ValueError: The folder is not empty, or see `tokenised`.
    """
    check_empty(out)
    sources, tests = tokenised(data, held_out, settings)
    start = None if before is None else changes_of(before, settings)
    out.mkdir(parents=True, exist_ok=True)
    parts = {f"source{at}": one for at, one in enumerate(sources)}
    parts |= {f"test{at}": one for at, one in enumerate(tests.values())}
    count = sum(len(needed) for one in sources for needed in one.needed)
    files = []
    for name, one in parts.items():
        files.append(f"{name}.npz")
        np.savez_compressed(out / files[-1], allow_pickle=False, **one.arrays())
    if start is not None:
        np.savez_compressed(out / BEFORE, allow_pickle=False, **start)
    content = {
        "job": TOOL_ENCODER,
        "base": settings.tower,
        "bits": None,
        "tuning": asdict(PairTuning.of(settings)),
        "settings": asdict(settings),
        "threads": settings.threads,
        "source": origin(data, settings.seed)
        | {"before": None if before is None else before.card.command},
        "figures": {},
        "requests": sum(len(one.requests) for one in sources),
        "steps": settings.epochs * math.ceil(count / settings.batch),
        "tokens": sum(one.tokens for one in parts.values()),
        "rows": files,
        "tests": list(tests),
        "start": None if before is None else BEFORE,
    }
    return finished(out, content, load_model(settings.tower), None)


def check_empty(out: Path) -> None:
    """Refuse a folder that holds something."""
    if out.exists() and any(out.iterdir()):
        raise InputError(f"--out: {out} is not empty; give a new folder")


def finished(out: Path, content: Mapping[str, Any], model: Any, bits: int | None) -> dict[str, Any]:
    """Add model, code and job file to a folder that has the rows.

    Args:
        out: The folder.
        content: Of the job file, but for what is added here.
        model: The base model, of transformers.
        bits: 8 for weights in 8 bits; None for the model's own.

    Returns:
        The whole content of the job file.
    """
    (out / BASE).mkdir(parents=True)
    weights = _weights(model, out / BASE, bits)
    _code(out)
    carried = [
        path.relative_to(out).as_posix()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.startswith("weights-")
    ]
    whole = {
        "format": FORMAT,
        **content,
        "weights": weights,
        "files": {file: digest(out / file) for file in carried},
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
    write_text(out / JOB, text)
    return dict(json.loads(text))


def _rows(rows: Sequence[PackedTokens], out: Path) -> list[str]:
    files = []
    for begin in range(0, len(rows), _ROWS):
        file = f"rows-{begin // _ROWS:03d}.npz"
        arrays: dict[str, Any] = arrays_of(rows[begin : begin + _ROWS])
        np.savez_compressed(out / file, **arrays)
        files.append(file)
    return files


def _weights(model: Any, out: Path, bits: int | None) -> list[Any]:
    """The base model: its `config.json`, and its weights in slices."""
    from safetensors.torch import load_file, save_file

    with tempfile.TemporaryDirectory(dir=out.parent) as made:
        whole = Path(made)
        model.save_pretrained(whole, max_shard_size="1000GB")
        shutil.copy(whole / CONFIG, out)
        if bits is not None:
            save_file(in_eight_bits(load_file(whole / WEIGHTS)), whole / WEIGHTS)
        return list(cut(blocks_of(whole / WEIGHTS), out, "weights", LARGEST))


def _code(out: Path) -> None:
    own = resources.files("training")
    for name in _CARRIED:
        target = out / CODE / "training" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, own.joinpath(name).read_text(encoding="utf-8"))
    for package in {Path(name).parent for name in (".", *_CARRIED)}:
        # Ours ask for more than jobs need.
        write_text(out / CODE / "training" / package / "__init__.py", "")
    write_text(out / "run.py", _RUN)
