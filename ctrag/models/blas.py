"""A BLAS thread limit for small matrices."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_one_at_a_time = threading.RLock()
"""The limit is process-wide: of two overlapping blocks, the first to end would lift it for both,
and the second would restore what it found, which is the limit."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit NumPy's and SciPy's linear algebra to one thread within the block.

    A few hundred rows are done before a second thread has woken up, and on shared cores the first
    then waits for it: a factorisation of 256 rows took 7 ms on two threads, half a millisecond on
    one. Blocks in other threads wait, so use it only for work of milliseconds.
    """
    with _one_at_a_time, _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    # Only libraries that are loaded are found, and finding them takes longer than a block.
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
