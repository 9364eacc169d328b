"""`ctrag train`: artefacts from labelled data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag import models
from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress

if TYPE_CHECKING:
    from training.retrieved import Retrieved

app = typer.Typer(
    help="Train artefacts.\n\n"
    "Example: ctrag train ranker --data synth/data/reference/train --out runs/ranker",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    pass


Data = Annotated[Path, typer.Option(help="A labelled data set folder.")]
Out = Annotated[Path, typer.Option(help="Folder for the artefact.")]
More = Annotated[
    list[Path],
    typer.Option(help="Further labelled data sets: of other people, or more of the same ones'."),
]
Tuned = Annotated[
    Path | None,
    typer.Option("--encoder", help="Folder of `ctrag train encoder` on the same data."),
]
Share = Annotated[
    list[str],
    typer.Option(help="NAME=SHARE: learn from that share of a data set's requests, by hash."),
]
Average = Annotated[
    bool, typer.Option("--average/--last", help="With --start: keep the mean of before and after.")
]
Seed = Annotated[int, typer.Option(help="Decides folds and samples.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads to compute with.")]


@app.command("encoder")
def encoder(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    folds: Annotated[
        int, typer.Option(min=2, help="Readings of a fold come from what the others taught.")
    ] = 5,
    base: Annotated[
        str | None, typer.Option(help="The encoder to tune. Default: CTRAG_ENCODER.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Default: what each encoder needs.")
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(help="Folder of a run to train on, with the same people and folds."),
    ] = None,
    average: Average = True,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on from what OUT holds already.")
    ] = True,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Tune the encoder on requests and the items that they needed.

    Leaves an adapter, and readings of every request by adapters that never saw its person, from
    which `ctrag train ranker --encoder` learns.

    Example: ctrag train encoder --data synth/data/reference/train --more synth/data/scenes
    --folds 2 --epochs 3 --out runs/encoder
    """
    import shutil

    from ctrag.encoder import TowerEncoder, load_encoder
    from ctrag.settings import settings
    from training.encoder import CHECKPOINTS, train_encoder
    from training.encoder_network import EncoderSettings

    name = base or settings().encoder
    loaded = load_encoder(name)
    if not isinstance(loaded, TowerEncoder):
        raise ValueError(f"--base: {name} cannot be tuned; use {models.PAIR} or a part of it")
    if not resume:
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    options = EncoderSettings(
        folds=folds, seed=seed, threads=threads, epochs=epochs, average=average
    )
    trained = train_encoder(data, loaded, options, out / CHECKPOINTS, progress, more, start)
    trained.save(out)
    if json:
        print_json(trained.adapter.card.model_dump())
        return
    _show(out, trained.adapter.card.data, trained.adapter.card.figures)


