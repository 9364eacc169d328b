"""The artefact that a packed training job has left."""

import json
from pathlib import Path
from typing import Any

from ctrag.errors import InputError, reading
from ctrag.models.lora import PlannerCard, save_adapter
from training.pack.job import FORMAT, JOB, RESULT, RESULTS
from training.pack.slices import digest, joined


def unpack(folder: Path, out: Path, results: str = RESULTS) -> PlannerCard:
    """Write the adapter of a job that has run, with its card.

    Args:
        folder: The job's, with its results; of the base model's weights nothing is needed.
        out: The adapter's folder.
        results: Which results: `results-limit-20` for those of `--limit 20`.

    Raises:
        ValueError: It has not run to its end, the results are of another job, or a file is not
            what was written.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    job = _read(folder / JOB, "no training job; give a folder that `ctrag train pack` wrote")
    if job.get("format") != FORMAT:
        raise InputError(f"{folder / JOB}: format {job.get('format')}, but {FORMAT} is read here")
    found = folder / results
    result = _read(
        found / RESULT, f"no result; run `python {folder / 'run.py'}`, which goes on where it was"
    )
    if result["job"] != digest(folder / JOB):
        raise InputError(f"{found / RESULT}: is the result of another job than {folder / JOB}")
    try:
        weights = load(b"".join(joined(result["weights"], found)))
    except ValueError as error:
        raise InputError(str(error)) from None
    except SafetensorError as error:
        raise InputError(f"{found}: its weights cannot be read ({error})") from None
    card = PlannerCard(
        **job["source"],
        base=job["base"],
        rank=job["tuning"]["rank"],
        alpha=job["tuning"]["alpha"],
        settings=job["settings"] | {"device": result["device"], "limit": result["limit"]},
        figures={
            "training": {
                **job["figures"],
                "steps": float(result["steps"]),
                "last_loss": result["loss"],
                "seconds": result["seconds"],
            }
        },
    )
    save_adapter(out, weights, card)
    return card


def _read(path: Path, otherwise: str) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(f"{path}: {otherwise}")
    with reading(path):
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
