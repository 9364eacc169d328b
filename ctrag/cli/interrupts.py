"""Ctrl-C ends a command at once, also while a library computes and Python runs no handler."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ctrag.text.terminal import note

WAIT = 1.2
"""Seconds from Ctrl-C to the end of the process, where the command does not end by itself. What it
writes is written whole or not at all, so that nothing is lost."""
_patient = threading.Event()
_struck = threading.Event()


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """A SIGINT in the block ends the process within `WAIT` seconds, whatever the main thread does.

    KeyboardInterrupt comes as always; only a block that does not end for it is ended.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read, write = os.pipe()
    os.set_blocking(write, False)
    _patient.clear()
    _struck.clear()
    done = threading.Event()
    before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    watch = threading.Thread(target=_watch, args=(read, done), name="interrupts", daemon=True)
    watch.start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(before)
        os.close(write)  # the watch reads the end of the pipe
        watch.join()
        os.close(read)


def patiently() -> None:
    """Let the running command end in its own time: a server finishes what it answers."""
    _patient.set()


def interrupted() -> bool:
    """Whether Ctrl-C was pressed: DuckDB and others raise an error of their own then."""
    return _struck.wait(0.02)


def _watch(read: int, done: threading.Event) -> None:
    with suppress(OSError):
        while numbers := os.read(read, 64):
            if signal.SIGINT not in numbers:
                continue
            _struck.set()
            if not _patient.is_set() and not done.wait(WAIT):
                note("stopped")
                os._exit(130)