@app.command("ranker")
def ranker(
    data: Data,
    out: Out,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
    tuned: Tuned = None,
    trials: Annotated[
        int, typer.Option(min=0, help="Search so many sets of hyper-parameters first.")
    ] = 0,
    ablation: Annotated[
        bool, typer.Option(help="Also measure what each group of signals is worth.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Grow the trees on Dask: a scheduler's address, or local."),
    ] = None,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the context ranker, and the tool prior on what it retrieves.

    The cards hold figures of DATA cross-validated by person. With --encoder, OUT holds the adapter
    too.

    Example: ctrag train ranker --data synth/data/reference/train --encoder runs/encoder
    --out runs/ranker
    """
    from ctrag.encoder import load_encoder
    from ctrag.settings import settings
    from training.ranker import RankerSettings, cross_fit, final_ranker, prepare
    from training.tools import ToolPriorSettings, train_tool_prior
    from training.tuned_encoder import TunedEncoder

    options = RankerSettings(seed=seed, threads=threads, scheduler=scheduler)
    adapted = None if tuned is None else TunedEncoder.load(tuned)
    name = settings().encoder if adapted is None else adapted.adapter.card.encoder
    encoder = load_encoder(name)
    prepared = prepare(data, encoder, options, adapted, progress, more)
    if trials:
        from training.tuning import tune

        options = tune(prepared, options, trials, progress)
    fitted = cross_fit(prepared, options, progress)
    without = None
    if ablation:
        from training.ablation import ablate

        without = ablate(prepared, options, progress)
    trained = final_ranker(fitted, [data, *more], encoder, options, progress, without)
    progress("training the tool prior")
    tools = train_tool_prior(fitted, [data, *more], encoder, ToolPriorSettings(), seed)
    trained.save(out)
    tools.save(out)
    if adapted is not None:
        adapted.adapter.save(out)
    if json:
        print_json({"ranker": trained.card.model_dump(), "tools": tools.card.model_dump()})
        return
    _show(out, trained.card.data, {**trained.card.figures, **tools.card.figures})


@app.command("tools")
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
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on from what OUT holds already.")
    ] = True,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the tool reader, which names the API, and the ranker of its arguments' values.

    One person in five of DATA is held out; the cards hold figures of these people. --share is of
    the reader alone, above 1 requests are learned from several times; values are learned from
    everything.

    Example: ctrag train tools --data synth/data/reference/train --more synth/data/scenes
    --encoder runs/encoder --out runs/tools
    """
    import shutil

    from ctrag.tools.reader import ToolReader
    from eval.experiment import folders_sha256, versions
    from training.arguments import ArgumentSettings, choices, train_arguments
    from training.reader import CHECKPOINTS, train_reader
    from training.reader_examples import seen_requests
    from training.reader_network import ReaderSettings
    from training.shares import shares_of

    shares = shares_of(share, [one.name for one in (data, *more)], most=10)
    before = None if start is None else ToolReader.load(start)
    found = _retrieved(data, more, tuned, seed, threads)
    names = _names(data, more)
    card = {
        "command": _command(
            "tools",
            data,
            more,
            *(f"--share {one}" for one in share),
            "--encoder ENCODER",
            "--start READER" if start else "",
            "--last" if start and not average else "",
            f"--epochs {epochs}" if epochs else "",
        ),
        "data": names,
        "data_sha256": folders_sha256([data, *more]),
        "seed": seed,
        "versions": versions(),
    }
    progress("training the ranker of values")
    arguments = train_arguments(
        choices(*found.learned()),
        choices(*found.kept_back()),
        ArgumentSettings(seed=seed, threads=threads),
        card,
    )
    arguments.save(out)
    if not resume:
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    reader = train_reader(
        seen_requests(*found.learned(shares)),
        seen_requests(*found.kept_back()),
        ReaderSettings(average=average, seed=seed, threads=threads).seen(epochs, before),
        {**card, "encoder": found.encoder},
        out / CHECKPOINTS,
        progress,
        before,
    )
    reader.save(out)
    if json:
        print_json({"reader": reader.card.model_dump(), "arguments": arguments.card.model_dump()})
        return
    _show(out, names, {**arguments.card.figures, **reader.card.figures})


@app.command("planner")
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
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on from OUT's checkpoint.")
    ] = True,
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

    found = _retrieved(data, more, tuned, seed, threads)
    card = train_planner(
        practised(lessons(*found.learned()), EASY, seed)[:limit],
        base,
        PlannerSettings(epochs=epochs, seed=seed, threads=threads, four_bit=four_bit),
        out,
        _names(data, more),
        folders_sha256([data, *more]),
        versions(),
        progress,
        resume,
        _command(
            "planner",
            data,
            more,
            "--encoder ENCODER",
            f"--epochs {epochs}" if epochs > 1 else "",
            f"--limit {limit}" if limit else "",
        ),
    )
    if json:
        print_json(card.model_dump())
        return
    _show(out, card.data, card.figures)


