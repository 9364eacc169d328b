"""A recorded session as one file: no network, no script."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctrag.agents.session.events import Event, number_in
from ctrag.assistant.record import RecordedTurn
from ctrag.web.deeds import by_session, deed, summary
from ctrag.web.pages import html, static
from ctrag.web.steps import ShownStep, timed

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A recorded request."""

    turn: RecordedTurn
    steps: tuple[ShownStep, ...]
    total: float
    """Milliseconds."""
    details: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """(step, (name, value) of what came out of it)."""


def session_page(records: Iterable[RecordedTurn | Event], title: str) -> str:
    """The page of a session file.

    Args:
        records: As `read_session` gives them.
        title: What it is called, such as the file's name.
    """
    turns: list[ShownTurn] = []
    recorded: list[Event] = []
    for one in records:
        if isinstance(one, Event):
            recorded.append(one)
        else:
            turns.append(_turn(one))
    page = html(
        "session.html.j2",
        title=title,
        turns=turns,
        sessions=by_session([deed(one, number) for number, one in enumerate(recorded)]),
        summary=summary(recorded) if recorded else None,
        styles=[static("colours.css"), static("pages.css")],
    )
    return page.encode("utf-8", "replace").decode()  # texts of a record may hold half of a pair


def _turn(turn: RecordedTurn) -> ShownTurn:
    times = [
        (str(step.get("step", "")), number_in(step.get("milliseconds")) or 0.0)
        for step in turn.steps
    ]
    steps, total = timed(times)
    details = tuple(
        (str(step.get("step", "")), tuple(_lines(step.get("outputs")))) for step in turn.steps
    )
    return ShownTurn(turn, steps, total, details)


def _lines(outputs: Any) -> "Iterable[tuple[str, str]]":
    from json import dumps

    values: Mapping[str, Any] = outputs if isinstance(outputs, dict) else {}
    for name, value in values.items():
        yield name, value if isinstance(value, str) else dumps(value, ensure_ascii=False)
