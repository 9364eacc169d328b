"""What is typed in a conversation, and a sign of life while it is worked on."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ctrag.cli.output import asked, in_place, line

SOON = 0.3
"""Seconds after which a sign of life is shown."""
_EVERY = 0.4


def said_lines() -> Iterator[str]:
    """Lines that are said, without empty ones, until the end of input.

    On a terminal with history and editing where prompt_toolkit is installed; Ctrl-C empties the
    line.
    """
    if not sys.stdin.isatty():
        yield from (one.strip() for one in sys.stdin if one.strip())
        return
    read = _reader()
    while True:
        try:
            said = read().strip()
        except KeyboardInterrupt:
            line()
            continue
        except EOFError:
            line()
            return
        if said:
            yield said


def _reader() -> Callable[[], str]:
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import InMemoryHistory
    except ModuleNotFoundError:
        return lambda: asked("> ")
    session: Any = PromptSession("> ", history=InMemoryHistory())
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
