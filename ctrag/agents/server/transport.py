"""The connection to one server, whose messages are cleaned before the client reads them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.named_stderr import named_stderr


class _CleanedStream:
    """A read stream that applies `clean` to each message and calls `ended` once at its end."""

    def __init__(self, inner: Any, clean: Callable[[Any], None], ended: Callable[[], None]) -> None:
        self._inner = inner
        self._clean = clean
        self._ended = ended

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        try:
            message = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._ended()
            raise
        self._clean(message)
        return message

    def __aiter__(self) -> "_CleanedStream":
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "_CleanedStream":
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *reason: Any) -> bool | None:
        left: bool | None = await self._inner.__aexit__(*reason)
        return left


@asynccontextmanager
async def connection(
    spec: ServerSpec,
    clean: Callable[[list[Any]], list[Any]],
    ended: Callable[[], None],
    *,
    name: str = "",
) -> AsyncIterator["TransportStreams"]:
    """Streams to and from a server.

    Args:
        spec: How to reach it.
        clean: Maps the entries of a `tools/list` answer to those that are accepted.
        ended: Called when the stream has ended, for example because its process stopped.
        name: The server's, which begins each line that its process writes to stderr.

    Raises:
        OSError: The command cannot be started.
        ValueError: A variable that the specification names is not set.
    """

    def message(received: Any) -> None:
        result = getattr(getattr(received, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            result["tools"] = clean(result["tools"])

    async with _transport(spec.resolved(), name) as (read, write):
        yield _CleanedStream(read, message, ended), write


def _transport(spec: ServerSpec, name: str) -> AbstractAsyncContextManager[Any]:
    return _process(spec, name) if spec.command else _over_http(spec)


@asynccontextmanager
async def _process(spec: ServerSpec, name: str) -> AsyncIterator[Any]:
    started = StdioServerParameters(
        command=spec.command, args=spec.args, env=spec.env, cwd=spec.cwd
    )
    with named_stderr(name) as errlog:
        async with stdio_client(started, errlog=errlog) as streams:
            yield streams


@asynccontextmanager
async def _over_http(spec: ServerSpec) -> AsyncIterator[Any]:
    timeout = httpx2.Timeout(min(spec.start_timeout, 30.0), read=max(spec.timeout, 300.0))
    async with (
        httpx2.AsyncClient(headers=spec.headers, timeout=timeout) as client,
        streamable_http_client(spec.url, http_client=client) as streams,
    ):
        yield streams
