"""One server behind the gateway: stays connected, keeps its list current, forwards calls."""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp import Client, MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    URL_ELICITATION_REQUIRED,
    CallToolResult,
    LoggingLevel,
)

from ctrag.agents.server.channel import ELICITATION_URL, SILENT, Channel
from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.http_client import NOT_SENT
from ctrag.agents.server.line import Line, reason
from ctrag.agents.server.untrusted import ToolDefinition

logger = logging.getLogger(__name__)

FIRST_PAUSE = 0.2
"""Seconds before a lost server is started again; doubled after each failure."""
LONGEST_PAUSE = 30.0
NOT_STARTED = "not started yet"
OWN_LINES = 64
"""Connections of single clients, beside the shared one."""
IDLE = 900.0
"""Seconds after which an unused connection of a single client is closed."""
_DATA_SHOWN = 1_000
"""Characters of an error's data that a model is told."""

FIRST_CONTACT = 2.0
"""Seconds that a server waits for the only client to say what it offers."""


class Sole:
    """The only client of a gateway, once it has said what it offers."""

    def __init__(self) -> None:
        self.met = anyio.Event()
        self.channel: Channel = SILENT

    def meet(self, channel: Channel) -> None:
        """The client has sent its first message."""
        if not self.met.is_set():
            self.channel = channel
            self.met.set()


class UpstreamError(Exception):
    """A call without an answer; the message is for the model that made it."""


