"""`ctrag train`: artefacts from labelled data."""

from pathlib import Path
from typing import Annotated

import typer

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


@app.command("ranker")
def ranker(
    data: Annotated[Path, typer.Option(help="A labelled data set folder.")],
    out: Annotated[Path, typer.Option(help="Folder for the artefact.")],
    seed: Annotated[int, typer.Option(help="Decides folds and the trees' samples.")] = 1,
    threads: Annotated[int, typer.Option(help="Threads of LightGBM.")] = 2,
    json: Json = False,
) -> None:
    """Train the context ranker, and the tool prior on what it retrieves.

    The cards hold figures cross-validated by person.

    Example: ctrag train ranker --data synth/data/reference/train --out runs/ranker
    """
    from ctrag.encoder import load_encoder
    from ctrag.settings import settings
    from training.ranker import RankerSettings, cross_fit, final_ranker
    from training.tools import ToolPriorSettings, train_tool_prior

    options = RankerSettings(seed=seed, threads=threads)
    encoder = load_encoder(settings().encoder)
    fitted = cross_fit(data, encoder, options, progress)
    trained = final_ranker(fitted, data, encoder, options, progress)
    progress("training the tool prior")
    tools = train_tool_prior(fitted, data, encoder, ToolPriorSettings(), seed)
    trained.save(out)
    tools.save(out)
    if json:
        print_json({"ranker": trained.card.model_dump(), "tools": tools.card.model_dump()})
        return
    line(f"{out}: trained on {trained.card.data}, cross-validated by person:")
    for method, figures in {**trained.card.figures, **tools.card.figures}.items():
        line(f"  {method:<16} " + "  ".join(f"{name} {value}" for name, value in figures.items()))
