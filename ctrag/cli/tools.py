"""`ctrag tools`: search in a tool catalogue."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json

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
    catalogue: Annotated[Path, typer.Option(help="A tools.json or toolbox.yaml.")],
    k: Annotated[int, typer.Option("-k", help="How many tools.")] = 5,
    json: Json = False,
) -> None:
    """Find the tools of a catalogue that fit a request.

    Example: ctrag tools search "book a flight" --catalogue tools.json -k 3
    """
    from ctrag.tools.index import ToolIndex

    hits = ToolIndex.from_file(catalogue).search(text, k)
    if json:
        print_json(
            [
                {
                    "id": hit.tool.id,
                    "name": hit.tool.name,
                    "server": hit.tool.server,
                    "description": hit.tool.description,
                    "score": round(hit.score, 4),
                    "cosine": round(hit.cosine, 4),
                    "lexical": round(hit.lexical, 4),
                }
                for hit in hits
            ]
        )
        return
    for hit in hits:
        line(f"{hit.score:.3f}  {hit.tool.id}  {hit.tool.description}")
