"""A training job as a folder: see `training.pack.job`, which runs it."""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.errors import InputError
from ctrag.models.lora import PLANS, SLOTS
from stores.files import write_text
from training.core.adapter import AdapterSettings, RowsOf, base_of, flat
from training.core.packed_rows import PackedTokens, arrays_of
from training.core.tuning import TuningSettings
from training.pack.job import BASE, FORMAT, JOB, WEIGHTS
from training.pack.slices import blocks_of, cut, digest

JOBS = {"planner": PLANS, "slots": SLOTS}
"""What can be packed → what the adapter is for."""
LARGEST = 50_000_000
"""Bytes of a file at most."""
CODE = "code"
_CARRIED = (
    "core/loop.py",
    "core/packed_rows.py",
    "core/tuning.py",
    "pack/job.py",
    "pack/slices.py",
)
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
) -> dict[str, Any]:
    """Write the training of an adapter as a folder that runs elsewhere.

    Args:
        job: A key of `JOBS`.
        rows_of, base, settings, source, figures: As for `training.core.adapter.train_adapter`.
        out: The folder; must be empty or missing.

    Returns:
        The content of its job file.

    Raises:
        ValueError: The folder is not empty, nothing fits into a row, or see `base_of`.
    """
    if out.exists() and any(out.iterdir()):
        raise InputError(f"--out: {out} is not empty; give a new folder")
    folder, tokenizer = base_of(base)
    rows = flat(rows_of(tokenizer), settings.longest)
    (out / BASE).mkdir(parents=True)
    files = _rows(rows, out)
    weights = _weights(folder, out / BASE)
    _code(out)
    carried = [
        path.relative_to(out).as_posix()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.startswith("weights-")
    ]
    tuning = TuningSettings.of(settings)
    content = {
        "format": FORMAT,
        "job": job,
        "base": base or "",
        "tuning": asdict(tuning),
        "settings": json.loads(json.dumps(asdict(settings))),
        "threads": settings.threads,
        "source": dict(source),
        "figures": dict(figures),
        "steps": len(rows),
        "tokens": sum(len(row.tokens) for row in rows),
        "rows": files,
        "weights": weights,
        "files": {file: digest(out / file) for file in carried},
    }
    write_text(out / JOB, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return content


def _rows(rows: Sequence[PackedTokens], out: Path) -> list[str]:
    files = []
    for begin in range(0, len(rows), _ROWS):
        file = f"rows-{begin // _ROWS:03d}.npz"
        arrays: dict[str, Any] = arrays_of(rows[begin : begin + _ROWS])
        np.savez_compressed(out / file, **arrays)
        files.append(file)
    return files


def _weights(folder: Path, out: Path) -> list[Any]:
    """The base model in bfloat16: its `config.json`, and its weights in slices."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    with tempfile.TemporaryDirectory(dir=out.parent) as whole:
        model.save_pretrained(whole, max_shard_size="1000GB")
        shutil.copy(Path(whole) / "config.json", out)
        return list(cut(blocks_of(Path(whole) / WEIGHTS), out, "weights", LARGEST))


def _code(out: Path) -> None:
    own = resources.files("training")
    for name in _CARRIED:
        target = out / CODE / "training" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, own.joinpath(name).read_text(encoding="utf-8"))
    for package in (Path("training"), Path("training/core"), Path("training/pack")):
        write_text(out / CODE / package / "__init__.py", "")  # ours ask for more than jobs need
    write_text(out / "run.py", _RUN)
