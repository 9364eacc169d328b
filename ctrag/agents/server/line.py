"""One connection to a server, and the clients whose calls run on it."""

import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp.client.subscriptions import (
    ListenNotSupportedError,
    PromptsListChanged,
    ResourcesListChanged,
    SubscriptionLost,
    ToolsListChanged,
)
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitCompleteNotification,
    ElicitRequest,
    ElicitRequestParams,
    ErrorData,
    ListRootsRequest,
    LoggingLevel,
    LoggingMessageNotificationParams,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    SamplingCapability,
    SamplingToolsCapability,
    ToolListChangedNotification,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from ctrag.agents.server.channel import (
    ELICITATION,
    ELICITATION_URL,
    LEVELS,
    ROOTS,
    SAMPLING,
    SAMPLING_TOOLS,
    Channel,
    Question,
)
from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.handshake import Greeting, first_cause
from ctrag.agents.server.transport import connection, ways
from ctrag.agents.server.untrusted import ToolDefinition, definition

logger = logging.getLogger(__name__)

PAGES = 1_000
"""Maximum pages of a list, so that an endless one cannot hang us."""
_MARKS = "ctrag/marks"
_MORE = "ctrag/more"
"""What passes by the client, which would check results by output schemas and fail the call."""
_KINDS: dict[type, str] = {
    ToolListChangedNotification: "tools",
    ResourceListChangedNotification: "resources",
    PromptListChangedNotification: "prompts",
    ToolsListChanged: "tools",
    ResourcesListChanged: "resources",
    PromptsListChanged: "prompts",
}


@dataclass(eq=False, slots=True)
class _Run:
    owner: str
    channel: Channel
    scope: anyio.CancelScope
    timeout: float

    def held_off(self) -> None:
        self.scope.deadline = anyio.current_time() + self.timeout


