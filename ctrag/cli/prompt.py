"""`ctrag prompt`: the assembled prompt of a step."""

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ctrag.agents.prompt.settings import BUDGET, FLOOR
from ctrag.cli.options import Json
from ctrag.cli.output import block, line, note, print_json
from ctrag.cli.writable import file_to_write
from ctrag.errors import InputError

if TYPE_CHECKING:
    from ctrag.agents.prompt.assembly import Prompt
    from ctrag.agents.prompt.forms import Form
    from ctrag.agents.prompt.tool_documents import ToolDocument

Instructions = Annotated[
    Path, typer.Option(help="Folder of .md, .mdc and .txt policies and of skills; or one file.")
]
Index = Annotated[
    Path | None, typer.Option(help="Folder of index and change log. Default: in the cache.")
]


def prompt(
    text: Annotated[str, typer.Argument(help="The request.")],
    instructions: Instructions,
    catalogue: Annotated[Path, typer.Option(help="A tools.json or toolbox.yaml.")],
    budget: Annotated[int, typer.Option(min=1, help="Tokens of the prompt.")] = BUDGET,
    after: Annotated[
        list[str],
        typer.Option(help="Id or name of a tool called before, oldest first; repeatable."),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    fragments: Annotated[int, typer.Option(min=0, help="Fragments at most (K_A).")] = 4,
    tools: Annotated[int, typer.Option(min=0, help="Whole tools at most (K_B).")] = 2,
    signatures: Annotated[
        int, typer.Option(min=0, help="Further tools at most, in one line each.")
    ] = 14,
    tau: Annotated[
        float, typer.Option(min=0, max=1, help="Less sufficient than this: one discovery step.")
    ] = 0.5,
    form: Annotated[
        str,
        typer.Option(help="text, openai or anthropic: what is printed and keeps to the budget."),
    ] = "text",
    discovery: Annotated[str, typer.Option(help="widen, summary or off.")] = "widen",
    rerank: Annotated[
        bool | None,
        typer.Option(
            "--rerank/--no-rerank", help="Re-rank candidates. Default: where there is a re-ranker."
        ),
    ] = None,
    reranker: Annotated[
        Path | None,
        typer.Option(help="Folder of `ctrag train reranker`. Default: CTRAG_RERANKER, else none."),
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option(help="Text file with safety rules in place of the default ones.")
    ] = None,
    pin: Annotated[
        list[str],
        typer.Option(help="DOMAIN=ID of a tool that is always in there; * anywhere; repeatable."),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    gains: Annotated[
        Path | None,
        typer.Option(
            help="Feedback of earlier steps: a file of `ctrag train gains`. Default: CTRAG_GAINS."
        ),
    ] = None,
    called: Annotated[
        list[str],
        typer.Option(
            help="Id or name of a tool that the step then called: learned into --gains; repeatable."
        ),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    traces: Annotated[
        Path | None,
        typer.Option(
            help="What is called after what: a folder of `ctrag train dependency`, or episodes, "
            "queries or a recording, which are counted. Default: CTRAG_DEPENDENCY."
        ),
    ] = None,
    request_weight: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Factor of the request's own score of tools. Default: CTRAG_REQUEST_WEIGHT, else "
            "0.33 beside traces and 1 without.",
        ),
    ] = None,
    review: Annotated[
        bool | None,
        typer.Option(
            "--review/--no-review", help="Serve only what was approved. Default: CTRAG_REVIEW."
        ),
    ] = None,
    index: Index = None,
    telemetry: Annotated[
        Path | None,
        typer.Option(
            callback=file_to_write,
            help="Append what was chosen and why, as JSON lines.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """The smallest prompt for a step: a few fragments and tools under a token budget.

    Example: ctrag prompt --instructions policies --catalogue tools.json --budget 1500
    "cancel my order"
    """
    from ctrag.agents.prompt.assembly import OVERLAY
    from ctrag.agents.prompt.builder import PromptBuilder
    from ctrag.agents.prompt.forms import check_form
    from ctrag.agents.prompt.gains import Gains
    from ctrag.agents.prompt.settings import PromptSettings, weighed
    from ctrag.agents.prompt.telemetry import nowhere, to_file
    from ctrag.settings import settings

    check_form(form)
    predicted = traces or settings().dependency
    learned = gains or settings().gains
    if called and learned is None:
        raise InputError("--called: give --gains FILE, where it is learned")
    builder = PromptBuilder.open(
        instructions,
        catalogue,
        index=index,
        review=review,
        settings=weighed(
            PromptSettings(
                instructions=fragments,
                tools=tools,
                signatures=signatures,
                tau=tau,
                discovery=discovery,
                rerank=rerank is not False,
                floor=FLOOR,
            ),
            predicted=predicted is not None,
            request_weight=request_weight,
        ),
        overlay=OVERLAY if overlay is None else _text(overlay),
        reranker=reranker,
        pinned=_pinned(pin),
        gains=None if learned is None else Gains.load(_gains(learned, called)),
        prior=traces,
        sink=nowhere if telemetry is None else to_file(telemetry),
    )
    if rerank and not builder.reranks:
        raise InputError(
            "--rerank: there is no re-ranker; train one with `ctrag train reranker --data DIR "
            "--out DIR` and name its folder with --reranker or CTRAG_RERANKER"
        )
    if builder.warning:
        note(builder.warning)
    shape = cast("Form", form)
    history = _called(after, builder.tools, "--after")
    then = _called(called, builder.tools, "--called")
    built = builder.build(text, budget, history=history, form=shape)
    if then and learned is not None:
        builder.learn(built, then)
        builder.gains.save(learned)
    if json:
        print_json({**_as_json(built), "problems": dict(builder.problems)})
        return
    block(built.text if shape == "text" else dumps(_payload(built), ensure_ascii=False, indent=1))
    line()
    for one in built.fragments:
        line(f"{one.tokens:>6} tokens  {_score(built, one.id)}  {one.id}", dim=True)
    for tool in built.tools:
        line(
            f"{builder.cost(tool.id, shape):>6} tokens  {_score(built, tool.id)}  {tool.id}",
            dim=True,
        )
    for tool in built.signatures:
        line(f"        in short  {_score(built, tool.id)}  {tool.id}", dim=True)
    say_read(builder.ignored, builder.problems)
    if built.dropped:
        note(f"no room in {budget} tokens for what always holds: {', '.join(built.dropped)}")
    if built.fallback:
        line(f"{built.tokens:>6} tokens; the full prompt, since retrieval broke: {built.fallback}")
        return
    line(
        f"{built.tokens:>6} of {budget} tokens; sufficiency {built.sufficiency or 0:.2f}"
        + ("; discovery step taken" if built.discovered else "")
    )


def _gains(path: Path, called: list[str]) -> Path:
    """The file, which is there unless this step begins it."""
    if not called and not path.exists():
        raise InputError(f"--gains: no such file {path}; `ctrag train gains` makes one")
    return path


def say_read(ignored: "Sequence[tuple[str, int]]", problems: "Sequence[tuple[str, str]]") -> None:
    """What of the files was left out, or means nothing here."""
    for file, why in problems:
        line(f"{file}: {why}", dim=True)
    if ignored:
        keys = ", ".join(f"{key} ({files})" for key, files in ignored)
        line(f"keys of front matter that mean nothing here, with their files: {keys}", dim=True)


def _called(after: list[str], tools: "Sequence[ToolDocument]", option: str) -> list[str]:
    """Ids of the tools that were called; a name does where one tool alone has it."""
    found = []
    for one in after:
        fitting = [tool.id for tool in tools if tool.id == one]
        fitting = fitting or [tool.id for tool in tools if one in (tool.name, tool.tool.name)]
        if len(fitting) != 1:
            problem = (
                f"is one of {', '.join(fitting)}" if fitting else "is no tool of the catalogue"
            )
            raise InputError(f"{option}: {one!r} {problem}; give an id such as {tools[0].id!r}")
        found += fitting
    return found


def _pinned(pins: list[str]) -> dict[str, list[str]]:
    """Ids of pinned tools by domain."""
    found: dict[str, list[str]] = {}
    for one in pins:
        domain, _, tool = one.partition("=")
        if not domain or not tool:
            raise InputError(f"--pin: must be DOMAIN=ID, or *=ID for anywhere, not {one!r}")
        found.setdefault(domain, []).append(tool)
    return found


def _score(built: "Prompt", unit: str) -> str:
    """Its share of the chances; the full prompt has none."""
    return f"{built.scores[unit]:.3f}" if unit in built.scores else "    –"


def _as_json(built: "Prompt") -> dict[str, Any]:
    return {
        "text": built.text,
        "tokens": built.tokens,
        "budget": built.budget,
        "form": built.form,
        "fragments": [
            {"id": one.id, "tokens": one.tokens, "recency": one.recency} for one in built.fragments
        ],
        "tools": [{"id": one.id, "name": one.name} for one in built.tools],
        "signatures": [{"id": one.id, "name": one.name} for one in built.signatures],
        "scores": built.scores,
        "dropped": list(built.dropped),
        "sufficiency": built.sufficiency,
        "discovered": built.discovered,
        "fallback": built.fallback,
        **({} if built.form == "text" else {built.form: _payload(built)}),
    }


def _payload(built: "Prompt") -> dict[str, Any]:
    """What a chat API takes."""
    return built.anthropic() if built.form == "anthropic" else built.openai()


def _text(path: Path) -> str:
    from ctrag.errors import reading

    with reading(path):
        return path.read_text(encoding="utf-8-sig")
