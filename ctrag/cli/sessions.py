"""`ctrag session`: recorded sessions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.options import Json
from ctrag.cli.output import block, line, note, print_json

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

    if page is not None and not web:
        raise typer.BadParameter("PAGE is written by --web only")
    if web and json:
        raise typer.BadParameter("give --web or --json, not both")
    records = _read(file)
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
        note("page", page, person)
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

    tools = [] if catalogue is None else load_catalogue(catalogue)
    recorded = (one for one in _read(file) if isinstance(one, Event))
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


def _read(file: Path) -> "list[RecordedTurn | Event]":
    """What is in the file; a line that is damaged costs itself and is said."""
    from ctrag.cli.session_file import read_session
    from ctrag.errors import InputError

    left_out: list[str] = []
    records = list(read_session(file, left_out))
    if left_out and not records:
        raise InputError(left_out[0])
    if left_out:
        note(f"lines left out: {len(left_out)}; the first: {left_out[0]}")
    return records


@app.command("observe")
def observe(
    recordings: Annotated[
        list[Path] | None,
        typer.Argument(help="Recordings of `ctrag serve mcp`, or folders of them."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Folder of `ctrag train dependency`. Default: CTRAG_DEPENDENCY."),
    ] = None,
    request: Annotated[
        str | None, typer.Option(help="One request, in place of recordings, with its --call.")
    ] = None,
    call: Annotated[
        list[str], typer.Option(help="Id of a tool that was called for it, in order; repeatable.")
    ] = [],  # noqa: B006  # typer reads it, nothing changes it
    json: Json = False,
) -> None:
    """Teach a trained next-tool model what agents did; a gateway that runs with it learns too.

    Sessions that it knows already count once.

    Example: ctrag session observe gateway.jsonl --model runs/dependency
    """
    from ctrag.agents.next_tool import NextTool
    from ctrag.agents.next_tool.teaching import teach
    from ctrag.agents.session.lessons import lessons_of
    from ctrag.agents.session.recording import read_recordings
    from ctrag.cli.recordings import say_counts
    from ctrag.errors import InputError
    from ctrag.settings import settings

    if bool(recordings) == (request is not None):
        raise InputError("give recordings, or --request with its --call")
    folder = model or settings().dependency
    if folder is None:
        raise InputError("--model: name the folder of `ctrag train dependency`")
    learner = NextTool.load(folder.expanduser())
    if request is not None:
        if not call:
            raise InputError("--call: name what was called for the request")
        learner.observe(request, call)
        found = {"learned": 1}
    else:
        recording = read_recordings(recordings or [])
        lessons = lessons_of(recording)
        found = teach(learner, lessons.next_tool)
        say_counts((recordings or [])[0], lessons.learned, lessons.left_out, recording.first)
    if json:
        print_json(found)
        return
    line(f"{folder}: {', '.join(f'{count} {name}' for name, count in found.items())}")


def _list(title: str, counts: "Mapping[str, int]", most: int) -> None:
    """A list with its length; the first `most` entries with their counts."""
    line(f"{title}: {len(counts)}", bold=True)
    for name, count in list(counts.items())[:most]:
        line(f"  {count or ''}  {_plain(name) or '(text not recorded)'}")
    if len(counts) > most:
        line(f"  … {len(counts) - most} more", dim=True)


def _show_turn(turn: "RecordedTurn") -> None:
    from ctrag.agents.session.events import number_in

    line(f"{turn.asked_at}  {turn.person}: {turn.text}", bold=True)
    line(f"  items {', '.join(turn.items)}")
    line(f"  tools {', '.join(turn.tools)}")
    line(f"  plan  {turn.plan}   (confidence {turn.confidence:.2f})")
    for step in turn.steps:
        took = number_in(step.get("milliseconds")) or 0.0
        line(f"    {step.get('step', '')}  {took:.1f} ms", dim=True)
    if turn.answer is not None:
        block(f"  {turn.status}: {turn.answer}", indent="  ")


def _show_event(event: "Event") -> None:
    took = "" if event.seconds is None else f"  {1000 * event.seconds:.1f} ms"
    name = event.event.removeprefix("ctrag.")
    line(f"{_time(event.at)}  {event.session}  {name}{took}", bold=event.event == "ctrag.search")
    for attribute, value in event.attributes.items():
        shown = _plain(value)
        if attribute == "ctrag.definitions" and isinstance(value, list):
            shown = f"of {len(value)} tools"
        line(f"    {attribute}  {shown}", dim=True)


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
