"""An ordered map over threads, processes or a Dask cluster."""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol, TypeVar

from ctrag.errors import InputError
from ctrag.extras import need

_Answer = TypeVar("_Answer")
_Value = TypeVar("_Value")

_CHUNK = 20
_AHEAD = 3
"""Chunks per worker that may be running or waiting to be written."""
_WORTH_A_PROCESS = 200
"""With fewer values, starting a process takes longer than the work."""


class _Future(Protocol):
    def result(self) -> Any: ...


class _Pool(Protocol):
    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> _Future: ...


def in_order(
    task: Callable[[_Value], _Answer],
    values: Sequence[_Value],
    threads: int,
    scheduler: str | None,
    workers: int | None,
) -> Iterator[_Answer]:
    """The task's results in the order of `values`; only a few are in memory at a time.

    Args:
        task: Picklable, like the values, unless threads are used.
        values: Its arguments.
        threads: If more than 1, the task runs in this many threads, for tasks that wait on I/O.
        scheduler: A Dask scheduler's address, "local", or None for processes of this machine.
        workers: Processes; None for one per core.

    Raises:
        ValueError: `workers` is below 1, or Dask is wanted and not installed.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers: must be 1 or more, not {workers}")
    count = threads if threads > 1 else workers or os.cpu_count() or 1
    if threads <= 1 and scheduler is None and (count == 1 or len(values) < _WORTH_A_PROCESS):
        yield from map(task, values)
        return
    chunk = 1 if threads > 1 else _CHUNK
    parts = [values[at : at + chunk] for at in range(0, len(values), chunk)]
    with _pool(threads, scheduler, count) as pool:
        waiting: deque[_Future] = deque()
        for part in parts:
            if len(waiting) >= _AHEAD * count:
                yield from waiting.popleft().result()
            waiting.append(pool.submit(_all_of, task, part))
        while waiting:
            yield from waiting.popleft().result()


def _all_of(task: Callable[[_Value], _Answer], values: Sequence[_Value]) -> list[_Answer]:
    return [task(value) for value in values]


@contextmanager
def _pool(threads: int, scheduler: str | None, count: int) -> Iterator[_Pool]:
    if threads > 1:
        pool: Executor = ThreadPoolExecutor(threads)
    elif scheduler is None:
        # Forking a process with threads may hang; a spawned one loads its sources again.
        pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))
    else:
        with dask_client(scheduler, count) as client:
            yield _Cluster(client)
        return
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Cluster:
    """A Dask client as a pool; results of equal calls are not cached."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> _Future:
        future: _Future = self._client.submit(function, *arguments, pure=False)
        return future


@contextmanager
def dask_client(scheduler: str, workers: int) -> Iterator[Any]:
    """A client of the scheduler at an address, or of a cluster on this machine for "local".

    Raises:
        ValueError: Dask is not installed, or nothing answers at the address.
    """
    need("a Dask scheduler", "distributed", extra="dask")
    distributed: Any = import_module("distributed")
    if scheduler == "local":
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout="10s")
    except (OSError, ValueError) as error:
        raise InputError(f"scheduler: no Dask scheduler at {scheduler!r}: {error}") from None
    with client:
        yield client
