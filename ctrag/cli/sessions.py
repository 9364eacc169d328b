"""`ctrag session`: recorded sessions."""

from pathlib import Path
from typing import Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json

app = typer.Typer(
    help="Recorded sessions.\n\nExample: ctrag session show chat.jsonl", no_args_is_help=True
)


@app.callback()
def _group() -> None:
    pass


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(help="A file that `ctrag chat --record` wrote.")],
    json: Json = False,
) -> None:
    """Show a recorded session, request by request.

    Example: ctrag session show chat.jsonl
    """
    from ctrag.session.record import read_turns

    turns = list(read_turns(file))
    if json:
        print_json([turn.model_dump() for turn in turns])
        return
    for turn in turns:
        line(f"{turn.asked_at}  {turn.person}: {turn.text}", bold=True)
        line(f"  items {', '.join(turn.items)}")
        line(f"  tools {', '.join(turn.tools)}")
        line(f"  plan  {turn.plan}   (confidence {turn.confidence:.2f})")
        for step in turn.steps:
            line(f"    {step['step']}  {step['milliseconds']:.1f} ms", dim=True)
        if turn.answer is not None:
            line(f"  {turn.status}: {turn.answer}".replace("\n", "\n  "))
