"""The artefact that a packed training job has left."""

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, FiniteFloat

from ctrag.errors import InputError, reading
from ctrag.models.lora import PlannerCard, check_adapter, save_adapter
from training.pack.job import JOB, RESULT, RESULTS
from training.pack.slices import Slice, digest, joined


class _Tuning(BaseModel):
    rank: int = Field(ge=1, le=10_000)
    alpha: int


class _Job(BaseModel):
    """What of a job's file is needed here."""

    format: Literal[1]
    base: str
    tuning: _Tuning
    settings: dict[str, Any]
    source: dict[str, Any]
    figures: dict[str, FiniteFloat]


class _Slice(BaseModel):
    file: str = Field(pattern=r"^\w[\w.-]*$")
    """In the folder itself: the file comes from another machine, and names nothing elsewhere."""
    bytes: int
    sha256: str


class _Result(BaseModel):
    job: str
    limit: int | None
    steps: int
    loss: FiniteFloat
    device: str
    seconds: FiniteFloat
    weights: list[_Slice]


_File = TypeVar("_File", _Job, _Result)


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

    job = _read(_Job, folder / JOB, "no training job; give a folder that `ctrag train pack` wrote")
    found = folder / results
    result = _read(
        _Result,
        found / RESULT,
        f"no result; run `python {folder / 'run.py'}`, which goes on where it was",
    )
    if result.job != digest(folder / JOB):
        raise InputError(f"{found / RESULT}: is the result of another job than {folder / JOB}")
    slices = [Slice(file=one.file, bytes=one.bytes, sha256=one.sha256) for one in result.weights]
    try:
        weights = load(b"".join(joined(slices, found)))
    except ValueError as error:
        raise InputError(str(error)) from None
    except SafetensorError as error:
        raise InputError(f"{found}: its weights cannot be read ({error})") from None
    check_adapter(weights, job.tuning.rank, found)
    with reading(folder / JOB):
        card = PlannerCard.model_validate(
            job.source
            | {
                "base": job.base,
                "rank": job.tuning.rank,
                "alpha": job.tuning.alpha,
                "settings": job.settings | {"device": result.device, "limit": result.limit},
                "figures": {
                    "training": {
                        **job.figures,
                        "steps": float(result.steps),
                        "last_loss": result.loss,
                        "seconds": result.seconds,
                    }
                },
            }
        )
    save_adapter(out, weights, card)
    return card


def _read(kind: type[_File], path: Path, otherwise: str) -> _File:
    if not path.is_file():
        raise InputError(f"{path}: {otherwise}")
    with reading(path):
        return kind.model_validate_json(path.read_bytes())
