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
from mcp.types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
)

from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.handshake import mended_greeting
from ctrag.agents.server.http_client import NOT_SENT, PostingClient, event_client, forgotten
from ctrag.agents.server.listing import mended_list
from ctrag.agents.server.mending import mended
from ctrag.agents.server.named_stderr import named_stderr
from ctrag.agents.server.stdio import process_streams

_READ = frozenset(("initialize", "tools/list", "tools/call"))
"""Requests whose answers are read in forms of their own."""
_OF_STREAM = "SSE stream "
"""How the library's own errors of a lost connection begin."""


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
    """A write stream that notes of requests what they ask for."""

    def __init__(self, inner: Any, asked: dict[str, str], version: str) -> None:
        self._inner = inner
        self._asked = asked
        self._version = version

    async def send(self, message: Any) -> None:
        sent = getattr(message, "message", None)
        if isinstance(sent, JSONRPCRequest):
            if sent.method in _READ:
                self._asked[str(sent.id)] = sent.method
            if sent.method == "initialize" and self._version and sent.params is not None:
                sent.params["protocolVersion"] = self._version
            if sent.params is None:  # some servers do without them, and some do not
                sent.params = {}
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
    version: str = "",
) -> AsyncIterator["TransportStreams"]:
    """Streams to and from a server.

    Args:
        spec: How to reach it.
        clean: Maps the entries of a `tools/list` answer to those that are accepted.
        ended: Called when the stream has ended, for example because its process stopped.
        way: One of `ways`; the first if it is empty.
        name: The server's, which begins each line that its process writes to stderr.
        version: The revision to propose in the handshake; empty for the latest.

    Raises:
        OSError: The command cannot be started.
        ValueError: A variable that the specification names is not set.
    """

    asked: dict[str, str] = {}

    def message(received: Any) -> None:
        answer = getattr(received, "message", None)
        if isinstance(answer, JSONRPCError):
            method = asked.pop(str(answer.id), "")
            unknown = answer.error.code == METHOD_NOT_FOUND
            if method == "initialize" and unknown and answer.id is not None:
                made = JSONRPCResponse(jsonrpc="2.0", id=answer.id, result={})
                mended_greeting(made.result, name)  # it may have tools all the same
                received.message = made
            else:
                _recode(answer.error, over_http=bool(spec.url))
        elif isinstance(answer, JSONRPCResponse):
            method, result = asked.pop(str(answer.id), ""), answer.result
            if method == "initialize":
                mended_greeting(result, name)
            elif method == "tools/list":
                mended_list(result)
            mended(result, of_call=method == "tools/call")
            if isinstance(result.get("tools"), list):
                result["tools"] = clean(result["tools"])

    async with _transport(spec.resolved(), way, name) as (read, write):
        yield _CleanedStream(read, message, ended), _WatchedStream(write, asked, version)


def _recode(error: ErrorData, *, over_http: bool) -> None:
    """Give an error of the server's a code that cannot be taken for one of the transport.

    The library has -32000 for a lost connection, and many servers have it for any error of
    theirs.
    """
    lost = over_http and error.message.startswith(_OF_STREAM)
    if over_http and forgotten(error):
        error.code = NOT_SENT
    elif error.code == CONNECTION_CLOSED and not lost:
        error.code = INTERNAL_ERROR


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
    wait = min(spec.start_timeout, 30.0)
    async with sse_client(
        spec.url,
        spec.headers,
        wait,
        max(spec.timeout, 300.0),
        httpx_client_factory=event_client,
        auth=_auth(spec, name),
    ) as streams:
        yield streams


@asynccontextmanager
async def _over_http(spec: ServerSpec, name: str) -> AsyncIterator[Any]:
    timeout = httpx2.Timeout(min(spec.start_timeout, 30.0), read=max(spec.timeout, 300.0))
    async with (
        PostingClient(headers=spec.headers, timeout=timeout, auth=_auth(spec, name)) as client,
        streamable_http_client(spec.url, http_client=client, max_sse_event_size=None) as streams,
    ):
        yield streams
