"""What the commands of `ctrag eval` share: their options; running an experiment and printing it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.output import line, print_json
from ctrag.cli.writable import file_to_write, folder_to_write

if TYPE_CHECKING:
    from eval.core.experiment import Experiment
    from eval.core.tables import Table
    from eval.report.page import ReportPage

Folder = Annotated[Path, typer.Option("--data", help="A labelled data set folder.")]
Model = Annotated[
    Path | None, typer.Option("--model", help="Ranker folder. Default: the packaged one.")
]
Methods = Annotated[str | None, typer.Option("--methods", help="Only these, separated by commas.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N requests.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        callback=file_to_write,
        help="Write the experiment as JSON.",
    ),
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--report",
        callback=folder_to_write,
        help="Folder for a page (HTML) and the experiment (JSON).",
    ),
]


def names(listed: str | None) -> list[str] | None:
    """The names of a comma-separated list; None, which means all, stays None."""
    return None if listed is None else [one.strip() for one in listed.split(",") if one.strip()]


def rows_beside(out: Path | None) -> Path | None:
    """Where an experiment keeps what it has so far, to go on from there after a stop."""
    return None if out is None else out.with_suffix(".rows.jsonl")


def report_on(
    run: "Callable[[], Experiment]",
    table: "Callable[[Experiment], Table]",
    out: Path | None,
    json: bool,
    page: "Callable[[Experiment], ReportPage] | None" = None,
    folder: Path | None = None,
) -> None:
    """Run, write what is to be written, print.

    Args:
        run: Makes the experiment.
        table: What is printed of it.
        out: File for its JSON, in a folder that is created when missing; None writes nothing.
        json: Whether the JSON is printed instead of the table.
        page: What makes the page of it; written where there is a `folder` for it.
        folder: For the page, or None.
    """
    experiment = run()
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        experiment.write(out)
    written = None
    if page is not None and folder is not None:
        from eval.report.page import write_report

        written = write_report(experiment, page, folder)
    if json:
        print_json(experiment.model_dump(mode="json"))
        return
    for row in table(experiment).lines():
        line(row)
    if written is not None:
        line(f"page: {written}")
