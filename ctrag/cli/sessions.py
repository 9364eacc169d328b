"""`ctrag session`: recorded sessions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import block, line, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    page: Annotated[
        Path | None,
        typer.Argument(help="The page that --web writes. Default: the file's name with .html."),
    ] = None,
    web: Annotated[
        bool, typer.Option("--web", help="Write a page to open in a browser, in place of text.")
    ] = False,
    json: Json = False,
) -> None:
    """Show a recorded session: its requests, and every decision on tools.

    Example: ctrag session show chat.jsonl
    """
    from ctrag.assistant.record import RecordedTurn
    from ctrag.cli.session_file import read_session

    if page is not None and not web:
        raise typer.BadParameter("PAGE is written by --web only")
    if web and json:
        raise typer.BadParameter("give --web or --json, not both")
    records = list(read_session(file))
    if web:
        line(str(_write_page(records, file, page or file.with_suffix(".html"))))
        return
    if json:
        print_json([one.model_dump() for one in records])
        return
    for one in records:
        if isinstance(one, RecordedTurn):
            _show_turn(one)
        else:
            _show_event(one)


def _write_page(records: "Sequence[RecordedTurn | Event]", file: Path, page: Path) -> Path:
    """The page's path; `ctrag forget` erases a person's page as it does their records."""
    from ctrag.assistant.record import RecordedTurn
    from ctrag.assistant.written import note
    from ctrag.cli.writable import file_to_write
    from ctrag.web.session_page import session_page
    from stores.files import write_text

    if page.resolve() == file.resolve():
        raise typer.BadParameter(f"{page} is the record itself; name another page")
    file_to_write(page)
    for person in {one.person for one in records if isinstance(one, RecordedTurn)}:
        note("record", page, person)
    write_text(page, session_page(records, file.name), private=True)
    return page


@app.command("report")
def report(
    file: Annotated[
        Path, typer.Argument(help="What `ctrag serve mcp --record` or a JSON lines recorder wrote.")
    ],
    catalogue: Annotated[
        Path | None,
        typer.Option(help="The catalogue that was searched, where the record does not say."),
    ] = None,
    most: Annotated[int, typer.Option("-k", min=1, help="Entries of each list.")] = 10,
    json: Json = False,
) -> None:
    """What recorded sessions searched in vain and found in vain, and the tokens that they saved.

    Example: ctrag session report gateway.jsonl
    """
    from ctrag.agents.catalogue.tool import load_catalogue
    from ctrag.agents.session.events import Event
    from ctrag.agents.session.report import report as reported
    from ctrag.agents.session.tokens import tool_tokens
    from ctrag.cli.session_file import read_session

    tools = [] if catalogue is None else load_catalogue(catalogue)
    recorded = (one for one in read_session(file) if isinstance(one, Event))
    found = reported(recorded, {one.id: tool_tokens(one) for one in tools})
    if json:
        print_json(found.as_json())
        return
    line(
        f"{found.sessions} sessions, {found.searches} searches, {found.calls} calls "
        f"({found.failed.total()} failed, {found.refused.total()} refused, "
        f"{found.loops.total()} in a loop)",
        bold=True,
    )
    if found.saved is None:
        line("tokens saved: not known; give --catalogue")
    else:
        kept, listed = sum(found.bound_tokens), sum(found.listed_tokens)
        line(f"tokens of tools: {kept:,} in place of {listed:,}, {100 * found.saved:.1f} % saved")
    _list("searches that found nothing", found.empty, most)
    _list("searches without a call", found.without_call, most)
    _list("failed calls", found.failed, most)
    _list(
        "found and not called", {name: found.found[name] for name in found.found_not_called}, most
    )
    _list("never found", dict.fromkeys(found.never_found, 0), most)


def _list(title: str, counts: "Mapping[str, int]", most: int) -> None:
    """A list with its length; the first `most` entries with their counts."""
    line(f"{title}: {len(counts)}", bold=True)
    for name, count in list(counts.items())[:most]:
        line(f"  {count or ''}  {_plain(name) or '(text not recorded)'}")
    if len(counts) > most:
        line(f"  … {len(counts) - most} more", dim=True)


def _show_turn(turn: "RecordedTurn") -> None:
    line(f"{turn.asked_at}  {turn.person}: {turn.text}", bold=True)
    line(f"  items {', '.join(turn.items)}")
    line(f"  tools {', '.join(turn.tools)}")
    line(f"  plan  {turn.plan}   (confidence {turn.confidence:.2f})")
    for step in turn.steps:
        line(f"    {step['step']}  {step['milliseconds']:.1f} ms", dim=True)
    if turn.answer is not None:
        block(f"  {turn.status}: {turn.answer}", indent="  ")


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
    from json import dumps

    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)
