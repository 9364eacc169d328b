"""What recorded sessions teach: tasks with their searches, what these gave, what was called.

A session is cut into tasks where nothing happened for `PAUSE`: a client may keep one session for
all that it does. Only calls that succeeded teach; the repeats of a loop count as one call.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from ctrag.agents.session import events
from ctrag.agents.session.events import Event
from ctrag.agents.session.recording import Recording

PAUSE = 600.0
"""Seconds without search or call after which a session's next task begins."""
LONGEST = 12
"""Calls after a search that it may stand for."""
FAILED, LOOPED = "failed calls", "repeats of a call in a loop"
TEACHING = frozenset({"ctrag.search", "ctrag.tool.call", "ctrag.guard.loop"})
NO_CALLS, NO_WORDS = "tasks without a call", "tasks without a search in words"
UNUSED, BAD_CALL = "searches without a call", "calls without a usable name"


@dataclass(slots=True)
class RecordedSearch:
    """One search of a task."""

    text: str
    """Empty where it was not recorded."""
    found: tuple[str, ...]
    """Ids of what it gave, best first."""
    before: int
    """Calls of the task before it."""


@dataclass(slots=True)
class RecordedTask:
    """What an agent did between two pauses."""

    session: str
    number: int
    """Of the session's tasks, from 0."""
    searches: list[RecordedSearch] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    """Ids of the tools that were called with success, in order."""

    def used(self, place: int) -> list[str]:
        """Ids that the search at a place gave and that were called before the next one."""
        following = self.searches[place + 1 : place + 2]
        last = following[0].before if following else len(self.calls)
        search = self.searches[place]
        called = self.calls[search.before : last]
        return [one for one in dict.fromkeys(called) if one in search.found]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A request, the calls that its task had made before it, and those that came."""

    id: str
    session: str
    text: str
    calls: tuple[str, ...]
    before: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchLesson:
    """A search's words and the tools that it gave and that were used."""

    id: str
    session: str
    text: str
    used: tuple[str, ...]
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lessons:
    """All that a recording teaches, with what it does not."""

    tasks: tuple[RecordedTask, ...]
    next_tool: tuple[Lesson, ...]
    searches: tuple[SearchLesson, ...]
    learned: dict[str, int]
    """How many sessions, tasks, searches and calls there are in the lessons."""
    left_out: dict[str, int]
    """How many lines, searches and calls are not, by reason."""


def lessons_of(recording: Recording) -> Lessons:
    """The lessons of a recording's sessions, in the order of the sessions."""
    left_out = Counter(recording.left_out)
    tasks = [
        task for name, rows in recording.sessions.items() for task in tasks_of(name, rows, left_out)
    ]
    following = [one for task in tasks for one in next_tool_lessons(task, left_out)]
    searches = [one for task in tasks for one in search_lessons(task, left_out)]
    taught = {(one.session, one.id.rpartition("/")[0]) for one in following}
    learned = {
        "sessions": len({session for session, _ in taught}),
        "tasks": len(taught),
        "searches": len(searches),
        "calls": sum(len(task.calls) for task in tasks if (task.session, _name(task)) in taught),
    }
    return Lessons(
        tuple(tasks), tuple(following), tuple(searches), learned, dict(left_out.most_common())
    )


def tasks_of(session: str, rows: Iterable[Event], left_out: Counter[str]) -> list[RecordedTask]:
    """The tasks of one session.

    Args:
        session: Its name.
        rows: Its events, in order of time.
        left_out: Counts what teaches nothing.
    """
    found = [RecordedTask(session, 0)]
    last = float("-inf")
    for event in rows:
        if event.event not in TEACHING:
            continue
        task = found[-1]
        if event.at - (event.seconds or 0.0) - last > PAUSE and (task.calls or task.searches):
            task = RecordedTask(session, len(found))
            found.append(task)
        last = event.at
        match event.event:
            case "ctrag.search":
                task.searches.append(_search(event, len(task.calls)))
            case "ctrag.tool.call":
                _call(task, event, left_out)
            case "ctrag.guard.loop":
                _shorten(task, event, left_out)
    return [one for one in found if one.calls or one.searches]


def next_tool_lessons(task: RecordedTask, left_out: Counter[str]) -> list[Lesson]:
    """A lesson for each search of a task that calls came after.

    Each search's words stand for what is left of the task, since that is what they are asked with:
    the tools that usually come next are offered after every call, whoever searched for them.
    """
    if not task.calls:
        left_out[NO_CALLS] += 1
        return []
    found = [
        Lesson(
            f"{_name(task)}/{place}",
            task.session,
            one.text,
            tuple(task.calls[one.before :][:LONGEST]),
            tuple(task.calls[: one.before]),
        )
        for place, one in enumerate(task.searches)
        if one.text and task.calls[one.before :]
    ]
    if not found:
        left_out[NO_WORDS] += 1
    return found


def search_lessons(task: RecordedTask, left_out: Counter[str]) -> list[SearchLesson]:
    """A lesson for each search of which something was used."""
    found = []
    for place, one in enumerate(task.searches):
        used = task.used(place)
        if used and one.text:
            name = f"{_name(task)}/{place}"
            found.append(SearchLesson(name, task.session, one.text, tuple(used), one.found))
        else:
            left_out[UNUSED] += 1
    return found


def _name(task: RecordedTask) -> str:
    return f"{task.session}/{task.number}"


def _search(event: Event, before: int) -> RecordedSearch:
    text = event.attributes.get(events.QUERY)
    documents = event.attributes.get(events.DOCUMENTS)
    ids = [one.get("id") for one in _rows(documents) if isinstance(one, dict)]
    return RecordedSearch(
        text.strip() if _usable(text) else "", tuple(one for one in ids if _usable(one)), before
    )


def _call(task: RecordedTask, event: Event, left_out: Counter[str]) -> None:
    tool = event.attributes.get(events.TOOL)
    if events.ERROR in event.attributes:
        left_out[FAILED] += 1
    elif not _usable(tool) or tool == "end":  # which ends a plan
        left_out[BAD_CALL] += 1
    else:
        task.calls.append(tool)


def _shorten(task: RecordedTask, event: Event, left_out: Counter[str]) -> None:
    """Leave one of the calls that a loop ends with."""
    tool, count = event.attributes.get(events.TOOL), event.attributes.get("ctrag.guard.count")
    repeats = count - 1 if isinstance(count, int) else len(task.calls)
    while repeats > 0 and len(task.calls) > 1 and task.calls[-1] == task.calls[-2] == tool:
        task.calls.pop()
        left_out[LOOPED] += 1
        repeats -= 1
    for one in task.searches:
        one.before = min(one.before, len(task.calls))


def _rows(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _usable(text: object) -> TypeGuard[str]:
    """Whether it is a text that an encoder accepts."""
    return (
        isinstance(text, str)
        and bool(text.strip())
        and not any("\ud800" <= letter <= "\udfff" for letter in text)
    )
