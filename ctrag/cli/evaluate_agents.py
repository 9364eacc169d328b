"""`ctrag eval` on the tools of any agent: finding them, the next one, prompts, calls."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.agents.prompt.settings import BUDGET, FLOOR
from ctrag.cli.experiment import Limit, Methods, Out, Page, names, report_on, rows_beside
from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, progress
from ctrag.errors import InputError


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
    foreign: Annotated[
        Path | None,
        typer.Option("--foreign", help="Data like --data whose requests nothing here answers."),
    ] = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Tool discovery: tokens, latency and recall, tables 1 and 2 of the paper.

    Example: ctrag eval discovery --data bfcl-live --large 4000
    """
    from eval.discovery.run import run_discovery, table

    report_on(
        lambda: run_discovery(
            data,
            methods=names(methods),
            limit=limit,
            large=large,
            foreign=foreign,
            progress=progress,
        ),
        table,
        out,
        json,
    )


def given(
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data",
            help="As for `ctrag eval discovery`; repeatable. Default: all sets of a checkout.",
        ),
    ] = None,
    foreign: Annotated[
        Path | None,
        typer.Option(
            "--foreign",
            help="Data whose requests the other sets do not answer. Default: data/tools/test, "
            "where --data is left out.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only N requests of each set.")
    ] = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """What an agent is given of what the search finds, in one table for many catalogues.

    Example: ctrag eval given --data bfcl-live --data data/tools/real-servers
    """
    from eval.discovery.surfaced import FOREIGN, SETS, run_surfaced, table

    report_on(
        lambda: run_surfaced(
            data or SETS,
            foreign=foreign if data or foreign else FOREIGN,
            limit=limit,
            progress=progress,
        ),
        table,
        out,
        json,
    )


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
            "--prompt", min=0, help="Also ask a language model, for so many held-out steps."
        ),
    ] = 0,
    end_to_end: Annotated[
        int,
        typer.Option(
            "--end-to-end",
            min=0,
            help="Also carry out so many held-out requests, arguments included; wants --planner "
            "openai.",
        ),
    ] = 0,
    planner: Annotated[
        str,
        typer.Option(
            "--planner", help="Who is asked: embedded, or openai, the settings' endpoint."
        ),
    ] = "embedded",
    new_tools: Annotated[
        bool,
        typer.Option("--new-tools", help="Also leave tools without a demonstration: one more fit."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Decides folds and samples.")] = 1,
    json: Json = False,
) -> None:
    """The next tool, from request and history: tables 2 and 4, figures 3 and 5 of the DTDR paper.

    With --report, also the ablations and the tools without a demonstration, which fit again.
    The methods less_is_more and tool_graph ask the endpoint of the settings, if they are named.

    Example: ctrag eval dependency --data ../shared/data/external/ultratool-chains
    """
    from ctrag.agents.next_tool import NextTool
    from ctrag.models.endpoint import chat_endpoint
    from eval.dependency.endpoint import ENDPOINT_METHODS
    from eval.dependency.report import dependency_report
    from eval.dependency.run import run_dependency
    from eval.dependency.table import table
    from training.next_tool.train import fitting

    wanted = names(methods)
    asked = planner == "openai" or not set(ENDPOINT_METHODS).isdisjoint(wanted or ())
    if planner not in ("embedded", "openai"):
        raise InputError(f"--planner: must be embedded or openai, not {planner!r}")
    if new_tools and model is not None:
        raise InputError("--new-tools: fits again without some tools: leave --model out")
    if end_to_end and planner != "openai":
        raise InputError(
            "--end-to-end: a model behind an endpoint fills arguments: give --planner openai"
        )
    report_on(
        lambda: run_dependency(
            data,
            None if model is not None else fitting(data, seed=seed, progress=progress),
            model=None if model is None else NextTool.load(model),
            endpoint=chat_endpoint() if asked else None,
            methods=wanted,
            limit=limit,
            prompt=prompt,
            end_to_end=end_to_end,
            planner=planner,
            detail=report is not None,
            new_tools=new_tools,
            progress=progress,
        ),
        table,
        out,
        json,
        dependency_report,
        report,
    )


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
    budget: Annotated[int, typer.Option(min=1, help="Tokens of an ITR prompt.")] = BUDGET,
    floor: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.99,
            help="Cosine below which an ITR prompt leaves a fragment out; the same default as in "
            "`ctrag prompt`.",
        ),
    ] = FLOOR,
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
    from eval.instructions.report import instruction_report
    from eval.instructions.run import run_instructions
    from eval.instructions.steps import SIZES
    from eval.instructions.table import table
    from eval.instructions.tool_choice import EmbeddedChooser, EndpointChooser

    options = settings()
    if planner not in ("embedded", "openai"):
        raise InputError(f"--planner: must be embedded or openai, not {planner!r}")
    chooser: EmbeddedChooser | EndpointChooser = EmbeddedChooser(threads=options.threads)
    if planner == "openai":
        chooser = EndpointChooser(
            options.openai_base_url,
            options.openai_model,
            options.openai_api_key.get_secret_value(),
            options.openai_timeout,
        )
    report_on(
        lambda: run_instructions(
            data,
            model=model,
            methods=names(methods),
            limit=limit,
            sizes=names(sizes) or SIZES,
            scored=scored,
            chooser=chooser,
            everywhere=planner == "openai",
            budget=budget,
            floor=floor,
            ablations=ablations,
            resume=rows_beside(out),
            progress=progress,
        ),
        table,
        out,
        json,
        instruction_report,
        report,
    )


def skills(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Folder with corpus, tools.json and requests.jsonl. Default: twelve packaged "
            "skills with 32 requests.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Skills: how many of the right ones requests get, and of the others.

    Example: ctrag eval skills
    """
    from eval.instructions.skills import LABELLED, run_skills, table

    figures = run_skills(data or LABELLED)
    if json:
        print_json(figures)
        return
    for one in table(figures).lines():
        line(one)


def calls(
    data: Annotated[
        str,
        typer.Option(
            "--data", help="bfcl:multiple, bfcl:live_multiple, or a folder with tools.json."
        ),
    ],
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only N cases, drawn by seed.")
    ] = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """One call of other people's tools, untrained. Resumes where it stopped, with --out.

    Example: ctrag eval calls --data bfcl:multiple --limit 50 --out runs/calls.json
    """
    from eval.calls.run import run_calls, table

    report_on(
        lambda: run_calls(
            data,
            limit=limit,
            progress=progress,
            resume=rows_beside(out),
        ),
        table,
        out,
        json,
    )
