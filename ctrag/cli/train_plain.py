"""`ctrag train slots`, `plainness`, `breaks`, `said` and `confidence`: what a request says."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import progress
from ctrag.cli.training import (
    Bits,
    Data,
    Device,
    More,
    Out,
    Resume,
    Seed,
    Strangers,
    Threads,
    check_held_out,
    finish,
    held_out_of_each,
    sources_of,
    trained_further,
)
from ctrag.errors import InputError
from ctrag.models import packages


def slots(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    oblique: Annotated[list[Path], typer.Option(help="Data sets of requests that hint.")] = [],  # noqa: B006  # typer reads it, nothing changes it
    leave_out: Annotated[
        list[Path],
        typer.Option(help="Hold out one person in five of these only; of all data when not given."),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    strangers: Strangers = None,
    conversations: Annotated[
        list[Path],
        typer.Option(
            help="Data sets whose dialogues and requests for several calls are said whole."
        ),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    start: Annotated[
        Path | None, typer.Option(help="Folder of an adapter to train further.")
    ] = None,
    average: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of START in the mean of it and of what is learned."),
    ] = 0.0,
    most: Annotated[
        int | None,
        typer.Option(min=1, help="Requests of each data set at most, drawn by the seed."),
    ] = None,
    learning_rate: Annotated[float, typer.Option(min=1e-6, help="Of the optimiser.")] = 5e-4,
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
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many steps of the mixed examples. Default: all."),
    ] = None,
    device: Device = "auto",
    bits: Bits = None,
    resume: Resume = True,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the slot filler's LoRA adapter on requests and what they say of a call's arguments.

    People are held out for `train said` and `train confidence`: with LEAVE_OUT, name the data sets
    that these will be given.

    Example: ctrag train slots --data data/everyday-people --more data/everyday-train --oblique
    data/oblique --out runs/slots
    """
    from ctrag.models.lora import load_card
    from ctrag.models.placement import Placement
    from training.core.adapter import AdapterSettings, base_of
    from training.core.origin import origin
    from training.slots.examples import learned_examples, strangers_examples
    from training.slots.train import train_slots
    from training.slots.whole import whole_examples

    if average and start is None:
        raise InputError(f"--average {average}: averages with an adapter; name it by --start")
    placement = Placement(device, bits)
    base_of(base, placement)
    folders = [data, *more, *oblique]
    every = list(dict.fromkeys([*folders, *conversations]))
    out_of_data = held_out_of_each(leave_out or every, seed)
    source = origin(every, seed, out_of_data) | {"sources": sources_of(strangers)}
    before = None if start is None else load_card(start)
    if before is not None:
        check_held_out("--start", before, out_of_data)
        source |= trained_further(before, source["people"])
        source["sources"] = list(dict.fromkeys([*before.sources, *source["sources"]]))
    examples = learned_examples([data, *more], out_of_data, progress, False, most, seed)
    examples += learned_examples(oblique, out_of_data, progress, True, most, seed)
    if strangers is not None:
        examples += strangers_examples(strangers)
    whole = whole_examples(conversations, out_of_data, progress)
    card = train_slots(
        examples[:limit],
        base,
        AdapterSettings(
            epochs=epochs,
            layers=layers,
            seed=seed,
            threads=threads,
            learning_rate=learning_rate,
            steps=steps,
            average=average,
        ),
        out,
        source,
        progress,
        resume,
        placement,
        whole,
        start,
    )
    finish(out, card, json)


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
    """Train the choice among a request's calls, and calibrate the confidence in it.

    It learns from one person in five of DATA, and of each further data set: those whom the other
    trainings hold out.

    Example: ctrag train confidence --data data/everyday-people --out runs/confidence
    """
    from training.confidence.train import collect, fit_calls, fit_confidence
    from training.core.origin import origin, people_of

    folders = [data, *more]
    asking = _asking(folders, seed)
    found = collect(folders, asking, model, progress)
    source = origin(folders, seed, people_of(folders) - asking)
    choice, chosen = fit_calls(found, source, seed)
    choice.save(out)
    fitted = fit_confidence(chosen, source, seed)
    fitted.save(out)
    finish(out, fitted, json)


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
    finish(out, fitted.card, json)


def breaks(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    alone: Annotated[
        list[Path],
        typer.Option(help="Data sets whose requests are never put together, such as oblique ones."),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    several: Annotated[
        list[Path],
        typer.Option(help="Data sets whose requests for several calls are each said whole, too."),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    count: Annotated[
        int, typer.Option(min=100, help="How often requests are put into one breath.")
    ] = 12000,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Train what tells several requests in one breath apart.

    Example: ctrag train breaks --data data/everyday-people --more data/everyday-train
    --alone data/oblique --several data/conversations --out runs/breaks
    """
    from training.breaks.joined import breaths
    from training.breaks.spoken import several_breaths
    from training.breaks.train import train_breaks
    from training.core.origin import origin

    said = breaths([data, *more], alone, count, seed, several_breaths(several))
    source = origin(list(dict.fromkeys([data, *more, *alone, *several])), seed)
    fitted = train_breaks(said, source, seed, progress)
    fitted.save(out)
    finish(out, fitted.card, json)


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
    asking = _asking(folders, seed)
    found = collect_said(folders, asking, progress)
    fitted = fit_said(*found, origin(folders, seed, people_of(folders) - asking), seed)
    fitted.save(out)
    finish(out, fitted, json)


def _asking(folders: list[Path], seed: int) -> frozenset[str]:
    """Fingerprints of the held-out people, from none of whom the slot filler may have learned.

    Raises:
        ValueError: It did, or its card does not say from whom.
    """
    from ctrag.assistant.planning.planner import slot_adapter
    from ctrag.models.lora import load_card

    asking = held_out_of_each(folders, seed)
    adapter = slot_adapter()
    if adapter is not None:
        check_held_out("CTRAG_SLOT_ADAPTER", load_card(adapter), asking)
    return asking