@app.command("dependency")
def dependency(
    data: Annotated[
        Path, typer.Option(help="Folder with queries, episodes or conversations (.jsonl).")
    ],
    out: Out,
    hold_out: Annotated[
        bool,
        typer.Option(
            "--hold-out/--all",
            help="Keep back what `ctrag eval dependency` holds out, and measure on it.",
        ),
    ] = False,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Fit the next tool: graphs of histories, linear models and the combined ranker.

    Example: ctrag train dependency --data ../shared/data/external/ultratool-chains
    --out runs/dependency
    """
    from training.dependency import train_dependency

    model = train_dependency(data, hold_out=hold_out, seed=seed, threads=threads, progress=progress)
    model.save(out)
    if json:
        print_json(model.card.model_dump())
        return
    line(f"{out}: {model.card.demonstrations} demonstrations in {model.card.seconds} s")
    if model.card.figures:
        _show(out, model.card.data, model.card.figures)


@app.command("reranker")
def reranker(
    data: Annotated[
        list[Path],
        typer.Option(help="Folder with tools.json and queries.jsonl, or a data set; repeatable."),
    ],
    out: Out,
    share: Share = [],  # noqa: B006  # typer reads it, nothing changes it
    steps: Annotated[
        int, typer.Option(min=0, help="Steps of 32 pairs; 0: hybrid weights only.")
    ] = 320,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the re-ranker of prompts, the hybrid weights and the sufficiency score.

    One request in ten, by hash, is held out; weights are fitted and figures measured on those.

    Example: ctrag train reranker --data ultratool-chains --data seal-tools --share seal-tools=0.5
    --out runs/reranker
    """
    from ctrag.prompt.reading import MiniLMReader
    from eval.experiment import folders_sha256, versions
    from training.reranker import RerankerSettings, train_reranker
    from training.reranker_decisions import load_source
    from training.shares import shares_of

    shares = shares_of(share, [one.name for one in data])
    sources = [load_source(one, shares.get(one.name, 1.0)) for one in data]
    command = "ctrag train reranker" + "".join(f" --data {one.name}" for one in data)
    command += "".join(f" --share {one}" for one in share) + f" --steps {steps} --out DIR"
    trained = train_reranker(
        sources,
        MiniLMReader(),
        RerankerSettings(steps=steps, seed=seed, threads=threads),
        {
            "command": command,
            "data": "+".join(one.name for one in data),
            "data_sha256": folders_sha256(data),
            "seed": seed,
            "versions": versions(),
        },
        out / "readings",
        progress,
    )
    trained.save(out)
    if json:
        print_json(trained.card.model_dump())
        return
    _show(out, trained.card.data, trained.card.figures)


def _retrieved(
    data: Path, more: list[Path], tuned: Path | None, seed: int, threads: int
) -> "Retrieved":
    from ctrag.artefacts import load_context_artefacts
    from ctrag.settings import cache_folder, settings
    from training.ranker import RankerSettings
    from training.retrieved import Retrieval
    from training.tuned_encoder import TunedEncoder

    if tuned is None:
        raise ValueError("--encoder: give the folder that `ctrag train encoder` wrote")
    ranker, _ = load_context_artefacts(settings().artefacts)
    options = RankerSettings(seed=seed, threads=threads)
    trained = TunedEncoder.load(tuned)
    retrieval = Retrieval(data, more, trained, ranker, options)
    return retrieval.once(cache_folder() / "retrieved", progress)


def _names(data: Path, more: list[Path]) -> str:
    return "+".join(one.name for one in (data, *more))


def _command(what: str, data: Path, more: list[Path], *options: str) -> str:
    """What makes an artefact again; options that are empty are left out."""
    folders = [f"--data {data.name}", *(f"--more {one.name}" for one in more)]
    return " ".join(["ctrag train", what, *folders, *filter(None, options), "--out DIR"])


def _show(out: Path, data: str, figures: dict[str, dict[str, float]]) -> None:
    line(f"{out}: trained on {data}, figures of people not learned from:")
    for method, values in figures.items():
        line(f"  {method:<16} " + "  ".join(f"{name} {value}" for name, value in values.items()))
