"""`ctrag session`: recorded sessions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import line, print_json

if TYPE_CHECKING:
    from ctrag.agents.session.events import Event
    from ctrag.assistant.record import RecordedTurn

app = typer.Typer(
    help="Recorded sessions.\n\nExample: ctrag session show chat.jsonl", no_args_is_help=True
)


@app.callback()
def _group() -> None:
    pass


@app.command("show")
def show(
    file: Annotated[
        Path,
        typer.Argument(help="What `ctrag chat --record` or a session's JSON lines recorder wrote."),
    ],
    json: Json = False,
) -> None:
    """Show a recorded session: its requests, and every decision on tools.

    Example: ctrag session show chat.jsonl
    """
    from ctrag.assistant.record import RecordedTurn
    from ctrag.cli.session_file import read_session

    records = list(read_session(file))
    if json:
        print_json([one.model_dump() for one in records])
        return
    for one in records:
        if isinstance(one, RecordedTurn):
            _show_turn(one)
        else:
            _show_event(one)


def _show_turn(turn: "RecordedTurn") -> None:
    line(f"{turn.asked_at}  {turn.person}: {turn.text}", bold=True)
    line(f"  items {', '.join(turn.items)}")
    line(f"  tools {', '.join(turn.tools)}")
    line(f"  plan  {turn.plan}   (confidence {turn.confidence:.2f})")
    for step in turn.steps:
        line(f"    {step['step']}  {step['milliseconds']:.1f} ms", dim=True)
    if turn.answer is not None:
        line(f"  {turn.status}: {turn.answer}".replace("\n", "\n  "))


def _show_event(event: "Event") -> None:
    took = "" if event.seconds is None else f"  {1000 * event.seconds:.1f} ms"
    name = event.event.removeprefix("ctrag.")
    line(f"{_time(event.at)}  {event.session}  {name}{took}", bold=event.event == "ctrag.search")
    for attribute, value in event.attributes.items():
        line(f"    {attribute}  {_plain(value)}", dim=True)


def _time(seconds: float) -> str:
    from datetime import UTC, datetime

    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):  # a clock that does not count from 1970
        return f"{seconds:.1f}"
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: object) -> str:
    """A value on one line, without what would steer a terminal."""
    from json import dumps

    text = value if isinstance(value, str) else dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else " " for sign in text)
