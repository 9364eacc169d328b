"""`ctrag chat`: the assistant as a conversation."""

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctrag.cli.ask import agreeing
from ctrag.cli.errors import USER_ERRORS, one_line
from ctrag.cli.options import At, Data, Persona, Place, Reset, Yes, YesUnsure, folder_of, parse_at
from ctrag.cli.output import block, line
from ctrag.cli.typed import said_lines, waiting
from ctrag.cli.writable import file_to_write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctrag.assistant.answer import Answer
    from ctrag.assistant.apps.execute import Confirm
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.conversation.conversation import Conversation
    from stores.people.changes import OutboxRow

_HELP = """Say what you want; “what can you do” tells what there is. Besides:
  /why      the last answer in full
  /undo     take back what the last turn changed
  /place P  say where you are
  /outbox   what was sent or started
  /reset    forget what was talked about, and take back all changes of a packaged person
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
    plans: Annotated[
        bool, typer.Option("--plans", help="Also show the call of each turn.")
    ] = False,
) -> None:
    """Talk with the assistant; plans run on that person's stores.

    What is said may lean on what was said before, and ask for several things at once.

    Example: ctrag chat --persona p007 --place home
    """
    from ctrag.assistant.written import note
    from stores.people.learned import history_file

    moment = parse_at(at)
    if record is not None:
        note("record", record, persona)
    with waiting("Loading the models"):
        from ctrag.assistant.assistant import Assistant

        assistant = Assistant.open(folder_of(persona, data), persona, planner=planner, reset=reset)
    line(f"{assistant.person.profile.name}, /help says what else there is.")
    ahead: deque[str] = deque()  # said in place of yes or no: the next turn
    agree = _stoppable(agreeing(yes, yes_unsure, ahead.append))
    talk = assistant.conversation()
    last: Answer | None = None
    history = history_file(assistant.stores.root, assistant.person.person_id)
    for said in said_lines(ahead, history):
        word, _, rest = said.partition(" ")
        if word == "/quit":
            break
        if word == "/place":
            place = rest.strip() or None
            continue
        if word == "/reset":
            talk = assistant.conversation()
            line(_reset(assistant))
            continue
        try:
            if said.startswith("/"):
                _command(word, assistant, talk, last)
                continue
            with waiting() as shown:
                last = talk.say(
                    said, moment, place, run=True, confirm=lambda one: shown.pause(agree, one)
                )
        except KeyboardInterrupt:  # ends the request, not the conversation
            line("Stopped.")
            continue
        except USER_ERRORS as error:
            line(one_line(error))
            continue
        _reply(last, plans)
        if record is not None:
            for one in last.parts:
                _record(record, assistant, said, one)


def _stoppable(agree: "Confirm") -> "Confirm":
    """Ctrl-C and the end of input answer a question with no."""

    def answer(question: str) -> bool:
        try:
            return agree(question)
        except (KeyboardInterrupt, typer.Abort):
            line()
            return False

    return answer


def _reply(answer: "Answer", plans: bool) -> None:
    for one in answer.parts:
        if plans and not one.plan.is_none:
            about = ", ".join(found.item.id for found in one.items[:3])
            line(f"{one.plan}   (from {about})", dim=True)
        if one.question is not None:
            line(one.question.text)
            for number, choice in enumerate(one.question.choices, start=1):
                line(f"  {number} {choice}")
        elif one.said:
            block(one.said)
        elif one.result is not None:
            block(one.result.answer)
        for app, reason in one.unavailable.items():
            line(f"(the {app} store did not answer: {reason})")


def _reset(assistant: "Assistant") -> str:
    """Take back the changes of a person of a data set; those of one's own stores stay."""
    if not assistant.frozen_clock:
        return "What was talked about is forgotten; your changes stay (/undo takes them back)."
    stores, person = assistant.stores, assistant.person.person_id
    count = 0
    while stores.changes(person):
        stores.undo(person)
        count += 1
    return f"What was talked about is forgotten; changes taken back: {count}."


def _command(
    word: str, assistant: "Assistant", talk: "Conversation", last: "Answer | None"
) -> None:
    from ctrag.cli.ask import show

    if word == "/why":
        if last is None:
            line("Nothing was asked yet.")
        else:
            for one in last.parts:
                show(one, explain=True)
    elif word == "/undo":
        line(talk.undo())
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
            answer=answer.result.answer if answer.result else answer.said or None,
            steps=answer_json(asked, said, answer)["trace"],
        ),
    )
