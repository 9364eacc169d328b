"""Clients of the 2025 revision that are connected now."""

from typing import Any
from weakref import WeakKeyDictionary

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.types import (
    LoggingLevel,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from ctrag.agents.server.resources import PROMPTS


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
