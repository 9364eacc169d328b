"""`ctrag train tools`, `values` and `planner`: trained on retrieval results."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import progress
from ctrag.cli.training import (
    Average,
    Bits,
    Data,
    Device,
    More,
    Out,
    Resume,
    Seed,
    Served,
    Share,
    Strangers,
    Threads,
    Tuned,
    check_held_out,
    finish,
    held_out,
    held_out_of_each,
    retrieved,
    sources_of,
    trained_further,
)


def tools(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    share: Share = [],  # noqa: B006  # typer reads it, nothing changes it
    tuned: Tuned = None,
    served: Served = False,
    strangers: Strangers = None,
    start: Annotated[
        Path | None, typer.Option(help="Folder of a classifier to train further.")
    ] = None,
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
    """Train the API classifier.

    One person in five of DATA is held out (with --served, of each data set); the card holds figures
    of these people. With a --share above 1 requests are learned from several times.

    Example: ctrag train tools --data synth/data/reference/train --more synth/data/scenes
    --encoder runs/encoder --out runs/tools
    """
    import shutil

    from ctrag.assistant.api_choice.classifier import ApiClassifier
    from training.api_classifier.examples import seen_requests
    from training.api_classifier.network import ApiClassifierSettings
    from training.api_classifier.strangers import strangers_requests
    from training.api_classifier.train import train_classifier
    from training.core.checkpoints import CHECKPOINTS
    from training.core.origin import origin
    from training.core.shares import shares_of

    named = [one.name for one in (data, *more, strangers) if one is not None]
    shares = shares_of(share, named, most=10)
    before = None if start is None else ApiClassifier.load(start)
    out_of_data = held_out(data, seed)
    if before is not None:
        check_held_out("--start", before.card, out_of_data)
    if served:
        out_of_data = held_out_of_each([data, *more], seed)
    found = retrieved(data, more, tuned, seed, threads, served)
    learned = seen_requests(*found.learned(shares))
    if strangers is not None:
        kept = shares.get(strangers.name, 1.0)
        learned += strangers_requests(strangers, found, before, kept, progress)
    if not resume:
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    source = origin([data, *more], seed, out_of_data)
    if before is not None:
        source |= trained_further(before.card, source["people"])
    source["sources"] = sources_of(strangers)
    classifier = train_classifier(
        learned,
        seen_requests(*found.kept_back()),
        ApiClassifierSettings(average=average, seed=seed, threads=threads).seen(epochs, before),
        source | {"encoder": found.encoder},
        out / CHECKPOINTS,
        progress,
        before,
    )
    classifier.save(out)
    finish(out, classifier.card, json)


def values(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    tuned: Tuned = None,
    served: Served = False,
    start: Annotated[
        Path | None, typer.Option(help="Folder of a ranker that trees are added to.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Trees. Default: 300.")] = None,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the ranker that chooses the values of a call's arguments.

    One person in five of DATA is held out; the card holds figures of these people.

    Example: ctrag train values --data synth/data/reference/train --more data/people
    --encoder runs/encoder --out runs/values
    """
    from dataclasses import replace

    from ctrag.assistant.planning.value_ranker import ValueRanker
    from training.core.origin import origin
    from training.values.value_ranker import ValueRankerSettings, choices, train_arguments

    out_of_data = held_out(data, seed)
    before = None if start is None else ValueRanker.load(start)
    if before is not None:
        check_held_out("--start", before.card, out_of_data)
    if served:
        out_of_data = held_out_of_each([data, *more], seed)
    options = ValueRankerSettings(seed=seed, threads=threads)
    source = origin([data, *more], seed, out_of_data)
    if before is not None:
        source |= trained_further(before.card, source["people"])
    found = retrieved(data, more, tuned, seed, threads, served)
    progress("training the ranker of values")
    trained = train_arguments(
        choices(*found.learned()),
        choices(*found.kept_back()),
        options if rounds is None else replace(options, rounds=rounds),
        source,
        before,
    )
    trained.save(out)
    finish(out, trained.card, json)


def planner(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    tuned: Tuned = None,
    base: Annotated[
        str | None,
        typer.Option(help="Base model: name, folder or hub name. Default: the embedded one."),
    ] = None,
    layers: Annotated[
        int | None, typer.Option(min=1, help="Change only so many of the last layers.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often everything is seen.")] = 1,
    device: Device = "auto",
    bits: Bits = None,
    four_bit: Annotated[bool, typer.Option("--four-bit", help="The same as --bits 4.")] = False,
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
    from ctrag.models.placement import Placement
    from training.core.adapter import base_of
    from training.core.origin import origin
    from training.planner.examples import EASY, lessons, practised
    from training.planner.train import PlannerSettings, train_planner

    placement = Placement(device, 4 if four_bit else bits)
    base_of(base, placement)
    found = retrieved(data, more, tuned, seed, threads)
    card = train_planner(
        practised(lessons(*found.learned()), EASY, seed)[:limit],
        base,
        PlannerSettings(epochs=epochs, layers=layers, seed=seed, threads=threads),
        out,
        origin([data, *more], seed, held_out(data, seed)),
        progress,
        resume,
        placement,
    )
    finish(out, card, json)
