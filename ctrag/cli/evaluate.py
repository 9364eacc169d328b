"""`ctrag eval`: one experiment, the paper's table with our column beside it.

Here those on personal requests; `evaluate_agents` has those on other agents' tools.
"""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli import evaluate_agents, evaluate_learning
from ctrag.cli.experiment import (
    Folder,
    Limit,
    Methods,
    Model,
    Out,
    Page,
    names,
    report_on,
    rows_beside,
)
from ctrag.cli.options import Json
from ctrag.cli.output import progress
from ctrag.errors import InputError

app = typer.Typer(
    help="Experiments.\n\nExample: ctrag eval context --data synth/data/reference/dev",
    no_args_is_help=True,
)


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
    from eval.context.report import context_report
    from eval.context.run import run_context, table

    report_on(
        lambda: run_context(
            data,
            model=model,
            methods=names(methods),
            limit=limit,
            detail=report is not None,
            thoughts=planner,
            progress=progress,
        ),
        table,
        out,
        json,
        context_report,
        report,
    )


@app.command("usage")
def usage(
    data: Folder,
    more: Annotated[
        list[Path], typer.Option("--more", help="Further requests of the same people; repeatable.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    after: Annotated[
        int, typer.Option("--after", min=1, help="Requests of each person that are recorded first.")
    ] = 50,
    model: Model = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """What `ctrag train ranker --from-usage` is worth: later requests before and after it.

    Example: ctrag eval usage --data data/everyday-dev --more synth/data/reference/dev --after 10
    """
    from eval.usage.run import run_usage, table

    report_on(
        lambda: run_usage(data, more=more, after=after, model=model, progress=progress),
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
    from eval.tools.run import run_tools, table

    report_on(
        lambda: run_tools(data, model=model, methods=names(methods), limit=limit), table, out, json
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
    planner: Annotated[
        str,
        typer.Option(
            "--planner", help="embedded, or openai for the endpoint that CTRAG_OPENAI_… name."
        ),
    ] = "embedded",
    json: Json = False,
) -> None:
    """Planning in five settings: Table 3 of the paper. Resumes where it stopped, with --out.

    Example: ctrag eval planner --data synth/data/reference/dev --limit 20 --out runs/planner.json
    """
    from eval.planner.run import run_planner, table

    report_on(
        lambda: run_planner(
            data,
            model=model,
            planner=planner,
            methods=names(methods),
            limit=limit,
            free=free,
            progress=progress,
            resume=rows_beside(out),
        ),
        table,
        out,
        json,
    )


@app.command("spoken")
def spoken(
    data: Annotated[
        Path, typer.Option("--data", help="Folder with accept.json and the requests of SLURP.")
    ],
    people: Annotated[
        Path | None,
        typer.Option(
            "--people", help="Whose people ask in turn. Default: p007 and p204 of the packaged dev."
        ),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", help="Which requests: NAME.jsonl in the folder.")
    ] = "dev",
    model: Model = None,
    limit: Limit = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Plain requests of strangers: right API, words kept. Resumes where it stopped, with --out.

    Example: ctrag eval spoken --data ../shared/data/external/spoken --out runs/spoken.json
    """
    from eval.spoken.run import run_spoken, table

    report_on(
        lambda: run_spoken(
            data,
            people=people,
            split=split,
            model=model,
            limit=limit,
            progress=progress,
            resume=rows_beside(out),
        ),
        table,
        out,
        json,
    )


@app.command("synth")
def synth(
    data: Annotated[Path, typer.Option("--data", help="A folder of `ctrag synth dataset`.")],
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            help="Of texts, ranker, tools, planner; all but texts train for hours. Default: texts.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only N people of each data set.")
    ] = None,
    requests: Annotated[
        int | None, typer.Option("--requests", min=1, help="Test on the first N dev requests.")
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option("--work", help="Folder of what is trained; a rerun goes on from it."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads to compute with.")] = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Synthetic data: how its requests read, and what is learned from it, tested on dev.

    Example: ctrag eval synth --data data/synthetic
    """
    from eval.synth.run import run_synth, table

    wanted = names(methods) or ["texts"]
    trained = None
    if set(wanted) - {"texts"}:
        from training.ranker.synthetic import Comparison

        if work is None:
            raise InputError("--work: give a folder to keep what is trained")
        trained = Comparison(work, limit, requests, threads=threads, progress=progress).rows
    report_on(
        lambda: run_synth(data, trained=trained, methods=wanted, limit=limit, progress=progress),
        table,
        out,
        json,
    )


app.command("discovery")(evaluate_agents.discovery)
app.command("given")(evaluate_agents.given)
app.command("dependency")(evaluate_agents.dependency)
app.command("instructions")(evaluate_agents.instructions)
app.command("skills")(evaluate_agents.skills)
app.command("calls")(evaluate_agents.calls)
app.command("learning")(evaluate_learning.learning)
app.command("prior")(evaluate_learning.prior)
app.command("fetch")(evaluate_learning.fetch)
