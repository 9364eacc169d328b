"""One server behind the gateway: stays connected, keeps its list current, forwards calls."""

import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    CallToolResult,
    ToolListChangedNotification,
)

from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.transport import connection
from ctrag.agents.server.untrusted import ToolDefinition, definition

logger = logging.getLogger(__name__)

FIRST_PAUSE = 0.2
"""Seconds before a lost server is started again; doubled after each failure."""
LONGEST_PAUSE = 30.0
NOT_STARTED = "not started yet"
PAGES = 1_000
"""Maximum pages of a tool list, so that an endless list cannot hang us."""


class UpstreamError(Exception):
    """A call without an answer; the message is for the model that made it."""


class Upstream:
    """One server: `run` keeps it connected until cancelled, `call` uses it.

    Args:
        name: Its name in the file, the first part of its tools' ids.
        spec: How to reach it.
        changed: Awaited after each listing.
    """

    def __init__(
        self, name: str, spec: ServerSpec, changed: Callable[["Upstream"], Awaitable[None]]
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
        self._client: Client | None = None
        self._left_out: dict[str, str] = {}
        self._attempts = 0
        self._lost = False
        self._signal = anyio.Event()
        self._tried = anyio.Event()

    async def run(self) -> None:
        """Connect, list, follow changes; connect again when the server is lost."""
        pause = FIRST_PAUSE
        try:
            while True:
                began = anyio.current_time()
                reason = await self._stay_connected()
                self._client, self.down = None, reason
                logger.warning("%s: %s", self.name, reason)
                if anyio.current_time() - began > 10 * LONGEST_PAUSE:
                    pause = FIRST_PAUSE
                await anyio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
        finally:
            self._client, self.down, self._attempts = None, NOT_STARTED, 0

    async def tried(self) -> None:
        """Wait for the end of the first attempt to start, successful or not."""
        if self._attempts == 0:
            await self._tried.wait()

    async def _ready(self) -> "Client":
        with anyio.move_on_after(self.spec.start_timeout):
            while self._client is None:
                await self._tried.wait()
        if self._client is None:
            raise UpstreamError(
                f"Server {self.name} is down ({self.down}) and is being started again; the call "
                "was not made. Try again later or search for another tool."
            )
        return self._client

    async def call(self, name: str, arguments: dict[str, Any]) -> "CallToolResult":
        """The server's own answer to a call, tool errors included.

        Raises:
            UpstreamError: There is no answer; the message says what is known and what to do.
        """
        client = await self._ready()
        timeout = self.spec.timeout_of(name)
        try:
            return await client.call_tool(name, arguments, timeout)
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                self._notice()
                raise UpstreamError(
                    f"{self.name}/{name} gave no answer within {timeout:g} s. It may "
                    "still take effect: check before you call it again."
                ) from None
            if error.code == CONNECTION_CLOSED:
                self._ended()
                raise UpstreamError(
                    f"Server {self.name} stopped during the call of {name} and is being started "
                    "again. Whether the call took effect is not known: check before you repeat it."
                ) from None
            raise UpstreamError(f"{self.name}/{name} was refused: {error}") from None
        except Exception as error:  # another program's answer may be broken in any way
            logger.warning("%s/%s: %s", self.name, name, error)
            raise UpstreamError(
                f"{self.name}/{name} gave an answer that breaks the protocol "
                f"({type(error).__name__}). Search for another tool."
            ) from None

    async def _stay_connected(self) -> str:
        """Stay connected for as long as possible; returns why the connection ended."""
        self._lost = False
        self._signal = anyio.Event()
        limit = anyio.CancelScope(deadline=anyio.current_time() + self.spec.start_timeout)
        try:
            with limit:
                streams = connection(self.spec, self._passed, self._ended, name=self.name)
                async with Client(streams, message_handler=self._heard, cache=None) as client:
                    await self._relist(client)
                    limit.deadline = math.inf
                    self._client, self.down = client, None
                    self._announce()
                    await self._follow(client)
        except Exception as error:
            self._announce()
            return _reason(error)
        self._announce()
        if limit.cancelled_caught:
            return f"did not answer within {self.spec.start_timeout:g} s"
        return "stopped"

    async def _follow(self, client: "Client") -> None:
        """List again at each change; returns when the connection is lost."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, client)
            while True:
                await self._signal.wait()
                self._signal = anyio.Event()
                if self._lost:
                    break
                with anyio.fail_after(self.spec.start_timeout):
                    await self._relist(client)
            tasks.cancel_scope.cancel()

    async def _listen(self, client: "Client") -> None:
        """Subscribe to changes as in the 2026 revision; earlier ones send them unsolicited."""
        offered = client.server_capabilities.tools
        if offered is None or not offered.list_changed:
            return
        with suppress(MCPError, ListenNotSupportedError, SubscriptionLost, TimeoutError):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._notice()

    async def _heard(self, message: Any) -> None:
        if isinstance(getattr(message, "root", message), ToolListChangedNotification):
            self._notice()

    async def _relist(self, client: "Client") -> None:
        tools: dict[str, ToolDefinition] = {}
        self._left_out = {}
        cursor: str | None = None
        for _ in range(PAGES):
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                marks = tuple((tool.meta or {}).get(_MARKS, ()))
                if tool.name in tools:
                    self._left_out[tool.name] = "is listed twice; the first is kept"
                    continue
                tools[tool.name] = ToolDefinition(
                    tool.name, tool.description or "", tool.input_schema, marks
                )
            cursor = page.next_cursor
            if cursor is None:
                break
        self.tools, self.problems, self.listed = tools, self._left_out, True
        for name, problem in self.problems.items():
            logger.warning("%s/%s %s", self.name, name, problem)
        await self._changed(self)

    def _passed(self, entries: list[Any]) -> list[Any]:
        """The valid entries of a list, cleaned; a broken one does not affect the others."""
        kept = []
        for entry in entries:
            try:
                tool = definition(entry, trust=self.spec.trust)
            except ValueError as error:
                name = entry.get("name") if isinstance(entry, dict) else None
                self._left_out[str(name)[:60]] = str(error)
                continue
            kept.append(
                {
                    "name": tool.name,
                    "description": tool.description,
                    "inputSchema": tool.parameters,
                    "_meta": {_MARKS: list(tool.marks)},
                }
            )
        return kept

    def _notice(self) -> None:
        self._signal.set()

    def _ended(self) -> None:
        self._lost = True
        self._client = None
        self._notice()

    def _announce(self) -> None:
        """Wake those who wait for an attempt to start."""
        self._attempts += 1
        self._tried.set()
        self._tried = anyio.Event()


_MARKS = "ctrag/marks"


def _reason(error: BaseException) -> str:
    """The first cause in a group of errors, as one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(str(error).split())[:200] or type(error).__name__
