"""`ctrag train pack` and `unpack`: training where a GPU is."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress
from ctrag.cli.training import (
    Data,
    More,
    Out,
    Seed,
    Strangers,
    Threads,
    Tuned,
    finish,
    held_out,
    held_out_of_each,
    retrieved,
    sources_of,
)
from ctrag.errors import InputError
from ctrag.models import packages


def pack(
    data: Data,
    out: Out,
    job: Annotated[str, typer.Option(help="What is trained: planner or slots.")] = "planner",
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    oblique: Annotated[
        list[Path], typer.Option(help="For slots: data sets of requests that hint.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    leave_out: Annotated[
        list[Path], typer.Option(help="For slots: as for `ctrag train slots`.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    strangers: Strangers = None,
    tuned: Tuned = None,
    base: Annotated[
        str | None,
        typer.Option(help="Base model: name, folder or hub name. Default: the job's own."),
    ] = None,
    layers: Annotated[
        int | None, typer.Option(min=1, help="Change only so many of the last layers.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often everything is seen.")] = 2,
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
    from training.core.adapter import AdapterSettings, base_of
    from training.core.origin import origin
    from training.pack.write import JOBS, pack_adapter
    from training.planner.examples import EASY, lessons, practised
    from training.planner.train import PlannerSettings, planner_rows
    from training.slots.examples import learned_examples, strangers_examples
    from training.slots.train import slot_rows

    if job not in JOBS:
        raise InputError(f"--job: must be {' or '.join(JOBS)}, not {job!r}")
    unfit = {"--oblique": oblique, "--leave-out": leave_out, "--strangers": strangers}
    for option, given in (unfit if job == "planner" else {"--encoder": tuned}).items():
        if given:
            raise InputError(f"{option}: is not for --job {job}")
    if out.exists() and any(out.iterdir()):
        raise InputError(f"--out: {out} is not empty; give a new folder")
    base = base or (packages.INSTRUCT if job == "slots" else None)
    base_of(base)
    if job == "planner":
        found = retrieved(data, more, tuned, seed, threads)
        share = 1.0 if every else EASY
        taught = practised(lessons(*found.learned()), share, seed)[:limit]
        planning = PlannerSettings(epochs=epochs, layers=layers, seed=seed, threads=threads)
        settings: AdapterSettings = planning
        source = origin([data, *more], seed, held_out(data, seed))
        rows_of, count = planner_rows(taught, planning), len(taught)
    else:
        folders = [data, *more, *oblique]
        out_of_data = held_out_of_each(leave_out or folders, seed)
        examples = learned_examples([data, *more], out_of_data, progress)
        examples += learned_examples(oblique, out_of_data, progress, oblique=True)
        examples += [] if strangers is None else strangers_examples(strangers)
        settings = AdapterSettings(epochs=epochs, layers=layers, seed=seed, threads=threads)
        source = origin(folders, seed, out_of_data) | {"sources": sources_of(strangers)}
        rows_of, count = slot_rows(examples[:limit], settings), len(examples[:limit])
    progress("writing the base model in slices")
    figures = {"requests": float(count)}
    content = pack_adapter(job, rows_of, base, settings, out, source, figures)
    if json:
        print_json({name: content[name] for name in ("job", "base", "steps", "tokens")})
        return
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    line(
        f"{out}: {content['steps']} steps of {count} requests, {content['tokens']} tokens, "
        f"{size / 1e6:.0f} MB; run `python {out / 'run.py'} --device cuda`"
    )


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
