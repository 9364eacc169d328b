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


@app.command("discovery")
def discovery(
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            help="Folder with tools.json and queries.jsonl, a data set folder, or bfcl-live or "
            "bfcl: the functions of bfcl-eval, pooled.",
        ),
    ],
    methods: Methods = None,
    limit: Limit = None,
    large: Annotated[
        int | None, typer.Option("--large", min=1, help="Also time catalogues up to this size.")
    ] = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Tool discovery: tokens, latency and recall, tables 1 and 2 of the paper.

    Example: ctrag eval discovery --data bfcl-live --large 4000
    """
    from eval.discovery import run_discovery, table

    _report(
        lambda: run_discovery(
            data, methods=_names(methods), limit=limit, large=large, progress=progress
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
    from eval.synth import run_synth, table

    wanted = _names(methods) or ["texts"]
    trained = None
    if set(wanted) - {"texts"}:
        from training.synthetic import Comparison

        if work is None:
            raise ValueError("--work: give a folder to keep what is trained")
        trained = Comparison(work, limit, requests, threads=threads, progress=progress).rows
    _report(
        lambda: run_synth(data, trained=trained, methods=wanted, limit=limit, progress=progress),
        table,
        out,
        json,
    )


@app.command("dependency")
def dependency(
    data: Annotated[
        Path,
        typer.Option("--data", help="Folder with queries, episodes or conversations (.jsonl)."),
    ],
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            help="Folder of `ctrag train dependency`: nothing is fitted. "
            "Default: fit on what is not held out.",
        ),
    ] = None,
    methods: Methods = None,
    limit: Limit = None,
    out: Out = None,
    report: Page = None,
    prompt: Annotated[
        int,
        typer.Option(
            "--prompt", min=0, help="Also ask the embedded model, for so many held-out steps."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Decides folds and samples.")] = 1,
    json: Json = False,
) -> None:
    """The next tool, from request and history: tables 2 and 4, figures 3 and 5 of the DTDR paper.

    With --report, also the ablations and the tools without a demonstration, which fit again.

    Example: ctrag eval dependency --data ../shared/data/external/ultratool-chains
    """
    from ctrag.tools.dependency import NextTool
    from eval.dependency import run_dependency, table
    from training.dependency import fitting

    def page(experiment: "Experiment") -> "Report":
        from eval.dependency_report import dependency_report

        return dependency_report(experiment)

    _report(
        lambda: run_dependency(
            data,
            None if model is not None else fitting(data, seed=seed, progress=progress),
            model=None if model is None else NextTool.load(model),
            methods=_names(methods),
            limit=limit,
            prompt=prompt,
            detail=report is not None,
            progress=progress,
        ),
        table,
        out,
        json,
        None if report is None else (page, report),
    )


@app.command("instructions")
def instructions(
    data: Annotated[Path, typer.Option("--data", help="An episodes folder.")],
    model: Annotated[
        Path | None, typer.Option("--model", help="Re-ranker folder. Default: the packaged one.")
    ] = None,
    methods: Methods = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only the first N episodes.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option("--sizes", help="Catalogue sizes: some of 8,40,120,full.")
    ] = None,
    scored: Annotated[
        int, typer.Option("--scored", min=0, help="Steps at which a model chooses a tool.")
    ] = 0,
    planner: Annotated[
        str, typer.Option("--planner", help="Who chooses: embedded or openai.")
    ] = "embedded",
    budget: Annotated[int, typer.Option(min=1, help="Tokens of an ITR prompt.")] = 2400,
    ablations: Annotated[
        bool, typer.Option("--ablations/--no-ablations", help="Also what each part is worth.")
    ] = True,
    out: Out = None,
    report: Page = None,
    json: Json = False,
) -> None:
    """Prompts of a few fragments and tools against whole ones: the tables of the ITR paper.

    Choices are kept beside --out: a stopped run goes on from there.

    Example: ctrag eval instructions --data tau2-episodes --scored 60 --out runs/instructions.json
    """
    from ctrag.settings import settings
    from eval.instruction_steps import SIZES
    from eval.instruction_table import table
    from eval.instructions import run_instructions
    from eval.tool_choice import EmbeddedChooser, EndpointChooser

    def page(experiment: "Experiment") -> "Report":
        from eval.instruction_report import instruction_report

        return instruction_report(experiment)

    options = settings()
    if planner not in ("embedded", "openai"):
        raise ValueError(f"--planner: must be embedded or openai, not {planner!r}")
    chooser: EmbeddedChooser | EndpointChooser = EmbeddedChooser(threads=options.threads)
    if planner == "openai":
        chooser = EndpointChooser(
            options.openai_base_url,
            options.openai_model,
            options.openai_api_key.get_secret_value(),
            options.openai_timeout,
        )
    _report(
        lambda: run_instructions(
            data,
            model=model,
            methods=_names(methods),
            limit=limit,
            sizes=_names(sizes) or SIZES,
            scored=scored,
            chooser=chooser,
            everywhere=planner == "openai",
            budget=budget,
            ablations=ablations,
            resume=None if out is None else out.with_suffix(".rows.jsonl"),
            progress=progress,
        ),
        table,
        out,
        json,
        None if report is None else (page, report),
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
