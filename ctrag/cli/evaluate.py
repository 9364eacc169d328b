"""`ctrag eval`: one experiment, the paper's table with our column beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress

if TYPE_CHECKING:
    from eval.experiment import Experiment
    from eval.report import Report
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
Page = Annotated[
    Path | None,
    typer.Option("--report", help="Folder for a page (HTML) and the experiment (JSON)."),
]


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
    report: Page = None,
    planner: Annotated[
        str, typer.Option("--planner", help="Who writes thoughts: embedded or openai.")
    ] = "embedded",
    json: Json = False,
) -> None:
    """Context retrieval: Table 2 of the paper.

    Example: ctrag eval context --data synth/data/reference/dev
    """
    from eval.context import run_context, table

    def page(experiment: "Experiment") -> "Report":
        from eval.context_report import context_report

        return context_report(experiment)

    _report(
        lambda: run_context(
            data,
            model=model,
            methods=_names(methods),
            limit=limit,
            detail=report is not None,
            thoughts=planner,
            progress=progress,
        ),
        table,
        out,
        json,
        None if report is None else (page, report),
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


@app.command("calls")
def calls(
    data: Annotated[
        str,
        typer.Option(
            "--data", help="bfcl:multiple, bfcl:live_multiple, or a folder with tools.json."
        ),
    ],
    methods: Methods = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only N cases, drawn by seed.")
    ] = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """One call of other people's tools, untrained. Resumes where it stopped, with --out.

    Example: ctrag eval calls --data bfcl:multiple --limit 50 --out runs/calls.json
    """
    from eval.calls import run_calls, table

    _report(
        lambda: run_calls(
            data,
            methods=_names(methods),
            limit=limit,
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
    page: "tuple[Callable[[Experiment], Report], Path] | None" = None,
) -> None:
    """Run, write what is to be written, print.

    Args:
        run: Makes the experiment.
        table: What is printed of it.
        out: File for its JSON, or None.
        json: Whether the JSON is printed instead of the table.
        page: What makes the page of it and the folder for that, or None.
    """
    if out is not None and not out.parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(out.parent))
    if page is not None:
        page[1].mkdir(parents=True, exist_ok=True)  # what cannot be made is told before the work
    experiment = run()
    if out is not None:
        experiment.write(out)
    written = None
    if page is not None:
        from eval.report import write_report

        written = write_report(experiment, *page)
    if json:
        print_json(experiment.model_dump(mode="json"))
        return
    for row in table(experiment).lines():
        line(row)
    if written is not None:
        line(f"page: {written}")
