"""What the gateway serves over MCP beside tools: resources, prompts, completions, changes."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from mcp import MCPError
from mcp.server.context import ServerRequestContext
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
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.connections import Connections
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.resources import PROMPTS

R = TypeVar("R", ListResourcesResult, ListResourceTemplatesResult, ListPromptsResult)


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

    def lister(self, kind: str, result: type[R], field: str) -> "Callable[..., Awaitable[R]]":
        """The handler that lists what all servers have of a kind, in a field of its result."""

        async def listed(
            ctx: "ServerRequestContext[Any]", params: "PaginatedRequestParams | None"
        ) -> R:
            self._connections.seen(ctx)
            listing = await self._resources.listed(self._caller(), kind)
            content: dict[str, Any] = {field: listing.found}
            if listing.unavailable:
                content["_meta"] = {"ctrag/unavailable": listing.unavailable}
            return result(**content)

        return listed

    async def read_resource(
        self, ctx: "ServerRequestContext[Any]", params: "ReadResourceRequestParams"
    ) -> "ReadResourceResult":
        """A resource of a server, or a kept result."""
        with _refusing():
            return await self._resources.read(self._caller(), str(params.uri))

    async def get_prompt(
        self, ctx: "ServerRequestContext[Any]", params: "GetPromptRequestParams"
    ) -> "GetPromptResult":
        """A prompt of a server."""
        with _refusing():
            return await self._resources.prompt(self._caller(), params.name, params.arguments)

    async def complete(
        self, ctx: "ServerRequestContext[Any]", params: "CompleteRequestParams"
    ) -> "CompleteResult":
        """Completions by the server that has the prompt or template."""
        with _refusing():
            return await self._resources.complete(self._caller(), params)

    async def _changed(self, kind: str) -> None:
        event = PromptsListChanged() if kind == PROMPTS else ResourcesListChanged()
        await self.bus.publish(event)
        await self._connections.tell(kind)


@contextmanager
def _refusing() -> Iterator[None]:
    """Answers what breaks a rule with an error of the protocol."""
    try:
        yield
    except ValueError as error:
        raise MCPError(INVALID_PARAMS, str(error)) from None
