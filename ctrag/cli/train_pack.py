"""`ctrag train pack` and `unpack`: training where a GPU is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress
from ctrag.cli.train_search import tool_encoder_before
from ctrag.cli.training import (
    Data,
    More,
    Out,
    Seed,
    Strangers,
    Threads,
    Tuned,
    finish,
    held_out_of_each,
    retrieved,
    sources_of,
)
from ctrag.cli.training import held_out as held_out_people
from ctrag.errors import InputError
from ctrag.models import packages

if TYPE_CHECKING:
    from training.core.adapter import AdapterSettings
    from training.planner.train import PlannerSettings


_OPTIONS = {
    "planner": {"--encoder", "--base", "--bits", "--layers", "--rank", "--every", "--limit"},
    "slots": {
        *("--oblique", "--leave-out", "--strangers"),
        *("--base", "--bits", "--layers", "--rank", "--limit"),
    },
    "tool-encoder": {"--held-out", "--share", "--start"},
}
"""Job → the options that not every job has."""


def pack(
    data: Data,
    out: Out,
    job: Annotated[
        str, typer.Option(help="What is trained: planner, slots or tool-encoder.")
    ] = "planner",
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    oblique: Annotated[
        list[Path], typer.Option(help="For slots: data sets of requests that hint.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    leave_out: Annotated[
        list[Path], typer.Option(help="For slots: as for `ctrag train slots`.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    held_out: Annotated[
        list[Path], typer.Option(help="For tool-encoder: as for `ctrag train tool-encoder`.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    share: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="For tool-encoder: the same.")
    ] = None,
    start: Annotated[str | None, typer.Option(help="For tool-encoder: the same.")] = None,
    strangers: Strangers = None,
    tuned: Tuned = None,
    base: Annotated[
        str | None,
        typer.Option(help="Base model: name, folder or hub name. Default: the job's own."),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(help="8: the base model in 8 bits, half as large. Default: bfloat16."),
    ] = None,
    layers: Annotated[
        int | None, typer.Option(min=1, help="Change only so many of the last layers.")
    ] = None,
    rank: Annotated[
        int | None, typer.Option(min=1, help="Of the low-rank maps. Default: 16.")
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="How often everything is seen. Default: 2; tool-encoder 1."),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--every/--hard",
            help="For the planner: learn from every request, not mostly from calls with "
            "something to write or to choose.",
        ),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Learn from the first so many requests only.")
    ] = None,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Write a training job as one folder that runs elsewhere.

    It holds tokenised examples, the base model in slices, code and settings, in files of 50 MB at
    most, and needs only torch, transformers, peft and numpy: `python OUT/run.py --device cuda`.
    Killed, it goes on; `ctrag train unpack OUT` makes the artefact.

    Example: ctrag train pack --job planner --data synth/data/reference/train --more
    synth/data/scenes --encoder runs/encoder --out runs/job
    """
    from training.core.adapter import AdapterSettings
    from training.pack.write import check_empty
    from training.planner.train import PlannerSettings

    if job not in _OPTIONS:
        raise InputError(f"--job: must be {' or '.join(_OPTIONS)}, not {job!r}")
    given = {
        "--oblique": oblique, "--leave-out": leave_out, "--strangers": strangers,
        "--encoder": tuned, "--base": base, "--bits": bits, "--layers": layers, "--rank": rank,
        "--every": every, "--limit": limit, "--held-out": held_out, "--share": share,
        "--start": start,
    }  # fmt: skip
    for option, value in given.items():
        if value not in (None, False, []) and option not in _OPTIONS[job]:
            raise InputError(f"{option}: is not for --job {job}")
    if bits not in (None, 8):
        raise InputError(f"--bits: must be 8, not {bits}; without it weights are bfloat16")
    check_empty(out)
    folders, often = [data, *more], 2 if epochs is None else epochs
    rank = 16 if rank is None else rank
    if job == "tool-encoder":
        kept = 1.0 if share is None else share
        content = _tool_encoder(folders, held_out, epochs or 1, kept, start, seed, threads, out)
    elif job == "planner":
        planning = PlannerSettings(
            epochs=often, rank=rank, alpha=2 * rank, layers=layers, seed=seed, threads=threads
        )
        content = _planner(data, more, tuned, every, limit, base, bits, planning, out)
    else:
        filling = AdapterSettings(
            epochs=often, rank=rank, alpha=2 * rank, layers=layers, seed=seed, threads=threads
        )
        content = _slots(folders, oblique, leave_out, strangers, limit, base, bits, filling, out)
    if json:
        print_json({name: content[name] for name in ("job", "base", "steps", "tokens")})
        return
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    line(
        f"{out}: {content['steps']} steps of {content['requests']} requests, {content['tokens']} "
        f"tokens, {size / 1e6:.0f} MB; run `python {out / 'run.py'} --device cuda`"
    )


