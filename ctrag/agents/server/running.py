"""Which servers run, and how long a search waits for those that are starting."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from anyio.abc import TaskGroup

from ctrag.agents.server.upstream import Upstream

QUIET = 5
"""Where something can be found already, a search waits this part of its time after the last news
of a server: those that start quickly are in the first answer, a slow or dead one delays nobody."""

DRAIN = 300.0
"""Seconds that a server which is to end goes on for the calls that run on it."""


class Running:
    """Servers, each in a task that can be ended without the others."""

    def __init__(self) -> None:
        self.something = False
        """Whether tools can be found before any server has answered."""
        self._tasks: TaskGroup | None = None
        self._scopes: dict[Upstream, anyio.CancelScope] = {}
        self._calls: Counter[Upstream] = Counter()
        self._starting: set[Upstream] = set()
        """Servers that have neither answered nor failed yet."""
        self._waiting: dict[Upstream, float] = {}
        """When those of them were started whose tools are not known."""
        self._news = 0.0
        self._changed = anyio.Event()

    def begin(self, tasks: TaskGroup) -> None:
        """Start servers in that group from now on."""
        self._tasks = tasks
        self._news = anyio.current_time()

    def stop(self) -> None:
        """No more servers are started; the group ends those that run."""
        self._tasks = None

    def start(self, upstream: Upstream, *, known: bool = False) -> bool:
        """Start a server; returns whether it was not started before.

        Args:
            upstream: The server.
            known: Whether its tools can be found already, so that no search waits for it.
        """
        if self._tasks is None or upstream in self._scopes:
            return False
        self._scopes[upstream] = anyio.CancelScope()
        self._starting.add(upstream)
        if not known:
            self._waiting[upstream] = anyio.current_time()
        self._tasks.start_soon(self._run, upstream)
        return True

    def started(self, upstream: Upstream) -> bool:
        """Whether the server was started and not ended."""
        return upstream in self._scopes

    @contextmanager
    def calling(self, upstream: Upstream) -> Iterator[None]:
        """While a call runs on the server, which is not ended before."""
        self._calls[upstream] += 1
        try:
            yield
        finally:
            self._calls[upstream] -= 1

    def end(self, upstream: Upstream) -> None:
        """End a server once the calls that run on it are done."""
        if self._tasks is not None and upstream in self._scopes:
            self._tasks.start_soon(self._end, upstream)

    async def _end(self, upstream: Upstream) -> None:
        with anyio.move_on_after(DRAIN):
            while self._calls[upstream] > 0:
                await anyio.sleep(0.05)
        if upstream in self._scopes:
            self._scopes[upstream].cancel()

    async def settled(self, timeout: float) -> None:
        """Wait until each server whose tools are not known has answered or failed once.

        Args:
            timeout: Seconds at most, counted from a server's start, not from this call; where
                something can be found, a fifth of it after the last answer.
        """
        while self._waiting:
            latest = max(self._waiting.values())
            deadline = latest + timeout
            if self.something:
                deadline = min(deadline, max(latest, self._news) + timeout / QUIET)
            left = deadline - anyio.current_time()
            if left <= 0:
                return
            with anyio.move_on_after(left):
                await self._changed.wait()

    @property
    def starting(self) -> bool:
        """Whether a server has neither answered nor failed yet."""
        return bool(self._starting)

    async def _run(self, upstream: Upstream) -> None:
        try:
            with self._scopes[upstream]:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._watch, upstream)
                    await upstream.run()
        finally:
            del self._scopes[upstream]
            self._told(upstream)

    async def _watch(self, upstream: Upstream) -> None:
        await upstream.tried()
        if upstream.listed:
            self.something = True
            self._news = anyio.current_time()
        self._told(upstream)

    def _told(self, upstream: Upstream) -> None:
        self._starting.discard(upstream)
        self._waiting.pop(upstream, None)
        self._changed.set()
        self._changed = anyio.Event()