@dataclass(eq=False)
class Line:
    """A connection: `run` keeps it until it is lost, `call` uses it.

    A server's questions and log messages do not say which call they belong to. They go to the
    client whose calls run on the line, and to nobody while those of several clients do.
    """

    name: str
    """The server's."""
    spec: ServerSpec
    listed: Callable[["Line"], Awaitable[None]]
    """Awaited after each listing."""
    changed: Callable[[str], Awaitable[None]]
    """Awaited with `resources` or `prompts` when that list has changed."""
    offers: frozenset[str] = frozenset()
    """What the server is told that it may ask for."""
    own: Channel | None = None
    """The latest channel of the one client that has this line to itself."""
    client: Client | None = None
    tools: dict[str, ToolDefinition] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    """Why entries of the list were left out, by name."""
    ready: bool = False
    """Whether its first listing has been taken over."""
    used: float = 0.0
    """When the last call ended."""
    level: LoggingLevel | None = None
    """The lowest level of log messages asked for so far."""

    def __post_init__(self) -> None:
        self._left_out: dict[str, str] = {}
        self._runs: list[_Run] = []
        self._lost = False
        self._signal = anyio.Event()

    async def run(self) -> str:
        """Stay connected for as long as possible; returns why the connection ended."""
        limit = anyio.CancelScope(deadline=anyio.current_time() + self.spec.start_timeout)
        try:
            with limit:
                await self._connected(limit)
        except Exception as error:
            return reason(error)
        finally:
            self.client = None
        if limit.cancelled_caught:
            return f"did not answer within {self.spec.start_timeout:g} s"
        return "stopped"

    async def _connected(self, limit: anyio.CancelScope) -> None:
        first: Exception | None = None
        waiting: list[tuple[str, Greeting]] = [(way, Greeting()) for way in ways(self.spec)]
        while waiting:
            way, greeting = waiting.pop(0)
            greeted, self._lost, self._signal = False, False, anyio.Event()
            streams = connection(
                self.spec,
                self._passed,
                self.ended,
                way,
                name=self.name,
                version=greeting.version,
            )
            try:
                async with Client(streams, mode=greeting.mode, **self._callbacks()) as client:
                    greeted = True
                    await self._relist(client)
                    limit.deadline = math.inf
                    self.client = client
                    await self._set_level(client)
                    await self.listed(self)
                    self.ready = True
                    await self._follow(client)
                return
            except Exception as error:
                if greeted or isinstance(error, ValueError):
                    raise
                first = first or error
                if (other := greeting.after(error)) is not None:
                    waiting.insert(0, (way, other))
        if first is not None:
            raise first

    def _callbacks(self) -> dict[str, Any]:
        """Only what a client offers is offered to the server."""
        made: dict[str, Any] = {
            "message_handler": self._heard,
            "logging_callback": self._logged,
            "cache": None,
        }
        if self.offers & {SAMPLING, SAMPLING_TOOLS}:
            made["sampling_callback"] = self._sample
            if SAMPLING_TOOLS in self.offers:
                made["sampling_capabilities"] = SamplingCapability(tools=SamplingToolsCapability())
        if self.offers & {ELICITATION, ELICITATION_URL}:
            made["elicitation_callback"] = self._elicit
        if ROOTS in self.offers:
            made["list_roots_callback"] = self._roots
        return made

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        channel: Channel,
        owner: str,
    ) -> CallToolResult:
        """The server's answer; each sign of progress holds the time-out off.

        Raises:
            TimeoutError: There was neither an answer nor progress in time.
            MCPError: The server or the transport refused the call.
        """
        client = self.client
        if client is None:
            raise MCPError(INVALID_REQUEST, "the connection is gone")
        timeout = self.spec.timeout_of(name)
        deadline = anyio.current_time() + timeout
        with anyio.CancelScope(deadline=deadline) as scope:
            run = _Run(owner, channel, scope, timeout)

            async def told(progress: float, total: float | None, message: str | None) -> None:
                run.held_off()
                await channel.progress(progress, total, message)

            self._runs.append(run)
            try:
                meta: Any = dict(channel.meta)
                if (
                    channel.level is not None
                    and client.protocol_version in MODERN_PROTOCOL_VERSIONS
                ):
                    meta["io.modelcontextprotocol/logLevel"] = channel.level
                return await client.call_tool(
                    name, arguments, progress_callback=told, meta=meta or None
                )
            finally:
                self._runs.remove(run)
                self.used = anyio.current_time()
        raise TimeoutError

    @property
    def busy(self) -> bool:
        """Whether a call runs on it."""
        return bool(self._runs)

    async def want_level(self, level: LoggingLevel) -> None:
        """Have the server send log messages from this level on, or a lower one asked for before."""
        if self.level is None or LEVELS.index(level) < LEVELS.index(self.level):
            self.level = level
            if self.client is not None:
                await self._set_level(self.client)

    async def _set_level(self, client: Client) -> None:
        modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if self.level is None or modern or client.server_capabilities.logging is None:
            return
        from mcp.types import EmptyResult, SetLevelRequest, SetLevelRequestParams

        request = SetLevelRequest(params=SetLevelRequestParams(level=self.level))
        with suppress(MCPError):
            await client.session.send_request(request, EmptyResult, self.spec.timeout)

    def ended(self) -> None:
        """The connection is lost."""
        self._lost = True
        self.client = None
        self.notice()

    def notice(self) -> None:
        """List the tools again."""
        self._signal.set()

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
                await self.listed(self)
            tasks.cancel_scope.cancel()

    async def _listen(self, client: "Client") -> None:
        """Subscribe to changes as in the 2026 revision; earlier ones send them unsolicited."""
        offered = client.server_capabilities
        kinds: dict[str, Any] = {
            f"{kind}_list_changed": True
            for kind in ("tools", "resources", "prompts")
            if getattr(getattr(offered, kind), "list_changed", False)
        }
        if not kinds:
            return
        with suppress(MCPError, ListenNotSupportedError, SubscriptionLost, TimeoutError):
            async with client.listen(**kinds) as changes:
                async for event in changes:
                    await self._happened(_KINDS.get(type(event), ""))

    async def _heard(self, message: Any) -> None:
        said = getattr(message, "root", message)
        if isinstance(said, ElicitCompleteNotification):
            if (channel := self._speaker()) is not None:
                await channel.elicited(said.params.elicitation_id)
            return
        await self._happened(_KINDS.get(type(said), ""))

    async def _happened(self, kind: str) -> None:
        if kind == "tools":
            self.notice()
        elif kind:
            await self.changed(kind)

    async def _logged(self, params: LoggingMessageNotificationParams) -> None:
        channel = self._speaker()
        if channel is None:
            logger.debug("%s: %s: %s", self.name, params.level, params.data)
            return
        named = f"{self.name}/{params.logger}" if params.logger else self.name
        await channel.log(params.model_copy(update={"logger": named}))

    async def _sample(self, ctx: ClientRequestContext, params: CreateMessageRequestParams) -> Any:
        return await self._ask(CreateMessageRequest(params=params))

    async def _elicit(self, ctx: ClientRequestContext, params: ElicitRequestParams) -> Any:
        return await self._ask(ElicitRequest(params=params))

    async def _roots(self, ctx: ClientRequestContext) -> Any:
        return await self._ask(ListRootsRequest())

    async def _ask(self, question: Question) -> Any:
        channel = self._speaker()
        if channel is None:
            why = "calls of several clients are running" if self._runs else "no call is running"
            return ErrorData(
                code=INVALID_REQUEST, message=f"{why}: it is not known which client to ask"
            )
        runs = [run for run in self._runs if run.channel is channel]
        for run in runs:  # a person takes the time that a person takes
            run.scope.deadline = math.inf
        try:
            return await channel.ask(question)
        finally:
            for run in runs:
                run.held_off()

    def _speaker(self) -> Channel | None:
        """The client that a message of the server is for; None if there is none, or no telling."""
        if not self._runs:
            return self.own
        if self.own is None and len({run.owner for run in self._runs}) > 1:
            return None
        return self._runs[-1].channel

    async def _relist(self, client: "Client") -> None:
        tools: dict[str, ToolDefinition] = {}
        self._left_out = {}
        cursor: str | None = None
        cursors: set[str] = set()
        for _ in range(PAGES):
            try:
                page = await client.list_tools(cursor=cursor)
            except MCPError as error:
                if client.server_capabilities.tools is None:  # it only has resources or prompts
                    break
                if cursor is None or error.code == CONNECTION_CLOSED:
                    raise
                self._left_out[f"page {len(cursors) + 1}"] = f"cannot be listed: {error}"
                break
            for tool in page.tools:
                kept: Mapping[str, Any] = tool.meta or {}
                made = ToolDefinition(
                    tool.name,
                    tool.description or "",
                    tool.input_schema,
                    tuple(kept.get(_MARKS, ())),
                    kept.get(_MORE, {}),
                )
                if tool.name not in tools:
                    tools[tool.name] = made
                elif cursor is None or tools[tool.name] != made:  # pages may overlap
                    self._left_out[tool.name] = "is listed twice; the first is kept"
            cursor = page.next_cursor
            if cursor is None or cursor in cursors:  # a server may name the same page for ever
                break
            cursors.add(cursor)
        self.tools, self.problems = tools, self._left_out

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
                    "_meta": {_MARKS: list(tool.marks), _MORE: tool.more},
                }
            )
        return kept


def reason(error: BaseException) -> str:
    """The first cause in a group of errors, as one line."""
    cause = first_cause(error)
    return " ".join(str(cause).split())[:200] or type(cause).__name__