def _planner(
    data: Path,
    more: list[Path],
    tuned: Path | None,
    every: bool,
    limit: int | None,
    base: str | None,
    bits: int | None,
    settings: "PlannerSettings",
    out: Path,
) -> dict[str, Any]:
    from training.core.adapter import base_of
    from training.core.origin import origin
    from training.pack.write import pack_adapter
    from training.planner.examples import EASY, lessons, practised
    from training.planner.train import planner_rows

    base_of(base)
    found = retrieved(data, more, tuned, settings.seed, settings.threads)
    taught = practised(lessons(*found.learned()), 1.0 if every else EASY, settings.seed)[:limit]
    source = origin([data, *more], settings.seed, held_out_people(data, settings.seed))
    progress("writing the base model in slices")
    rows = planner_rows(taught, settings)
    figures = {"requests": float(len(taught))}
    return pack_adapter("planner", rows, base, settings, out, source, figures, bits)


def _slots(
    folders: list[Path],
    oblique: list[Path],
    leave_out: list[Path],
    strangers: Path | None,
    limit: int | None,
    base: str | None,
    bits: int | None,
    settings: "AdapterSettings",
    out: Path,
) -> dict[str, Any]:
    from training.core.adapter import base_of
    from training.core.origin import origin
    from training.pack.write import pack_adapter
    from training.slots.examples import learned_examples, strangers_examples
    from training.slots.train import slot_rows

    base = base or packages.INSTRUCT
    base_of(base)
    every = [*folders, *oblique]
    out_of_data = held_out_of_each(leave_out or every, settings.seed)
    examples = learned_examples(folders, out_of_data, progress)
    examples += learned_examples(oblique, out_of_data, progress, oblique=True)
    examples += [] if strangers is None else strangers_examples(strangers)
    examples = examples[:limit]
    source = origin(every, settings.seed, out_of_data) | {"sources": sources_of(strangers)}
    progress("writing the base model in slices")
    rows, figures = slot_rows(examples, settings), {"requests": float(len(examples))}
    return pack_adapter("slots", rows, base, settings, out, source, figures, bits)


def _tool_encoder(
    folders: list[Path],
    held_out: list[Path],
    epochs: int,
    share: float,
    start: str | None,
    seed: int,
    threads: int,
    out: Path,
) -> dict[str, Any]:
    from training.pack.write import pack_tool_encoder
    from training.tool_search.encoder import ToolEncoderSettings

    start, before = tool_encoder_before(folders, start)
    settings = ToolEncoderSettings(
        epochs=epochs, share=share, start=start, seed=seed, threads=threads
    )
    return pack_tool_encoder(folders, held_out, settings, out, before)


def unpack(
    folder: Annotated[Path, typer.Argument(help="A folder of `ctrag train pack` that has run.")],
    out: Out,
    results: Annotated[
        str, typer.Option(help="Which results: of a run with --limit N, results-limit-N.")
    ] = "results",
    json: Json = False,
) -> None:
    """Make the artefact of a training job that has run, and check that all of it has come back.

    Example: ctrag train unpack runs/job --out runs/planner
    """
    from training.pack.read import unpack as read

    finish(out, read(folder, out, results), json)
