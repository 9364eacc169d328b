"""`ctrag chat`: the assistant as a conversation."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.ask import agreeing
from ctrag.cli.errors import USER_ERRORS, one_line
from ctrag.cli.options import At, Data, Persona, Place, Reset, Yes, YesUnsure, folder_of, parse_at
from ctrag.cli.output import asked, block, line
from ctrag.cli.writable import file_to_write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctrag.assistant.answer import Answer
    from ctrag.assistant.assistant import Assistant
    from stores.people.changes import OutboxRow

_HELP = """Say what you want. Besides:
  /why      the last answer in full
  /undo     take the last change back
  /place P  say where you are
  /outbox   what was sent or started
  /quit     leave"""


def chat(
    persona: Persona,
    data: Data = None,
    at: At = None,
    place: Place = None,
    planner: Annotated[str, typer.Option(help="embedded or openai.")] = "embedded",
    yes: Yes = False,
    yes_unsure: YesUnsure = False,
    record: Annotated[
        Path | None,
        typer.Option(
            callback=file_to_write,
            help="Session file; `ctrag session show` reads it.",
        ),
    ] = None,
    reset: Reset = False,
) -> None:
    """Talk with the assistant; plans run on that person's stores.

    Example: ctrag chat --persona p007 --place home
    """
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.written import note

    moment = parse_at(at)
    if record is not None:
        note("record", record, persona)
    assistant = Assistant.open(folder_of(persona, data), persona, planner=planner, reset=reset)
    line(f"{assistant.person.profile.name}, /help says what else there is.")
    agree = agreeing(yes, yes_unsure)
    last: Answer | None = None
    for said in _requests():
        word, _, rest = said.partition(" ")
        if word == "/quit":
            break
        if word == "/place":
            place = rest.strip() or None
            continue
        try:
            if said.startswith("/"):
                _command(word, assistant, last)
                continue
            last = assistant.ask(said, moment, place, run=True, confirm=agree)
        except USER_ERRORS as error:  # does not end the conversation
            line(one_line(error))
            continue
        _reply(last)
        if record is not None:
            _record(record, assistant, said, last)


def _requests() -> "Iterator[str]":
    if sys.stdin.isatty():
        return _Prompted()
    return (one.strip() for one in sys.stdin if one.strip())


class _Prompted:
    """Requests typed on a terminal, until end of file."""

    def __iter__(self) -> "_Prompted":
        return self

    def __next__(self) -> str:
        while True:
            try:
                said = asked("> ").strip()
            except EOFError:
                line()
                raise StopIteration from None
            if said:
                return said


def _reply(answer: "Answer") -> None:
    assert answer.result is not None
    about = ", ".join(one.item.id for one in answer.items[:3])
    line(f"{answer.plan}   (from {about})", dim=True)
    if answer.other is not None:
        line(f"or {answer.other}", dim=True)
    block(answer.result.answer)
    for app, reason in answer.unavailable.items():
        line(f"(the {app} store did not answer: {reason})")


def _command(word: str, assistant: "Assistant", last: "Answer | None") -> None:
    from ctrag.cli.ask import show
    from ctrag.cli.data import taken_back

    person = assistant.person.person_id
    if word == "/why":
        if last is None:
            line("Nothing was asked yet.")
        else:
            show(last, explain=True)
    elif word == "/undo":
        line(taken_back(assistant.stores.undo(person)))
    elif word == "/outbox":
        for app, row in _sent(assistant):
            to = f" to {row.entry.recipient}" if row.entry.recipient else ""
            when = f"{row.happened_at:%Y-%m-%d %H:%M}"
            line(f"{when} {app} {row.entry.kind}{to}: {row.entry.content}")
    else:
        block(_HELP)


def _sent(assistant: "Assistant") -> "Iterator[tuple[str, OutboxRow]]":
    """What left the phone, application by application; a store that does not answer is named."""
    from stores.database import StoreUnavailable

    for app in assistant.stores.apps:
        try:
            yield from assistant.stores.outbox(assistant.person.person_id, app.name)
        except StoreUnavailable as error:
            line(f"({error})")


def _record(path: Path, assistant: "Assistant", said: str, answer: "Answer") -> None:
    from ctrag.assistant.answer import answer_json
    from ctrag.assistant.record import RecordedTurn, append_turn
    from stores.people.local_time import format_local_time

    asked = answer.request.asked_at
    append_turn(
        path,
        RecordedTurn(
            person=assistant.person.person_id,
            text=said,
            asked_at=format_local_time(asked),
            items=[one.item.id for one in answer.items],
            tools=[one.tool.api for one in answer.tools],
            plan=str(answer.plan),
            confidence=answer.confidence,
            status=answer.result.status if answer.result else None,
            answer=answer.result.answer if answer.result else None,
            steps=answer_json(asked, said, answer)["trace"],
        ),
    )
