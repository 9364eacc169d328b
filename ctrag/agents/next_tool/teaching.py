"""Recorded sessions teach a next-tool model that is in use: from a file, or as they end."""

import logging
import queue
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from ctrag.agents.session.events import Event
from ctrag.agents.session.lessons import PAUSE, TEACHING, Lesson, next_tool_lessons, tasks_of

KNOWN = "known before"
_CLOSED = "ctrag.session.close"
_MOST_EVENTS = 1_000
"""Of a session that are kept until it teaches."""
_log = logging.getLogger(__name__)


class Learner(Protocol):
    """A model that learns while it is used, such as `NextTool` and `TracePrior`."""

    def knows(self, one: Lesson) -> bool:
        """Whether a recorded session has taught it this."""
        ...

    def learn(self, one: Lesson) -> None:
        """Count one lesson."""
        ...


def teach(model: Learner, lessons: Iterable[Lesson]) -> dict[str, int]:
    """Teach lessons, each once; returns how many were learned and how many known.

    Raises:
        OSError: The model's log cannot be written.
    """
    counts = Counter(learned=0)
    for one in lessons:
        if model.knows(one):
            counts[KNOWN] += 1
        else:
            model.learn(one)
            counts["learned"] += 1
    return dict(counts)


def told(counts: Mapping[str, int]) -> str:
    """Counts by what they are of, as one line: `learned 3, known 4`."""
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing"


class SessionTeacher:
    """A sink of events that teaches what sessions did, once they have ended or paused for `PAUSE`.

    Learning runs in a thread of its own: no session waits for it. Give it to `ToolSession(record=)`
    or `Gateway(record=)`, beside others with `together`, and close it in the end.
    """

    def __init__(self, model: Callable[[], Learner | None]) -> None:
        """`model` returns the one that is in use now; None while there is none."""
        self._model = model
        self._open: OrderedDict[str, list[Event]] = OrderedDict()
        self._lock = threading.Lock()
        self._done: queue.SimpleQueue[list[Event] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="session teacher", daemon=True)
        self._thread.start()
        self.learned = 0
        """Lessons so far."""
        self.left_out: Counter[str] = Counter()
        """What taught nothing, by reason."""

    def __call__(self, event: Event) -> None:
        """Take an event; safe for several threads."""
        if event.event not in TEACHING | {_CLOSED} or not event.session:
            return
        with self._lock:
            self._pause(event.at)
            rows = self._open.setdefault(event.session, [])
            rows.append(event)
            self._open.move_to_end(event.session)
            if event.event == _CLOSED or len(rows) >= _MOST_EVENTS:
                self._done.put(self._open.pop(event.session))

    def close(self) -> None:
        """Teach what is left, and wait for it."""
        with self._lock:
            while self._open:
                self._done.put(self._open.popitem(last=False)[1])
        self._done.put(None)  # a second one is read by nobody
        self._thread.join()

    def _pause(self, now: float) -> None:
        """Sessions in which nothing has happened for long."""
        while self._open:
            name, rows = next(iter(self._open.items()))
            if now - rows[-1].at <= PAUSE:
                return
            self._done.put(self._open.pop(name))

    def _run(self) -> None:
        while (rows := self._done.get()) is not None:
            try:
                self._learn(rows)
            except Exception as error:  # a lesson less; the sessions go on
                self.left_out[f"lessons lost to {type(error).__name__}"] += 1
                _log.warning("a session teaches nothing: %s: %s", type(error).__name__, error)

    def _learn(self, rows: list[Event]) -> None:
        model = self._model()
        if model is None:
            return
        for task in tasks_of(rows[0].session, rows, self.left_out):
            found = teach(model, next_tool_lessons(task, self.left_out))
            self.learned += found["learned"]
