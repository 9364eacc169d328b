"""How many threads small products of matrices may take."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_one_at_a_time = threading.RLock()
"""The limit is the process's: of two blocks that overlap, the first to end would lift it for both,
and the second would put back what it found, which is the limit."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep NumPy's and SciPy's linear algebra to one thread while the block runs.

    A few hundred rows are done before a second thread has woken up, and on shared cores the first
    then waits for it: a factorisation of 256 rows took 7 ms on two threads, half a millisecond on
    one. Blocks of other threads wait, so keep it to what takes milliseconds.
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
