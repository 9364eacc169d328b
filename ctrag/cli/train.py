"""`ctrag train`: artefacts from labelled data."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag import models
from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress

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
Seed = Annotated[int, typer.Option(help="Decides folds and samples.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads to compute with.")]


@app.command("encoder")
def encoder(
    data: Data,
    out: Out,
    base: Annotated[
        str | None, typer.Option(help="The encoder to tune. Default: CTRAG_ENCODER.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Default: what each encoder needs.")
    ] = None,
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

    Example: ctrag train encoder --data synth/data/reference/train --out runs/encoder
    """
    import shutil

    from ctrag.encoder import TowerEncoder, load_encoder
    from ctrag.settings import settings
    from training.encoder import CHECKPOINTS, EncoderSettings, train_encoder

    name = base or settings().encoder
    loaded = load_encoder(name)
    if not isinstance(loaded, TowerEncoder):
        raise ValueError(f"--base: {name} cannot be tuned; use {models.PAIR} or a part of it")
    if not resume:
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    options = EncoderSettings(seed=seed, threads=threads, epochs=epochs)
    trained = train_encoder(data, loaded, options, out / CHECKPOINTS, progress)
    trained.save(out)
    if json:
        print_json(trained.adapter.card.model_dump())
        return
    _show(out, trained.adapter.card.data, trained.adapter.card.figures)


@app.command("ranker")
def ranker(
    data: Data,
    out: Out,
    tuned: Annotated[
        Path | None,
        typer.Option("--encoder", help="Folder of `ctrag train encoder` on the same data."),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=0, help="Search so many sets of hyper-parameters first.")
    ] = 0,
    ablation: Annotated[
        bool, typer.Option(help="Also measure what each group of signals is worth.")
    ] = False,
    seed: Seed = 1,
    threads: Threads = 2,
    json: Json = False,
) -> None:
    """Train the context ranker, and the tool prior on what it retrieves.

    The cards hold figures cross-validated by person. With --encoder, OUT holds the adapter too.

    Example: ctrag train ranker --data synth/data/reference/train --encoder runs/encoder
    --out runs/ranker
    """
    from ctrag.encoder import load_encoder
    from ctrag.settings import settings
    from training.encoder import TunedEncoder
    from training.ranker import RankerSettings, cross_fit, final_ranker, prepare
    from training.tools import ToolPriorSettings, train_tool_prior

    options = RankerSettings(seed=seed, threads=threads)
    adapted = None if tuned is None else TunedEncoder.load(tuned)
    name = settings().encoder if adapted is None else adapted.adapter.card.encoder
    encoder = load_encoder(name)
    prepared = prepare(data, encoder, options, adapted, progress)
    if trials:
        from training.tuning import tune

        options = tune(prepared, options, trials, progress)
    fitted = cross_fit(prepared, options, progress)
    without = None
    if ablation:
        from training.ablation import ablate

        without = ablate(prepared, options, progress)
    trained = final_ranker(fitted, data, encoder, options, progress, without)
    progress("training the tool prior")
    tools = train_tool_prior(fitted, data, encoder, ToolPriorSettings(), seed)
    trained.save(out)
    tools.save(out)
    if adapted is not None:
        adapted.adapter.save(out)
    if json:
        print_json({"ranker": trained.card.model_dump(), "tools": tools.card.model_dump()})
        return
    _show(out, trained.card.data, {**trained.card.figures, **tools.card.figures})


def _show(out: Path, data: str, figures: dict[str, dict[str, float]]) -> None:
    line(f"{out}: trained on {data}, cross-validated by person:")
    for method, values in figures.items():
        line(f"  {method:<16} " + "  ".join(f"{name} {value}" for name, value in values.items()))
