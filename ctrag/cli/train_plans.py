"""`ctrag train tools`, `values` and `planner`: they learn from what retrieval brings."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import print_json, progress
from ctrag.cli.training import (
    Average,
    Data,
    More,
    Out,
    Resume,
    Seed,
    Share,
    Threads,
    Tuned,
    check_held_out,
    command_of,
    names_of,
    retrieved,
    show,
)


def tools(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    share: Share = [],  # noqa: B006  # typer reads it, nothing changes it
    tuned: Tuned = None,
    start: Annotated[Path | None, typer.Option(help="Folder of a reader to train on.")] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Default: what each encoder needs; 1 with --start."),
    ] = None,
    average: Average = True,
    resume: Resume = True,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the tool reader, which names the API.

    One person in five of DATA is held out; the card holds figures of these people. With a --share
    above 1 requests are learned from several times.

    Example: ctrag train tools --data synth/data/reference/train --more synth/data/scenes
    --encoder runs/encoder --out runs/tools
    """
    import shutil

    from ctrag.tools.reader import ToolReader
    from eval.experiment import folders_sha256, versions
    from training.checkpoints import CHECKPOINTS
    from training.reader import train_reader
    from training.reader_examples import seen_requests
    from training.reader_network import ReaderSettings
    from training.shares import shares_of

    shares = shares_of(share, [one.name for one in (data, *more)], most=10)
    before = None if start is None else ToolReader.load(start)
    if before is not None:
        check_held_out("--start", before.card, data, seed)
    found = retrieved(data, more, tuned, seed, threads)
    if not resume:
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    reader = train_reader(
        seen_requests(*found.learned(shares)),
        seen_requests(*found.kept_back()),
        ReaderSettings(average=average, seed=seed, threads=threads).seen(epochs, before),
        {
            "command": command_of(
                "tools",
                data,
                more,
                *(f"--share {one}" for one in share),
                "--encoder ENCODER" if tuned else "",
                "--start READER" if start else "",
                "--last" if start and not average else "",
                f"--epochs {epochs}" if epochs else "",
            ),
            "data": names_of(data, more),
            "data_sha256": folders_sha256([data, *more]),
            "seed": seed,
            "versions": versions(),
            "encoder": found.encoder,
        },
        out / CHECKPOINTS,
        progress,
        before,
    )
    reader.save(out)
    if json:
        print_json(reader.card.model_dump())
        return
    show(out, reader.card.data, reader.card.figures)


def values(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    share: Share = [],  # noqa: B006  # typer reads it, nothing changes it
    tuned: Tuned = None,
    start: Annotated[
        Path | None, typer.Option(help="Folder of a tool reader whose encoder is trained on.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often the reader sees everything.")] = 2,
    read: Annotated[
        bool, typer.Option("--reader/--no-reader", help="Train a reader beside the ranker.")
    ] = True,
    rank: Annotated[
        bool,
        typer.Option("--ranker/--no-ranker", help="Train a ranker, or keep the one in use."),
    ] = True,
    resume: Resume = True,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train what chooses the values of a call's arguments: their ranker, and a reader of values.

    One person in five of DATA is held out; the cards hold figures of these people, who also say
    how much the reader counts. --share is of the reader alone.

    Example: ctrag train values --data synth/data/reference/train --more data/people
    --encoder runs/encoder --out runs/values
    """
    import shutil

    from ctrag.artefacts import load_artefacts
    from ctrag.settings import settings
    from ctrag.tools.reader import ToolReader
    from eval.experiment import folders_sha256, versions
    from training.arguments import ArgumentSettings
    from training.checkpoints import CHECKPOINTS
    from training.shares import shares_of
    from training.value_reader import ValueReaderSettings
    from training.values import train_values

    if not (rank or read):
        raise ValueError("--no-ranker: with --no-reader nothing is left to train")
    shares = shares_of(share, [one.name for one in (data, *more)], most=10)
    before = None if start is None else ToolReader.load(start)
    if before is not None:
        check_held_out("--start", before.card, data, seed)
    kept = None if rank else load_artefacts(settings().artefacts).arguments
    if kept is not None:
        check_held_out("--no-ranker", kept.card, data, seed)
    found = retrieved(data, more, tuned, seed, threads)
    if not resume:
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    trained = train_values(
        found,
        shares,
        (
            ArgumentSettings(seed=seed, threads=threads),
            ValueReaderSettings(epochs=epochs, seed=seed, threads=threads) if read else None,
        ),
        {
            "command": command_of(
                "values",
                data,
                more,
                *(f"--share {one}" for one in share),
                "--encoder ENCODER" if tuned else "",
                "--start READER" if start else "",
                f"--epochs {epochs}" if epochs != 2 else "",
                "" if read else "--no-reader",
                "" if rank else "--no-ranker",
            ),
            "data": names_of(data, more),
            "data_sha256": folders_sha256([data, *more]),
            "seed": seed,
            "versions": versions(),
        },
        out / CHECKPOINTS,
        progress,
        before,
        kept,
    )
    trained.save(out)
    if json:
        print_json(trained.card.model_dump())
        return
    show(out, trained.card.data, trained.card.figures)


def planner(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    tuned: Tuned = None,
    base: Annotated[
        str | None,
        typer.Option(help="Base model: name, folder or hub name. Default: the embedded one."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often everything is seen.")] = 1,
    four_bit: Annotated[
        bool, typer.Option(help="4-bit base weights (GPU and bitsandbytes needed).")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Learn from the first so many requests only.")
    ] = None,
    resume: Resume = True,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the planner's LoRA adapter on requests, retrieved items and plans.

    One person in five of DATA is held out.

    Example: ctrag train planner --data synth/data/reference/train --more synth/data/scenes
    --encoder runs/encoder --out runs/planner
    """
    from eval.experiment import folders_sha256, versions
    from training.planner import PlannerSettings, train_planner
    from training.planner_examples import EASY, lessons, practised

    found = retrieved(data, more, tuned, seed, threads)
    card = train_planner(
        practised(lessons(*found.learned()), EASY, seed)[:limit],
        base,
        PlannerSettings(epochs=epochs, seed=seed, threads=threads, four_bit=four_bit),
        out,
        names_of(data, more),
        folders_sha256([data, *more]),
        versions(),
        progress,
        resume,
        command_of(
            "planner",
            data,
            more,
            "--encoder ENCODER" if tuned else "",
            f"--epochs {epochs}" if epochs > 1 else "",
            f"--limit {limit}" if limit else "",
        ),
    )
    if json:
        print_json(card.model_dump())
        return
    show(out, card.data, card.figures)
