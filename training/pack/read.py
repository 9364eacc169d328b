"""The artefact that a packed training job has left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, FiniteFloat

from ctrag.errors import InputError, reading
from ctrag.models.cards import Card
from ctrag.models.lora import PlannerCard, check_adapter, save_adapter
from ctrag.models.tool_encoder import ToolEncoderCard, ToolEncoderWeights
from training.pack.job import JOB, RESULT, RESULTS, TOOL_ENCODER
from training.pack.slices import Slice, digest, joined


class _Kind(BaseModel):
    format: Literal[1]
    job: Literal["planner", "slots", "tool-encoder"] = "planner"


class _Tuning(BaseModel):
    rank: int = Field(ge=1, le=10_000)
    alpha: int


class _PairTuning(BaseModel):
    rank: int = Field(ge=1, le=10_000)
    layers: int
    scale: FiniteFloat


class _Job(BaseModel):
    """What of a job's file is needed here."""

    base: str
    settings: dict[str, Any]
    source: dict[str, Any]
    figures: dict[str, FiniteFloat]


class _AdapterJob(_Job):
    tuning: _Tuning


class _ToolEncoderJob(_Job):
    tuning: _PairTuning


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
    figures: dict[str, dict[str, FiniteFloat]] = {}
    device: str
    seconds: FiniteFloat
    weights: list[_Slice]


_File = TypeVar("_File", bound=BaseModel)


def unpack(folder: Path, out: Path, results: str = RESULTS) -> Card:
    """Write the artefact of a job that has run, with its card.

    Args:
        folder: The job's, with its results; of the base model's weights nothing is needed.
        out: The artefact's folder.
        results: Which results: `results-limit-20` for those of `--limit 20`.

    Returns:
        The card.

    Raises:
        ValueError: It has not run to its end, the results are of another job, or a file is not
            what was written.
    """
    kind = _read(
        _Kind, folder / JOB, "no training job; give a folder that `ctrag train pack` wrote"
    )
    if kind.job == TOOL_ENCODER:
        return _tool_encoder(folder, out, folder / results)
    return _adapter(folder, out, folder / results)


def _adapter(folder: Path, out: Path, found: Path) -> PlannerCard:
    job = _read(_AdapterJob, folder / JOB)
    result, weights = _brought(folder, found)
    check_adapter(weights, job.tuning.rank, found)
    training = {
        **job.figures,
        "steps": float(result.steps),
        "last_loss": result.loss,
        "seconds": result.seconds,
    }
    with reading(folder / JOB):
        card = PlannerCard.model_validate(
            _card(job, result, {"training": training})
            | {"base": job.base, "rank": job.tuning.rank, "alpha": job.tuning.alpha}
        )
    save_adapter(out, weights, card)
    return card


def _tool_encoder(folder: Path, out: Path, found: Path) -> ToolEncoderCard:
    job = _read(_ToolEncoderJob, folder / JOB)
    result, weights = _brought(folder, found)
    _check_pairs(weights, job.tuning.rank, found)
    with reading(folder / JOB):
        card = ToolEncoderCard.model_validate(
            _card(job, result, result.figures)
            | {"tower": job.base, "layers": job.tuning.layers, "scale": job.tuning.scale}
        )
    arrays = {f"{job.base}/{name}": one.float().numpy() for name, one in weights.items()}
    ToolEncoderWeights(arrays, card).save(out)
    return card


def _card(job: _Job, result: _Result, figures: dict[str, dict[str, float]]) -> dict[str, Any]:
    ran = {"device": result.device, "limit": result.limit}
    return job.source | {"settings": job.settings | ran, "figures": figures}


def _check_pairs(weights: Mapping[str, Any], rank: int, place: Path) -> None:
    """Refuse what is not the pairs of an encoder's changes, or no numbers."""
    maps = {name.removesuffix(".A") for name in weights if name.endswith(".A")}
    if not maps or set(weights) != {f"{name}.{part}" for name in maps for part in "AB"}:
        raise InputError(f"{place}: is no tool encoder: its weights are not pairs of A and B")
    for name, one in weights.items():
        if one.ndim != 2 or one.shape[name.endswith(".B")] != rank:
            raise InputError(
                f"{place}: {name} has the shape {tuple(one.shape)}, not of rank {rank}"
            )
        if not one.is_floating_point() or not bool(one.isfinite().all()):
            raise InputError(f"{place}: {name} holds values that are no finite numbers")


def _brought(folder: Path, found: Path) -> tuple[_Result, dict[str, Any]]:
    """The result of a job, and its weights."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    result = _read(
        _Result,
        found / RESULT,
        f"no result; run `python {folder / 'run.py'}`, which goes on where it was",
    )
    if result.job != digest(folder / JOB):
        raise InputError(f"{found / RESULT}: is the result of another job than {folder / JOB}")
    slices = [Slice(file=one.file, bytes=one.bytes, sha256=one.sha256) for one in result.weights]
    try:
        return result, load(b"".join(joined(slices, found)))
    except ValueError as error:
        raise InputError(str(error)) from None
    except SafetensorError as error:
        raise InputError(f"{found}: its weights cannot be read ({error})") from None


def _read(kind: type[_File], path: Path, otherwise: str = "is missing") -> _File:
    if not path.is_file():
        raise InputError(f"{path}: {otherwise}")
    with reading(path):
        return kind.model_validate_json(path.read_bytes())
