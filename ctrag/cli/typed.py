"""What is typed in a conversation, and a sign of life while it is worked on."""

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctrag.cli.output import asked, in_place, line
from stores.files import append_private, make_private_folder, write_text

SOON = 0.3
"""Seconds after which a sign of life is shown."""
_EVERY = 0.4
KEPT = 500
"""Lines of history that are kept at least, and at most twice as many."""


def said_lines(ahead: deque[str], history: Path) -> Iterator[str]:
    """Lines that are said, without empty ones, until the end of input.

    On a terminal with editing, and a history that is kept, where prompt_toolkit is installed;
    Ctrl-C empties the line.

    Args:
        ahead: Lines that were said before they were asked for; these come first.
        history: File of what was said; for its owner alone, the newest `KEPT` lines.
    """
    if not sys.stdin.isatty():
        yield from (one.strip() for one in sys.stdin if one.strip())
        return
    read = _reader(history)
    while True:
        try:
            said = ahead.popleft() if ahead else read().strip()
        except KeyboardInterrupt:
            line()
            continue
        except EOFError:
            line()
            return
        if said:
            yield said


def _reader(history: Path) -> Callable[[], str]:
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory, History, InMemoryHistory
    except ModuleNotFoundError:
        return lambda: asked("> ")
    kept: History
    try:
        make_private_folder(history.parent)
        append_private(history, "")
        kept = FileHistory(history)
        lines = list(kept.load_history_strings())  # newest first
        if len(lines) > 2 * KEPT:
            write_text(history, "", private=True)
            for one in reversed(lines[:KEPT]):
                kept.store_string(one)
    except OSError:  # stores that are only read
        kept = InMemoryHistory()
    session: Any = PromptSession("> ", history=kept)
    return lambda: str(session.prompt())


@dataclass(slots=True)
class Waiting:
    """A sign of life on stderr, on a terminal only."""

    label: str
    _done: threading.Event = field(default_factory=threading.Event)
    _paused: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _width: int = 0

    def pause(self, ask: Callable[[str], bool], question: str) -> bool:
        """Ask something while no sign is shown."""
        with self._lock:
            self._paused.set()
            self._clear()
        try:
            return ask(question)
        finally:
            self._paused.clear()

    def show(self) -> None:
        """Show it until `end`; runs in a thread of its own."""
        dots = 0
        while not self._done.wait(SOON if not dots else _EVERY):
            dots = dots % 3 + 1
            with self._lock:
                if not self._paused.is_set() and not self._done.is_set():
                    text = f"{self.label}{'.' * dots}".ljust(len(self.label) + 3)
                    self._width = len(text)
                    in_place(text)

    def end(self) -> None:
        """Show it no more."""
        with self._lock:
            self._done.set()
            self._clear()

    def _clear(self) -> None:
        if self._width:
            in_place(" " * self._width)
            in_place("")
            self._width = 0


@contextmanager
def waiting(label: str = "") -> Iterator[Waiting]:
    """A sign of life after `SOON` seconds of the block's work."""
    sign = Waiting(label)
    thread = None
    if sys.stderr.isatty() and sys.stdin.isatty():
        thread = threading.Thread(target=sign.show, daemon=True)
        thread.start()
    try:
        yield sign
    finally:
        sign.end()
        if thread is not None:
            thread.join(1)
