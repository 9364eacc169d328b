"""`ctrag train`: artefacts from labelled data."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress

app = typer.Typer(help="Train artefacts.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command("ranker")
def ranker(
    data: Annotated[Path, typer.Option(help="A labelled data set folder.")],
    out: Annotated[Path, typer.Option(help="Folder for the artefact.")],
    seed: Annotated[int, typer.Option(help="Decides folds and the trees' samples.")] = 1,
    threads: Annotated[int, typer.Option(help="Threads of LightGBM.")] = 2,
    json: Json = False,
) -> None:
    """Train the context ranker; its card holds figures cross-validated by person.

    Example: ctrag train ranker --data synth/data/reference/train --out runs/ranker
    """
    from ctrag.encoder import load_encoder
    from ctrag.settings import settings
    from training.ranker import RankerSettings, train_ranker

    options = RankerSettings(seed=seed, threads=threads)
    trained = train_ranker(data, load_encoder(settings().encoder), options, progress)
    trained.save(out)
    if json:
        print_json(trained.card.model_dump())
        return
    line(f"{out}: trained on {trained.card.data}, cross-validated by person:")
    for method, figures in trained.card.figures.items():
        line(f"  {method:<16} " + "  ".join(f"{name} {value}" for name, value in figures.items()))
