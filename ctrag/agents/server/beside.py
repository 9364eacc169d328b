"""What the gateway serves over MCP beside tools: resources, prompts, completions, changes."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
)
from mcp.types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    LoggingLevel,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.resources import PROMPTS, RESOURCES, TEMPLATES, Listing


class Connections:
    """The open connections of the 2025 revision: whom to tell of changes, and from which level
    on they want log messages.

    Args:
        most: Connections over HTTP that are remembered.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._streams: WeakKeyDictionary[Any, ServerSession] = WeakKeyDictionary()
        self._http: dict[str, ServerSession] = {}
        self._levels: dict[Any, LoggingLevel] = {}

    def seen(self, ctx: "ServerRequestContext[Any]") -> None:
        """Note the connection of a request."""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return
        key = _key(ctx)
        if not isinstance(key, str):
            self._streams[key] = ctx.session
            return
        self._http.pop(key, None)
        self._http[key] = ctx.session
        while len(self._http) > self._most:
            oldest = next(iter(self._http))
            del self._http[oldest]
            self._levels.pop(oldest, None)

    def gone(self, connection: Any) -> None:
        """Forget a stream's connection."""
        self._levels.pop(connection, None)
        self._streams.pop(connection, None)

    def set_level(self, ctx: "ServerRequestContext[Any]", level: LoggingLevel) -> None:
        """Send log messages from this level on to the connection of the request."""
        self._levels[_key(ctx)] = level

    def level(self, ctx: "ServerRequestContext[Any]") -> LoggingLevel | None:
        """What `set_level` has set for the connection of the request."""
        return self._levels.get(_key(ctx))

    async def tell(self, kind: str) -> None:
        """Tell all that the list of `resources` or `prompts` has changed."""
        for session in [*self._streams.values(), *self._http.values()]:
            if kind == PROMPTS:
                await session.send_prompt_list_changed()
            else:
                await session.send_resource_list_changed()


def _key(ctx: "ServerRequestContext[Any]") -> Any:
    identity = getattr(ctx.request, "headers", {}).get("mcp-session-id")
    return ctx.lifespan_context if identity is None else identity


class Beside:
    """The handlers of resources, prompts and completions.

    Args:
        gateway: It must be running.
        caller: Returns the caller of the current request.
        connections: Told of changes.
    """

    def __init__(
        self,
        gateway: Gateway,
        caller: Callable[[], Principal | None],
        connections: Connections,
    ) -> None:
        self._resources = gateway.resources
        self._caller = caller
        self._connections = connections
        self.bus = InMemorySubscriptionBus()
        """Carries changes to clients of the 2026 revision that listen."""
        gateway.listen(self._changed)

    async def list_resources(
        self, ctx: "ServerRequestContext[Any]", params: "PaginatedRequestParams | None"
    ) -> "ListResourcesResult":
        """The resources of all servers."""
        listing = await self._listed(ctx, RESOURCES)
        return ListResourcesResult(resources=listing.found, _meta=_lacking(listing))

    async def list_templates(
        self, ctx: "ServerRequestContext[Any]", params: "PaginatedRequestParams | None"
    ) -> "ListResourceTemplatesResult":
        """The resource templates of all servers."""
        listing = await self._listed(ctx, TEMPLATES)
        return ListResourceTemplatesResult(
            resource_templates=listing.found, _meta=_lacking(listing)
        )

    async def list_prompts(
        self, ctx: "ServerRequestContext[Any]", params: "PaginatedRequestParams | None"
    ) -> "ListPromptsResult":
        """The prompts of all servers."""
        listing = await self._listed(ctx, PROMPTS)
        return ListPromptsResult(prompts=listing.found, _meta=_lacking(listing))

    async def read_resource(
        self, ctx: "ServerRequestContext[Any]", params: "ReadResourceRequestParams"
    ) -> "ReadResourceResult":
        """A resource of a server, or a kept result."""
        try:
            return await self._resources.read(self._caller(), str(params.uri))
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None

    async def get_prompt(
        self, ctx: "ServerRequestContext[Any]", params: "GetPromptRequestParams"
    ) -> "GetPromptResult":
        """A prompt of a server."""
        try:
            return await self._resources.prompt(self._caller(), params.name, params.arguments)
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None

    async def complete(
        self, ctx: "ServerRequestContext[Any]", params: "CompleteRequestParams"
    ) -> "CompleteResult":
        """Completions by the server that has the prompt or template."""
        try:
            return await self._resources.complete(self._caller(), params)
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None

    async def _listed(self, ctx: "ServerRequestContext[Any]", kind: str) -> Listing:
        self._connections.seen(ctx)
        return await self._resources.listed(self._caller(), kind)

    async def _changed(self, kind: str) -> None:
        event = PromptsListChanged() if kind == PROMPTS else ResourcesListChanged()
        await self.bus.publish(event)
        await self._connections.tell(kind)


def _lacking(listing: Listing) -> Any:
    return {"ctrag/unavailable": listing.unavailable} if listing.unavailable else None
