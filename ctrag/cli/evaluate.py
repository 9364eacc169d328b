"""`ctrag eval`: one experiment, the paper's table with our column beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress

if TYPE_CHECKING:
    from eval.experiment import Experiment
    from eval.tables import Table

app = typer.Typer(
    help="Experiments.\n\nExample: ctrag eval context --data synth/data/reference/dev",
    no_args_is_help=True,
)

Folder = Annotated[Path, typer.Option("--data", help="A labelled data set folder.")]
Model = Annotated[
    Path | None, typer.Option("--model", help="Ranker folder. Default: the packaged one.")
]
Methods = Annotated[str | None, typer.Option("--methods", help="Only these, separated by commas.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N requests.")]
Out = Annotated[Path | None, typer.Option("--out", help="Write the experiment as JSON.")]


@app.callback()
def _group() -> None:
    pass


@app.command("context")
def context(
    data: Folder,
    model: Model = None,
    methods: Methods = None,
    limit: Limit = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Context retrieval: Table 2 of the paper.

    Example: ctrag eval context --data synth/data/reference/dev
    """
    from eval.context import run_context, table

    _report(
        lambda: run_context(data, model=model, methods=_names(methods), limit=limit),
        table,
        out,
        json,
    )


@app.command("tools")
def tools(
    data: Folder,
    model: Model = None,
    methods: Methods = None,
    limit: Limit = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Tool retrieval with and without context: Figure 2 of the paper.

    Example: ctrag eval tools --data synth/data/reference/dev
    """
    from eval.tools import run_tools, table

    _report(
        lambda: run_tools(data, model=model, methods=_names(methods), limit=limit), table, out, json
    )


@app.command("planner")
def planner(
    data: Folder,
    model: Model = None,
    methods: Methods = None,
    limit: Limit = None,
    out: Out = None,
    free: Annotated[
        bool, typer.Option("--free/--no-free", help="Also decode without the grammar.")
    ] = True,
    json: Json = False,
) -> None:
    """Planning in five settings: Table 3 of the paper. Resumes where it stopped, with --out.

    Example: ctrag eval planner --data synth/data/reference/dev --limit 20 --out runs/planner.json
    """
    from eval.planner import run_planner, table

    _report(
        lambda: run_planner(
            data,
            model=model,
            methods=_names(methods),
            limit=limit,
            free=free,
            progress=progress,
            resume=None if out is None else out.with_suffix(".rows.jsonl"),
        ),
        table,
        out,
        json,
    )


def _names(methods: str | None) -> list[str] | None:
    return None if methods is None else [one.strip() for one in methods.split(",") if one.strip()]


def _report(
    run: "Callable[[], Experiment]",
    table: "Callable[[Experiment], Table]",
    out: Path | None,
    json: bool,
) -> None:
    if out is not None and not out.parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(out.parent))
    experiment = run()
    if out is not None:
        experiment.write(out)
    if json:
        print_json(experiment.model_dump(mode="json"))
        return
    for row in table(experiment).lines():
        line(row)