class Upstream:
    """One server: `run` keeps it connected until cancelled, `call` uses it.

    All clients share one connection, which offers the server nothing, unless there is only one
    client (`sole`). A client that offers
    something (sampling, elicitation, roots) or has credentials of its own gets a connection of
    its own, so that the server's questions reach whoever made the call.

    Args:
        name: Its name in the file, the first part of its tools' ids.
        spec: How to reach it.
        changed: Awaited after each listing.
        other: Awaited with `resources` or `prompts` when that list has changed.
    """

    def __init__(
        self,
        name: str,
        spec: ServerSpec,
        changed: Callable[["Upstream"], Awaitable[None]],
        other: Callable[["Upstream", str], Awaitable[None]] | None = None,
    ) -> None:
        self.name = name
        self.spec = spec
        self.tools: dict[str, ToolDefinition] = {}
        """As last listed, by name; kept while the server is down."""
        self.problems: dict[str, str] = {}
        """Why entries of the list were left out, by name."""
        self.down: str | None = NOT_STARTED
        """Why it cannot be called now; None when it can."""
        self.listed = False
        """Whether it has ever been listed."""
        self._changed = changed
        self._other = other
        self._line: Line | None = None
        self._shared: dict[str, ToolDefinition] = {}
        self._special: dict[str, tuple[ToolDefinition, frozenset[str]]] = {}
        """Tools listed only to clients that offer something, with what they offered."""
        self._own: dict[tuple[str, frozenset[str]], Line] = {}
        self._introduced: set[frozenset[str]] = set()
        self._tasks: TaskGroup | None = None
        self.sole: Sole | None = None
        """The only client that there is, where there is only one: the shared connection is its."""
        self._level: LoggingLevel | None = None
        self._attempts = 0
        self._tried = anyio.Event()

    async def run(self) -> None:
        """Connect, list, follow changes; connect again when the server is lost."""
        pause = FIRST_PAUSE
        try:
            async with anyio.create_task_group() as self._tasks:
                while True:
                    began = anyio.current_time()
                    why = await self._stay_connected()
                    self._line, self.down = None, why
                    logger.warning("%s: %s", self.name, why)
                    if anyio.current_time() - began > 10 * LONGEST_PAUSE:
                        pause = FIRST_PAUSE
                    await anyio.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
        finally:
            self._line, self._tasks, self.down, self._attempts = None, None, NOT_STARTED, 0
            self._own.clear()

    async def tried(self) -> None:
        """Wait for the end of the first attempt to start, successful or not."""
        if self._attempts == 0:
            await self._tried.wait()

    async def client(self, channel: Channel = SILENT, owner: str = "", user: str = "") -> Client:
        """The client of the shared connection, or of the caller's own.

        Raises:
            UpstreamError: The server is down.
        """
        line = await self._line_for(channel, owner, user)
        if line.client is None:
            raise UpstreamError(f"Server {self.name} is down.")
        return line.client

    async def _ready(self) -> Line:
        with anyio.move_on_after(self.spec.start_timeout):
            while self._line is None or self._line.client is None:
                await self._tried.wait()
        if self._line is None or self._line.client is None:
            raise UpstreamError(
                f"Server {self.name} is down ({self.down}) and is being started again; the call "
                "was not made. Try again later or search for another tool."
            )
        return self._line

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        channel: Channel = SILENT,
        owner: str = "",
        user: str = "",
    ) -> CallToolResult:
        """The server's own answer to a call, tool errors included.

        Args:
            name: The tool's.
            arguments: By name.
            channel: To the client that makes the call.
            owner: The session that it belongs to.
            user: Who calls, where it is known.

        Raises:
            UpstreamError: There is no answer; the message says what is known and what to do.
            MCPError: A URL has to be opened first, which the client can do.
        """
        try:
            return await self._call(name, arguments, channel, owner, user)
        except _NotTaken:
            logger.info("%s: the call of %s was not taken; trying once more", self.name, name)
        try:
            return await self._call(name, arguments, channel, owner, user)
        except _NotTaken as error:
            raise UpstreamError(
                f"Server {self.name} cannot be reached ({error}), twice; the call was not made. "
                "Try again later or search for another tool."
            ) from None

    async def _call(
        self, name: str, arguments: dict[str, Any], channel: Channel, owner: str, user: str
    ) -> CallToolResult:
        line = await self._line_for(channel, owner, user)
        try:
            return await line.call(name, arguments, channel, owner)
        except TimeoutError:
            line.notice()
            raise UpstreamError(
                f"{self.name}/{name} gave no answer within {self.spec.timeout_of(name):g} s. It "
                "may still take effect: check before you call it again."
            ) from None
        except MCPError as error:
            if error.code == NOT_SENT:
                line.ended()
                raise _NotTaken(str(error)) from None
            if error.code == CONNECTION_CLOSED:
                line.ended()
                raise UpstreamError(
                    f"Server {self.name} stopped during the call of {name} and is being started "
                    "again. Whether the call took effect is not known: check before you repeat it."
                ) from None
            if error.code == URL_ELICITATION_REQUIRED and ELICITATION_URL in channel.offers:
                raise
            raise UpstreamError(f"{self.name}/{name} was refused: {_said(error)}") from None
        except Exception as error:  # another program's answer may be broken in any way
            logger.warning("%s/%s: %s", self.name, name, error)
            raise UpstreamError(
                f"{self.name}/{name} gave an answer that breaks the protocol "
                f"({type(error).__name__}). The call was made and may have taken effect: check "
                "before you repeat it."
            ) from None

    def needs(self, name: str) -> frozenset[str]:
        """What a client must offer for the server to list that tool."""
        special = self._special.get(name)
        return frozenset() if special is None or name in self._shared else special[1]

    async def introduce(self, channel: Channel, owner: str, user: str = "") -> None:
        """Let the server list what it has for clients that offer what this one does."""
        known = self._introduced if self.sole is None else {*self._introduced, channel.offers}
        if channel.offers and channel.offers not in known and self.down is None:
            self._introduced.add(channel.offers)
            try:
                await self._line_for(channel, owner, user)
            except UpstreamError as error:
                logger.info("%s: %s", self.name, error)

    async def want_level(self, level: LoggingLevel) -> None:
        """Have log messages from this level on sent."""
        self._level = level
        for line in [self._line, *self._own.values()]:
            if line is not None:
                await line.want_level(level)

    async def _line_for(self, channel: Channel, owner: str, user: str) -> Line:
        """The shared line, or the caller's own, opened where it is not there yet."""
        shared = await self._ready()
        if self.sole is not None and channel.offers <= shared.offers:
            shared.own = self.sole.channel = channel
            return shared
        own = user in self.spec.users
        if not (channel.offers or own):
            return shared
        key = (f"user {user}" if own and not channel.offers else owner, channel.offers)
        line = self._own.get(key)
        if line is None or self._tasks is None:
            line = await self._open(key, user, channel)
        line.own = channel
        if not line.ready:
            with anyio.move_on_after(self.spec.start_timeout):
                while self._own.get(key) is line and not line.ready:
                    await anyio.sleep(0.01)
        if line.client is None:
            raise UpstreamError(
                f"Server {self.name} could not be started for this session; the call was not "
                "made. Try again later or search for another tool."
            )
        return line

    async def _open(self, key: tuple[str, frozenset[str]], user: str, channel: Channel) -> Line:
        if len(self._own) >= OWN_LINES:
            idle = [line for line in self._own.values() if not line.busy and line.client]
            if not idle or self._tasks is None:
                raise UpstreamError(
                    f"Server {self.name} has {OWN_LINES} sessions with calls running; the call "
                    "was not made. Try again later."
                )
            min(idle, key=lambda line: line.used).ended()
        spec = self.spec.of_user(user)
        line = Line(self.name, spec, self._listed_to_one, self._happened, key[1], channel)
        line.level = self._level
        line.used = anyio.current_time()
        self._own[key] = line
        if self._tasks is None:
            raise UpstreamError(f"Server {self.name} is being stopped; the call was not made.")
        self._tasks.start_soon(self._keep, key, line)
        return line

    async def _keep(self, key: tuple[str, frozenset[str]], line: Line) -> None:
        """Run one client's line until it is lost or has been idle for long."""

        async def run(done: anyio.Event) -> None:
            why = await line.run()
            logger.info("%s: a session's connection: %s", self.name, why)
            done.set()

        done = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, done)
            while not done.is_set():
                with anyio.move_on_after(IDLE / 10):
                    await done.wait()
                if not line.busy and anyio.current_time() - line.used > IDLE:
                    line.ended()
                    break
            with anyio.move_on_after(5):
                await done.wait()
            tasks.cancel_scope.cancel()
        if self._own.get(key) is line:
            del self._own[key]

    async def _stay_connected(self) -> str:
        line = Line(self.name, self.spec, self._listed, self._happened)
        if self.sole is not None:
            with anyio.move_on_after(FIRST_CONTACT):
                await self.sole.met.wait()
            line.offers, line.own = self.sole.channel.offers, self.sole.channel
        line.level = self._level
        self._line = line
        try:
            return await line.run()
        except Exception as error:
            return reason(error)
        finally:
            self._announce()

    async def _listed(self, line: Line) -> None:
        self._shared, self.listed = line.tools, True
        self.problems = line.problems
        for name, problem in self.problems.items():
            logger.warning("%s/%s %s", self.name, name, problem)
        await self._gather()
        self.down = None
        self._announce()

    async def _listed_to_one(self, line: Line) -> None:
        more = {name: (tool, line.offers) for name, tool in line.tools.items()}
        new = {name: one for name, one in more.items() if name not in self._shared}
        before = dict(self._special)
        for name, (tool, offers) in new.items():
            if name not in before or offers < before[name][1]:
                self._special[name] = (tool, offers)
        if self._special != before:
            await self._gather()

    async def _gather(self) -> None:
        special = {name: tool for name, (tool, _) in self._special.items()}
        self.tools = {**special, **self._shared}
        await self._changed(self)

    async def _happened(self, kind: str) -> None:
        if self._other is not None:
            await self._other(self, kind)

    def _announce(self) -> None:
        """Wake those who wait for an attempt to start."""
        self._attempts += 1
        self._tried.set()
        self._tried = anyio.Event()


class _NotTaken(Exception):
    """The server was not reached, or did not take the call: it can be made again."""


def _said(error: MCPError) -> str:
    """An error as text, with what it says beside that and the addresses to open."""
    data = error.error.data
    asked = data.get("elicitations", []) if isinstance(data, dict) else []
    urls = [str(one["url"]) for one in asked if isinstance(one, dict) and one.get("url")]
    if urls:
        return f"{error} (open {', '.join(urls)})"
    if data is None or data in ({}, [], "") or str(data) in str(error):
        return str(error)
    told = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
    return f"{error} ({told[:_DATA_SHOWN]})"
