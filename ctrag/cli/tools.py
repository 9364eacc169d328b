"""`ctrag tools`: search in a tool catalogue."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json, say

if TYPE_CHECKING:
    from ctrag.agents.search.results import ToolHit

SHOWN = 100
"""Characters of a description in a list of tools."""

app = typer.Typer(
    help='Tool catalogues.\n\nExample: ctrag tools search "book a flight" --catalogue tools.json',
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    pass


@app.command("search")
def search(
    text: Annotated[str, typer.Argument(help="What the tool should do.")],
    catalogue: Annotated[
        Path, typer.Option(help="A tools.json, an OpenAPI document or a toolbox.yaml.")
    ],
    k: Annotated[int, typer.Option("-k", help="How many tools.")] = 5,
    server_name: Annotated[
        str, typer.Option(help="Server of the catalogue's tools that name none; of OpenAPI's.")
    ] = "",
    user: Annotated[
        str | None, typer.Option("--user", help="Who asks, where the catalogue has access rules.")
    ] = None,
    expert: Annotated[
        str | None, typer.Option("--expert", help="Agent of the catalogue that searches.")
    ] = None,
    after: Annotated[
        list[str],
        typer.Option(
            help="Id of a tool called before, oldest first; repeatable. Counts with "
            "CTRAG_DEPENDENCY."
        ),
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    lexical: Annotated[
        bool, typer.Option("--lexical", help="By words alone, without an encoder.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also print every step of the search.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print whole descriptions, not their first line.")
    ] = False,
    json: Json = False,
) -> None:
    """Find the tools of a catalogue that fit a request.

    Example: ctrag tools search "book a flight" --catalogue tools.json -k 3
    """
    from ctrag.agents.next_tool.opening import configured_next_tool
    from ctrag.agents.search.index import ToolIndex
    from ctrag.settings import settings

    index = ToolIndex.from_file(
        catalogue,
        next_tool_weight=settings().dependency_weight,
        lexical_only=lexical,
        server=server_name,
    )
    index.next_tool = configured_next_tool([tool.id for tool in index.tools])
    found = index.find(text, k, user, after, expert=expert)
    if json:
        rows = [_row(hit) for hit in found.hits]
        print_json({"hits": rows, "fits": found.fits, "trace": found.trace} if explain else rows)
        return
    if not found.hits:
        line("Nothing fits.", dim=True)
    elif not found.fits:
        say("Nothing fits well; the nearest tools are:")
    for hit in found.hits:
        flat = " ".join(hit.tool.description.split())
        description = flat if full else shortened(flat, SHOWN)
        line(f"{hit.score:.3f}  {hit.tool.id}  {description}")
        if hit.differs:
            line(f"       differs {hit.differs}", dim=True)
    if explain:
        for name, value in found.trace.items():
            line(f"{name}: {value}", dim=True)


def shortened(text: str, most: int) -> str:
    """The first sentence of a text on one line, cut at a word where it is longer than `most`."""
    sentence = re.split(r"(?<=[a-z0-9)][.!?])\s+(?=[A-Z])", text, maxsplit=1)[0]
    if len(sentence) <= most:
        return sentence
    return sentence[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _row(hit: "ToolHit") -> dict[str, object]:
    return {
        "id": hit.tool.id,
        "name": hit.tool.name,
        "server": hit.tool.server,
        "description": hit.tool.description,
        "score": round(hit.score, 4),
        "cosine": round(hit.cosine, 4),
        "lexical": round(hit.lexical, 4),
        "fits": hit.fits,
        "tier": hit.tier,
        "reason": hit.reason,
        "differs": hit.differs,
    }


@app.command("bench")
def bench(
    clients: Annotated[int, typer.Option(min=1, help="Clients that search at once.")] = 16,
    searches: Annotated[int, typer.Option(min=1, help="Searches of all clients.")] = 10_000,
    tools: Annotated[int, typer.Option(min=1, help="Tools that stay.")] = 1_000,
    json: Json = False,
) -> None:
    """Search from many clients while tools are added and removed; counts what goes wrong.

    Example: ctrag tools bench --clients 16 --searches 10000
    """
    from eval.discovery.load import run_load

    found = run_load(clients=clients, searches=searches, tools=tools)
    if json:
        print_json(found)
        return
    for name, value in found.items():
        line(f"{name}: {value}")
