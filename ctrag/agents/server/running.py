"""Which servers run, and how long a search waits for those that are starting."""

from collections.abc import Iterable

import anyio
from anyio.abc import TaskGroup

from ctrag.agents.server.upstream import Upstream

QUIET = 5
"""Where something can be found already, a search waits this part of its time after the last news
of a server: those that start quickly are in the first answer, a slow or dead one delays nobody."""


class Running:
    """Servers by name, each in a task that can be ended without the others."""

    def __init__(self) -> None:
        self.something = False
        """Whether tools can be found before any server has answered."""
        self._tasks: TaskGroup | None = None
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._ended: dict[str, anyio.Event] = {}
        self._starting: set[str] = set()
        """Servers that have neither answered nor failed yet."""
        self._waiting: dict[str, float] = {}
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
        if self._tasks is None or upstream.name in self._scopes:
            return False
        self._scopes[upstream.name] = anyio.CancelScope()
        self._ended[upstream.name] = anyio.Event()
        self._starting.add(upstream.name)
        if not known:
            self._waiting[upstream.name] = anyio.current_time()
        self._tasks.start_soon(self._run, upstream)
        return True

    def started(self, name: str) -> bool:
        """Whether the server was started and not ended."""
        return name in self._scopes

    async def end(self, name: str) -> None:
        """End a server and wait until its process is gone."""
        scope, ended = self._scopes.get(name), self._ended.get(name)
        if scope is not None and ended is not None:
            scope.cancel()
            await ended.wait()

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
    def starting(self) -> Iterable[str]:
        """Names of the servers that have neither answered nor failed yet."""
        return tuple(self._starting)

    async def _run(self, upstream: Upstream) -> None:
        name = upstream.name
        try:
            with self._scopes[name]:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._watch, upstream)
                    await upstream.run()
        finally:
            self._scopes.pop(name, None)
            self._told(name)
            self._ended.pop(name).set()

    async def _watch(self, upstream: Upstream) -> None:
        await upstream.tried()
        if upstream.listed:
            self.something = True
            self._news = anyio.current_time()
        self._told(upstream.name)

    def _told(self, name: str) -> None:
        self._starting.discard(name)
        self._waiting.pop(name, None)
        self._changed.set()
        self._changed = anyio.Event()
