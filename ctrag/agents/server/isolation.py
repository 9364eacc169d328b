"""Servers with `isolate`: a connection, and so a process, for each session or user.

The shared connection of such a server only lists its tools; no call runs on it.
"""

import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.upstream import Upstream, UpstreamError

_log = logging.getLogger(__name__)

MOST = 64
"""Connections of one server's sessions; the one that was idle longest makes room."""
IDLE = 1_800.0
"""Seconds after which the connection of a session that makes no call is ended."""
_EVERY = 30.0


@dataclass(slots=True)
class _Own:
    upstream: Upstream
    scope: anyio.CancelScope
    used: float
    running: int = 0


class Isolated:
    """The connections of single sessions and users.

    Args:
        make: Creates a server that is not running yet.
        most: See `MOST`.
        idle: See `IDLE`.
    """

    def __init__(
        self, make: Callable[[str, ServerSpec], Upstream], most: int = MOST, idle: float = IDLE
    ) -> None:
        self._make, self._most, self._idle = make, most, idle
        self._own: OrderedDict[tuple[str, str], _Own] = OrderedDict()  # longest idle first
        self._tasks: TaskGroup | None = None

    def __len__(self) -> int:
        """Number of connections."""
        return len(self._own)

    async def run(self) -> None:
        """Keep the connections until cancelled, and end idle ones."""
        async with anyio.create_task_group() as self._tasks:
            try:
                while True:
                    await anyio.sleep(min(_EVERY, self._idle / 2))
                    self._collect()
            finally:
                self._tasks = None
                self._own.clear()

    @asynccontextmanager
    async def of(
        self, name: str, spec: ServerSpec, session: str, user: str
    ) -> AsyncIterator[Upstream]:
        """The server of a session, or of its user, for one call.

        Raises:
            UpstreamError: Too many sessions have calls running.
        """
        key = (name, f"user {user}" if spec.isolate == "user" else f"session {session}")
        own = self._opened(key, spec)
        own.running += 1
        try:
            yield own.upstream
        finally:
            own.running -= 1
            own.used = anyio.current_time()
            if self._own.get(key) is own:
                self._own.move_to_end(key)
            elif not own.running:  # taken out while calls ran
                own.scope.cancel()

    def end(self, name: str) -> None:
        """End all connections of a server, which is gone or reached otherwise now, each once the
        calls that run on it are done."""
        for key in [one for one in self._own if one[0] == name]:
            own = self._own.pop(key)
            if not own.running:
                own.scope.cancel()

    def _opened(self, key: tuple[str, str], spec: ServerSpec) -> _Own:
        if key in self._own:
            return self._own[key]
        name = key[0]
        if self._tasks is None:
            raise UpstreamError(f"Server {name} is being stopped; the call was not made.")
        mine = [one for one in self._own if one[0] == name]
        if len(mine) >= self._most:
            idle = next((one for one in mine if not self._own[one].running), None)
            if idle is None:
                raise UpstreamError(
                    f"Server {name} has {self._most} sessions with calls running; the call was "
                    "not made. Try again later."
                )
            self._own.pop(idle).scope.cancel()
        own = _Own(self._make(name, spec), anyio.CancelScope(), anyio.current_time())
        self._own[key] = own
        self._tasks.start_soon(self._keep, own)
        return own

    async def _keep(self, own: _Own) -> None:
        with own.scope:
            await own.upstream.run()

    def _collect(self) -> None:
        before = anyio.current_time() - self._idle
        for key, own in list(self._own.items()):
            if not own.running and own.used < before:
                _log.info("%s: a session's connection was idle and is ended", key[0])
                self._own.pop(key).scope.cancel()
