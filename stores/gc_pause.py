"""A pause of the garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Turn the garbage collector off within the block.

    It runs again and again while the number of objects grows, and rows that become items have no
    reference cycles: for 100,000 of them it takes longer than reading them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
