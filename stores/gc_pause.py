"""Making very many objects at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """No search for reference cycles meanwhile.

    Python searches again and again while objects grow in number, and rows that become items hold
    no cycles: for 100,000 of them the searches take longer than the reading.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
