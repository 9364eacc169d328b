"""A server ends by SIGTERM as by Ctrl-C, so that it can clean up."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM acts like Ctrl-C in the block."""
    if not in_main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def in_main_thread() -> bool:
    """Python lets no other thread handle signals."""
    return threading.current_thread() is threading.main_thread()
