"""`ctrag train tools`, `values`, `planner` and `slots`: trained on retrieval results."""

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
    Served,
    Share,
    Strangers,
    Threads,
    Tuned,
    check_held_out,
    held_out,
    retrieved,
    show,
    sources_of,
)
from ctrag.models import packages


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
    from training.core.origin import origin, people_in
    from training.core.shares import shares_of

    named = [one.name for one in (data, *more, strangers) if one is not None]
    shares = shares_of(share, named, most=10)
    before = None if start is None else ApiClassifier.load(start)
    out_of_data = held_out(data, seed)
    if before is not None:
        check_held_out("--start", before.card, out_of_data)
    if served:
        out_of_data = out_of_data.union(*(held_out(one, seed) for one in more))
    found = retrieved(data, more, tuned, seed, threads, served)
    learned = seen_requests(*found.learned(shares))
    if strangers is not None:
        kept = shares.get(strangers.name, 1.0)
        learned += strangers_requests(strangers, found, before, kept, progress)
    if not resume:
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    source = origin([data, *more], seed, out_of_data)
    if before is not None:
        source["people"] = sorted(people_in(before.card, "--start").union(source["people"]))
        source["before"] = before.card.command
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
    if json:
        print_json(classifier.card.model_dump())
        return
    show(out, classifier.card.data, classifier.card.figures)


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
    from training.core.origin import origin, people_in
    from training.values.value_ranker import ValueRankerSettings, choices, train_arguments

    out_of_data = held_out(data, seed)
    before = None if start is None else ValueRanker.load(start)
    if before is not None:
        check_held_out("--start", before.card, out_of_data)
    if served:
        out_of_data = out_of_data.union(*(held_out(one, seed) for one in more))
    options = ValueRankerSettings(seed=seed, threads=threads)
    source = origin([data, *more], seed, out_of_data)
    if before is not None:
        source["people"] = sorted(people_in(before.card, "--start").union(source["people"]))
        source["before"] = before.card.command
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
    from training.core.origin import origin
    from training.planner.examples import EASY, lessons, practised
    from training.planner.train import PlannerSettings, train_planner

    found = retrieved(data, more, tuned, seed, threads)
    card = train_planner(
        practised(lessons(*found.learned()), EASY, seed)[:limit],
        base,
        PlannerSettings(epochs=epochs, seed=seed, threads=threads, four_bit=four_bit),
        out,
        origin([data, *more], seed, held_out(data, seed)),
        progress,
        resume,
    )
    if json:
        print_json(card.model_dump())
        return
    show(out, card.data, card.figures)


def slots(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    strangers: Strangers = None,
    base: Annotated[
        str, typer.Option(help="Base model: name, folder or hub name.")
    ] = packages.INSTRUCT,
    layers: Annotated[
        int | None, typer.Option(min=1, help="Change only so many of the last layers.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often everything is seen.")] = 2,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Learn from the first so many requests only.")
    ] = None,
    resume: Resume = True,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the slot filler's LoRA adapter on requests and what they say of a call's arguments.

    One person in five of DATA and of each further data set is held out, as for `train said` and
    `train confidence`.

    Example: ctrag train slots --data data/everyday-people --more data/everyday-train --out
    runs/slots
    """
    from training.core.adapter import AdapterSettings
    from training.core.origin import origin
    from training.slots.examples import learned_examples, strangers_examples
    from training.slots.train import train_slots

    out_of_data = frozenset().union(*(held_out(one, seed) for one in (data, *more)))
    examples = learned_examples([data, *more], out_of_data, progress)
    if strangers is not None:
        examples += strangers_examples(strangers)
    card = train_slots(
        examples[:limit],
        base,
        AdapterSettings(epochs=epochs, layers=layers, seed=seed, threads=threads),
        out,
        origin([data, *more], seed, out_of_data) | {"sources": sources_of(strangers)},
        progress,
        resume,
    )
    if json:
        print_json(card.model_dump())
        return
    show(out, card.data, card.figures)


def confidence(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    model: Annotated[
        Path | None, typer.Option(help="Folder of artefacts; the packaged ones when not given.")
    ] = None,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Calibrate the confidence of whole calls on the people whom the other trainings hold out.

    These are one person in five of DATA, and of each further data set.

    Example: ctrag train confidence --data data/everyday-people --out runs/confidence
    """
    from training.confidence.train import collect, fit_confidence
    from training.core.origin import origin, people_of

    folders = [data, *more]
    asked_by = frozenset().union(*(held_out(one, seed) for one in folders))
    found = collect(folders, asked_by, model, progress)
    others = people_of(folders) - asked_by
    fitted = fit_confidence(*found, origin(folders, seed, others))
    fitted.save(out)
    if json:
        print_json(fitted.model_dump())
        return
    show(out, fitted.data, fitted.figures)


def plainness(
    plain: Annotated[list[Path], typer.Option(help="Data sets of plain requests.")],
    oblique: Annotated[list[Path], typer.Option(help="Data sets of requests that hint.")],
    out: Out,
    strangers: Strangers = None,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Train what tells plain requests, whose slots are read, from those that only hint.

    Example: ctrag train plainness --plain data/everyday-people --oblique
    synth/data/reference/train --out runs/plainness
    """
    from training.core.origin import origin
    from training.plainness.train import train_plainness

    source = origin([*plain, *oblique], seed) | {"sources": sources_of(strangers)}
    fitted = train_plainness(plain, oblique, strangers, source, seed, progress)
    fitted.save(out)
    if json:
        print_json(fitted.card.model_dump())
        return
    show(out, fitted.card.data, fitted.card.figures)


def said(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Train the choice between what a request says and what the person's items have.

    It learns from one person in five of DATA and of each further data set: those whom the other
    trainings hold out.

    Example: ctrag train said --data data/everyday-people --more synth/data/reference/train --out
    runs/said
    """
    from training.core.origin import origin, people_of
    from training.said.train import collect_said, fit_said

    folders = [data, *more]
    asked_by = frozenset().union(*(held_out(one, seed) for one in folders))
    found = collect_said(folders, asked_by, progress)
    fitted = fit_said(*found, origin(folders, seed, people_of(folders) - asked_by), seed)
    fitted.save(out)
    if json:
        print_json(fitted.model_dump())
        return
    show(out, fitted.data, fitted.figures)
