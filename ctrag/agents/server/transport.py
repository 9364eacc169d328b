"""The connection to one server, whose messages are cleaned before the client reads them."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.mending import mended
from ctrag.agents.server.named_stderr import named_stderr
from ctrag.agents.server.stdio import process_streams

NOT_SENT = -32_098
"""Code of the error that stands for a request that no server has taken."""


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


class _WatchedStream:
    """A write stream that notes which requests are calls of tools."""

    def __init__(self, inner: Any, calls: set[Any]) -> None:
        self._inner = inner
        self._calls = calls

    async def send(self, message: Any) -> None:
        sent = getattr(message, "message", None)
        if getattr(sent, "method", None) == "tools/call":
            self._calls.add(getattr(sent, "id", None))
        await self._inner.send(message)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "_WatchedStream":
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
    way: str = "",
    *,
    name: str = "",
) -> AsyncIterator["TransportStreams"]:
    """Streams to and from a server.

    Args:
        spec: How to reach it.
        clean: Maps the entries of a `tools/list` answer to those that are accepted.
        ended: Called when the stream has ended, for example because its process stopped.
        way: One of `ways`; the first if it is empty.
        name: The server's, which begins each line that its process writes to stderr.

    Raises:
        OSError: The command cannot be started.
        ValueError: A variable that the specification names is not set.
    """

    calls: set[Any] = set()

    def message(received: Any) -> None:
        answer = getattr(received, "message", None)
        result = getattr(answer, "result", None)
        of_call = getattr(answer, "id", None) in calls and not hasattr(answer, "method")
        if of_call:
            calls.discard(answer.id)  # type: ignore[union-attr]
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            result["tools"] = clean(result["tools"])
        elif isinstance(result, dict):
            mended(result, of_call=of_call)

    async with _transport(spec.resolved(), way, name) as (read, write):
        yield _CleanedStream(read, message, ended), _WatchedStream(write, calls)


def ways(spec: ServerSpec) -> Sequence[str]:
    """How to try to reach a server, in this order: an address may still be one of the transport
    of 2024, which answers only to GET."""
    if spec.command:
        return ("stdio",)
    return ("http", "sse") if not spec.transport else (spec.transport,)


def _transport(spec: ServerSpec, way: str, name: str) -> AbstractAsyncContextManager[Any]:
    if spec.command:
        return _process(spec, name)
    return _over_sse(spec, name) if way == "sse" else _over_http(spec, name)


@asynccontextmanager
async def _process(spec: ServerSpec, name: str) -> AsyncIterator[Any]:
    started = StdioServerParameters(
        command=spec.command, args=spec.args, env=spec.env, cwd=spec.cwd
    )
    with named_stderr(name) as errlog:
        async with process_streams(started, name, errlog) as streams:
            yield streams


class _Reaching(httpx2.AsyncClient):
    """Answers a request that reached no server, or one that has forgotten the session, with an
    error of its own.

    The library would end the whole connection at the first, and of neither could the caller know
    that the request was not taken.
    """

    async def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
        try:
            response = await super().send(request, **more)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            if request.method != "POST":
                raise
            return _not_taken(request, str(error) or type(error).__name__)
        forgotten = response.status_code == 404 and "mcp-session-id" in request.headers
        if request.method != "POST" or not forgotten:
            return response
        await response.aclose()
        return _not_taken(request, "the session is not known there any more")


def _not_taken(request: httpx2.Request, why: str) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": NOT_SENT, "message": why}}
    return httpx2.Response(503, json=body, request=request)


def _auth(spec: ServerSpec, name: str) -> httpx2.Auth | None:
    if spec.sign_in is not None:
        from ctrag.agents.server.sign_in import signed_in

        return signed_in(spec, name)
    if spec.client_credentials is None:
        return None
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    client = spec.client_credentials
    return ClientCredentialsOAuthProvider(
        spec.url,
        _Tokens(),
        client.client_id,
        client.client_secret,
        scope=client.scope,
        issuer=client.issuer,
    )


class _Tokens:
    """Tokens of one connection, in memory."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None
        self._client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


@asynccontextmanager
async def _over_sse(spec: ServerSpec, name: str) -> AsyncIterator[Any]:
    headers = spec.headers
    wait = min(spec.start_timeout, 30.0)
    async with sse_client(
        spec.url, headers, wait, max(spec.timeout, 300.0), auth=_auth(spec, name)
    ) as streams:
        yield streams


@asynccontextmanager
async def _over_http(spec: ServerSpec, name: str) -> AsyncIterator[Any]:
    timeout = httpx2.Timeout(min(spec.start_timeout, 30.0), read=max(spec.timeout, 300.0))
    async with (
        _Reaching(headers=spec.headers, timeout=timeout, auth=_auth(spec, name)) as client,
        streamable_http_client(spec.url, http_client=client) as streams,
    ):
        yield streams
