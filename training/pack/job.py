"""Runs a packed training job: `python DIR/run.py --device cuda`.

Killed in the middle, it goes on from its last checkpoint, which is a minute old at most.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.core.tuning import CHECKPOINT
from training.pack.given import Given, Trained
from training.pack.slices import check, cut, digest, within

JOB, RESULT, RESULTS = "job.json", "result.json", "results"
FORMAT = 1
TOOL_ENCODER = "tool-encoder"
"""The job that tunes no language model."""
LARGEST_RESULT = 15_000_000
"""Bytes of a file of results at most."""


def main(folder: Path, arguments: Sequence[str] | None = None) -> int:
    """Run the job in a folder; returns the exit code."""
    parser = argparse.ArgumentParser(description="Run this training job; a rerun goes on.")
    parser.add_argument("--device", default="auto", help="auto, cuda, cuda:1, mps or cpu")
    parser.add_argument("--threads", type=int, default=None, help="of the processor")
    parser.add_argument("--limit", type=int, default=None, help="only so many steps, as a try")
    parser.add_argument("--fresh", action="store_true", help="begin anew, without the checkpoint")
    options = parser.parse_args(arguments)
    if options.limit is not None and options.limit < 1:
        parser.error(f"--limit: must be 1 or more, not {options.limit}")
    try:
        run(folder, options.device, options.threads, options.limit, not options.fresh)
    except (ValueError, OSError) as error:
        print(f"run.py: {error}", file=sys.stderr)  # no other way to say it there
        return 1
    return 0


def run(
    folder: Path, device: str, threads: int | None, limit: int | None, resume: bool = True
) -> Path:
    """Train, and leave the results; returns their folder.

    Raises:
        ValueError: A file of the job is missing or changed, or the device is not here.
    """
    import torch
    from safetensors.torch import save

    began = time.perf_counter()
    job: dict[str, Any] = json.loads((folder / JOB).read_text(encoding="utf-8"))
    for file, wanted in job["files"].items():
        check(within(folder, file), wanted)
    out = folder / (RESULTS if limit is None else f"{RESULTS}-limit-{limit}")
    if resume and _is_done(out / RESULT, digest(folder / JOB)):
        say(f"{out}: is done already; --fresh trains anew")
        return out
    place = placed(device)
    if threads or place == "cpu":
        torch.set_num_threads(threads or int(job["threads"]))
    out.mkdir(exist_ok=True)
    trained = _train(Given(folder, job, place, limit, out / CHECKPOINT, resume, say))
    weights = {
        name: one.detach().to("cpu", torch.float16).contiguous()
        for name, one in trained.weights.items()
    }
    result = {
        "job": digest(folder / JOB),
        "limit": limit,
        "steps": trained.steps,
        "loss": trained.loss,
        "figures": trained.figures,
        "device": torch.cuda.get_device_name(place) if place.startswith("cuda") else place,
        "torch": torch.__version__,
        "seconds": round(time.perf_counter() - began, 1),
        "weights": cut([save(weights)], out, "adapter", LARGEST_RESULT),
    }
    fresh = out / f"{RESULT}.new"
    fresh.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    fresh.replace(out / RESULT)
    (out / CHECKPOINT).unlink(missing_ok=True)
    say(f"done in {result['seconds']} s; now: ctrag train unpack {folder} --out ARTEFACT")
    return out


def _train(given: Given) -> Trained:
    if given.content["job"] == TOOL_ENCODER:
        from training.pack import tool_encoder_job

        return tool_encoder_job.train(given)
    from training.pack import adapter_job

    return adapter_job.train(given)


def _is_done(result: Path, job: str) -> bool:
    return result.exists() and json.loads(result.read_text(encoding="utf-8"))["job"] == job


def placed(device: str) -> str:
    """The device by torch's name; ValueError when it is not here."""
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "auto":
        return "cuda" if gpus else "cpu"
    if device.startswith("cuda") and gpus <= int(device.partition(":")[2] or 0):
        raise ValueError(f"--device {device}: torch {torch.__version__} sees {gpus} GPUs")
    return device


def say(text: str) -> None:
    """A line of progress."""
    print(text, flush=True)
