"""`ctrag tools next`: which tool comes next, and the prompt that asks a model for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import block, line, print_json
from ctrag.errors import InputError

if TYPE_CHECKING:
    from ctrag.agents.next_tool import Demonstration, NextTool
    from ctrag.agents.next_tool.traces import TracePrior

    Ranked = Sequence[tuple[str, float]]


def next_tool(
    text: Annotated[str, typer.Argument(help="The request.")],
    traces: Annotated[
        Path | None,
        typer.Option(
            help="What is called after what: a folder of `ctrag train dependency`, or episodes, "
            "queries or a recording, which are counted. Default: CTRAG_DEPENDENCY."
        ),
    ] = None,
    catalogue: Annotated[
        Path | None,
        typer.Option(help="Tools that can be called. Default: all that the traces know."),
    ] = None,
    after: Annotated[
        list[str],
        typer.Option(help="Id or name of a tool called before, oldest first; repeatable."),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    k: Annotated[int, typer.Option("-k", min=1, help="How many tools.")] = 5,
    mask: Annotated[
        str | None,
        typer.Option(
            help="Print the prompt that asks a model for the next tool: none, raw_demonstrations, "
            "soft_mask, weighted_soft_mask, hard_mask or weighted_hard_mask."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """The tools that come next most likely, or the prompt that lets a model choose among them.

    Example: ctrag tools next "cancel my order" --traces runs/dependency --after shop/find_order
    """
    from ctrag.agents.catalogue.tool import load_catalogue
    from ctrag.agents.next_tool import END, NextTool
    from ctrag.agents.next_tool.opening import open_next_tool
    from ctrag.agents.prompt.masks import GUIDE, STRATEGIES, prompt_of
    from ctrag.settings import settings

    if mask is not None and mask not in STRATEGIES:
        raise InputError(f"--mask: {mask!r} is unknown; known: {', '.join(STRATEGIES)}")
    path = traces or settings().dependency
    if path is None:
        raise InputError(
            "--traces: give a folder of `ctrag train dependency`, or episodes, queries or a "
            "recording"
        )
    if not text.strip():
        raise InputError("TEXT: must not be empty")
    path = path.expanduser()
    tools = [] if catalogue is None else load_catalogue(catalogue)
    offered = [tool.id for tool in tools]
    model = open_next_tool(path, catalogue=offered)
    if isinstance(model, NextTool):
        model.add_tools(tools)
    history = _called(after, [name for name, _ in model.rank(text) if name != END])
    ranked = _ranked(model, text, history, offered)
    if mask is None:
        if json:
            print_json([{"id": name, "probability": round(one, 4)} for name, one in ranked[:k]])
            return
        for name, chance in ranked[:k]:
            line(f"{chance:.3f}  {name}")
        return
    prompt = prompt_of(mask, ranked, text, history, _demonstrations(model, path))
    user = prompt.constant + prompt.variable
    if json:
        messages = [{"role": "system", "content": GUIDE}, {"role": "user", "content": user}]
        print_json({"messages": messages, "answers": list(prompt.exposed)})
        return
    block(f"{GUIDE}\n\n{user}")
    line()
    line(f"The answer is one of {len(prompt.exposed)}: {', '.join(prompt.exposed)}", dim=True)


def _called(after: Sequence[str], known: Sequence[str]) -> list[str]:
    """Ids of the tools that were called; a name does where one tool alone has it."""
    found = []
    for one in after:
        fitting = [name for name in known if name == one]
        fitting = fitting or [name for name in known if name.rpartition("/")[2] == one]
        if len(fitting) != 1:
            problem = f"is one of {', '.join(fitting)}" if fitting else "is in no trace"
            raise InputError(f"--after: {one!r} {problem}; give an id such as {known[0]!r}")
        found += fitting
    return found


def _ranked(
    model: "NextTool | TracePrior", text: str, history: Sequence[str], offered: Sequence[str]
) -> "Ranked":
    """Those that can be called, and the end, with probabilities that sum to 1."""
    from ctrag.agents.next_tool import END, NextTool

    if isinstance(model, NextTool):
        return model.rank(text, history, tools=offered or None)
    kept = [
        (name, chance)
        for name, chance in model.rank(text, history)
        if not offered or name == END or name in offered
    ]
    total = sum(chance for _, chance in kept)
    return [(name, chance / total) for name, chance in kept]


def _demonstrations(model: "NextTool | TracePrior", path: Path) -> "Sequence[Demonstration]":
    """What the model learned from, by the ids of tools where it knows them."""
    from ctrag.agents.next_tool import NextTool
    from ctrag.agents.next_tool.demonstrations import read_demonstrations
    from ctrag.agents.next_tool.texts import with_ids

    if isinstance(model, NextTool):
        return model.memory.demonstrations
    read = read_demonstrations(path)
    return with_ids(read.demonstrations, [tool.id for tool in read.tools])
