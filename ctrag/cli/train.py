"""`ctrag train`: artefacts from labelled data.

Here those of retrieval and of other agents' tools; `train_plans` has those that learn from what
retrieval brings, `train_plain` those that read what a request says, `train_search` those of the
search in any agent's tools.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli import train_pack, train_plain, train_plans, train_search
from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress
from ctrag.cli.recordings import say_counts
from ctrag.cli.train_usage import train_from_usage
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
    finish,
    show,
)
from ctrag.cli.writable import folder_to_write
from ctrag.errors import InputError
from ctrag.extras import need
from ctrag.models import packages

app = typer.Typer(
    help="Train artefacts.\n\n"
    "Example: ctrag train ranker --data synth/data/reference/train --out runs/ranker",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    if "--help" not in sys.argv and "--from-usage" not in sys.argv:
        need("training", "torch", "sklearn", "lightgbm", "peft", "optuna", extra="train")


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
    dropout: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.9,
            help="Default: what each encoder needs. Large data do without: 0 is a third faster.",
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(help="Folder of a run to train on, with the same people and folds."),
    ] = None,
    average: Average = True,
    resume: Resume = True,
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

    from ctrag.models.encoder import EncoderEnsemble, load_encoder
    from ctrag.settings import settings
    from training.core.checkpoints import CHECKPOINTS
    from training.encoder.network import EncoderSettings
    from training.encoder.train import train_encoder

    name = base or settings().encoder
    loaded = load_encoder(name)
    if not isinstance(loaded, EncoderEnsemble):
        raise InputError(f"--base: {name} cannot be tuned; use {packages.PAIR} or a part of it")
    if not resume:
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    options = EncoderSettings(
        folds=folds,
        seed=seed,
        threads=threads,
        epochs=epochs,
        dropout=dropout,
        average=average,
    )
    trained = train_encoder(data, loaded, options, out / CHECKPOINTS, progress, more, start)
    trained.save(out)
    finish(out, trained.adapter.card, json)


@app.command("ranker")
def ranker(
    data: Annotated[
        Path | None,
        typer.Option(
            help="A labelled data set folder. With --from-usage: where the person is; default: "
            "your own stores, then the packaged people."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(callback=folder_to_write, help="Folder for the artefact."),
    ] = None,
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
    from_usage: Annotated[
        bool,
        typer.Option(
            "--from-usage",
            help="Instead: fit the ranker in use to a person's own record of use, for that "
            "person alone; docs/own-use.md.",
        ),
    ] = False,
    persona: Annotated[
        str | None,
        typer.Option(
            help="With --from-usage: whose record. Default: of everybody in your own stores."
        ),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="With --from-usage: take away what was fitted.")
    ] = False,
    json: Json = False,
) -> None:
    """Train the context ranker, on labelled data sets or on one's own use.

    The card holds figures of DATA cross-validated by person. With --encoder, OUT holds the adapter
    too.

    Example: ctrag train ranker --data synth/data/reference/train --encoder runs/encoder
    --out runs/ranker
    """
    if from_usage:
        if out is not None or more or tuned is not None:
            raise typer.BadParameter("--from-usage takes no --out, --more or --encoder")
        train_from_usage(persona, data, undo, json)
        return
    if data is None or out is None:
        raise typer.BadParameter("give --data and --out, or --from-usage")
    if persona is not None or undo:
        raise typer.BadParameter("--persona and --undo go with --from-usage")
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from training.core.cross_fitted import cross_fit, prepare
    from training.ranker.settings import RankerSettings
    from training.ranker.train import final_ranker
    from training.ranker.tuned_encoder import TunedEncoder

    options = RankerSettings(seed=seed, threads=threads, scheduler=scheduler)
    adapted = None if tuned is None else TunedEncoder.load(tuned)
    name = settings().encoder if adapted is None else adapted.adapter.card.encoder
    encoder = load_encoder(name)
    prepared = prepare(data, encoder, options, adapted, progress, more)
    if trials:
        from training.ranker.tuning import tune

        options = tune(prepared, options, trials, progress)
    fitted = cross_fit(prepared, options, progress)
    without = None
    if ablation:
        from training.ranker.ablation import ablate

        without = ablate(prepared, options, progress)
    trained = final_ranker(fitted, [data, *more], encoder, options, progress, without)
    trained.save(out)
    if adapted is not None:
        adapted.adapter.save(out)
    if json:
        print_json({"ranker": trained.card.model_dump()})
        return
    show(out, trained.card.data, trained.card.figures)


@app.command("dependency")
def dependency(
    data: Annotated[
        Path,
        typer.Option(
            help="Folder with queries, episodes or conversations (.jsonl), or a file; or a "
            "recording of `ctrag serve mcp`, or a folder of them."
        ),
    ],
    out: Out,
    catalogue: Annotated[
        Path | None,
        typer.Option(help="The tools. Default: tools.json in the folder, else as recorded."),
    ] = None,
    observed: Annotated[
        Path | None,
        typer.Option(
            help="Log of what agents did, to learn from as well. Default: OUT/observed.jsonl."
        ),
    ] = None,
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
    from ctrag.agents.next_tool.artefact import LOG
    from training.next_tool.train import train_dependency

    if observed is None:  # one log may be all the data there are
        observed = data if data.name == LOG else out / LOG if (out / LOG).is_file() else None
    model = train_dependency(
        data,
        observed=observed,
        catalogue=catalogue,
        hold_out=hold_out,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    model.save(out)
    if model.card.learned:
        say_counts(data, model.card.learned, model.card.left_out)
    if json:
        print_json(model.card.model_dump())
        return
    line(
        f"{out}: {model.card.demonstrations} demonstrations ({model.card.observed} observed) "
        f"in {model.card.seconds} s"
    )
    if model.card.figures:
        show(out, model.card.data, model.card.figures)


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
    base: Annotated[
        str, typer.Option(help="Encoder or cross-encoder that is trained on: a name or a folder.")
    ] = packages.ENCODER,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the re-ranker of prompts, hybrid weights and sufficiency score.

    The re-ranker is a cross-encoder of sentence-transformers.

    One request in ten, by hash, is held out; weights are fitted and figures measured on those.

    Example: ctrag train reranker --data ultratool-chains --data seal-tools --share seal-tools=0.5
    --out runs/reranker
    """
    from ctrag.agents.prompt.encoders import MiniLMPassageEncoder
    from training.core.origin import origin
    from training.core.shares import shares_of
    from training.prompts.decisions import load_source
    from training.prompts.reranker import RerankerSettings, train_reranker

    shares = shares_of(share, [one.name for one in data])
    sources = [load_source(one, shares.get(one.name, 1.0)) for one in data]
    trained = train_reranker(
        sources,
        MiniLMPassageEncoder(),
        RerankerSettings(base=base, steps=steps, seed=seed, threads=threads),
        origin(data, seed),
        out / "readings",
        progress,
    )
    trained.save(out)
    finish(out, trained.card, json)


@app.command("people")
def people(
    folder: Annotated[
        Path, typer.Argument(help="Folder of artefacts whose cards name nobody yet.")
    ],
    data: Data,
    more: More = [],  # noqa: B006  # typer reads it, nothing changes it
) -> None:
    """Name in older cards the people that were learned from.

    Checks that DATA and MORE are what a card was made from. People who were held out are not
    named.

    Example: ctrag train people runs/ranker --data synth/data/reference/train
    """
    from training.core.origin import name_people

    for path in name_people(folder, [data, *more]):
        line(f"{path}: people named")


app.command("tools")(train_plans.tools)
app.command("values")(train_plans.values)
app.command("planner")(train_plans.planner)
app.command("pack")(train_pack.pack)
app.command("unpack")(train_pack.unpack)
app.command("slots")(train_plain.slots)
app.command("plainness")(train_plain.plainness)
app.command("breaks")(train_plain.breaks)
app.command("said")(train_plain.said)
app.command("confidence")(train_plain.confidence)
app.command("tool-encoder")(train_search.tool_encoder)
app.command("tool-ranker")(train_search.tool_ranker)
app.command("surfacing")(train_search.surfacing)
app.command("gains")(train_search.gains)
