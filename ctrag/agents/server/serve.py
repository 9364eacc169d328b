"""Running the MCP server: over stdin and stdout, or over HTTP."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from anyio.to_thread import run_sync
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.operations import Metrics, routes
from ctrag.agents.server.principals import BearerTokens, verified
from ctrag.agents.server.protocol import mcp_server
from ctrag.agents.server.reload import Watched, watch
from ctrag.errors import InputError
from ctrag.text.terminal import note

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Who may reach the server over HTTP, and what it tells about itself."""

    allowed_hosts: tuple[str, ...] = ()
    """`Host` headers that are answered beside those of this machine, such as a reverse proxy's
    `tools.example`; without any, an address that others can reach answers to all."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of web pages that may call, such as `https://app.example` (CORS)."""
    metrics: Metrics | None = None
    """Counts what `/metrics` shows; None shows nothing."""


async def serve_stdio(
    gateway: Gateway,
    who: Principal | None,
    watched: Sequence[Watched] = (),
    finish: Callable[[], None] | None = None,
) -> None:
    """Serve one client over stdin and stdout until it disconnects; all other output goes
    to stderr, and `watched` files are read again when they change. On a signal `finish` writes what
    was learned; the index is closed when it is None."""
    server = mcp_server(gateway, lambda: who, gateway.for_one_client())
    async with (
        anyio.create_task_group() as tasks,
        stdio_server() as (read, write),
        gateway.running(),
    ):
        tasks.start_soon(_write_before_the_end, finish or gateway.index.close)
        tasks.start_soon(watch, watched)
        await server.run(read, write, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _write_before_the_end(finish: Callable[[], None]) -> None:
    """On a signal, write what was learned before the process ends.

    A clean exit as over HTTP is impossible: a thread blocks on stdin until the client disconnects.
    """
    if not _in_main_thread():
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
        async for number in received:
            try:
                await run_sync(finish)
            finally:
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)


async def serve_http(
    gateway: Gateway,
    host: str,
    port: int,
    tokens: BearerTokens | None,
    options: HttpOptions | None = None,
    watched: Sequence[Watched] = (),
) -> None:
    """Serve streamable HTTP at `/mcp` until stopped; `watched` as for `serve_stdio`.

    Raises:
        ValueError: The address can be reached from outside and no token is asked for.
    """
    app = http_app(gateway, host, port, tokens, options)
    config = uvicorn.Config(
        app, host, port, log_level="warning", timeout_graceful_shutdown=3, lifespan="on"
    )
    with _terminated_as_interrupted():
        async with gateway.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(watch, watched)
            await _serve(config, host, port)
            tasks.cancel_scope.cancel()


async def _serve(config: uvicorn.Config, host: str, port: int) -> None:
    note(f"serving MCP at {_url(host, port)}")
    await uvicorn.Server(config).serve()


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM acts like Ctrl-C, so that the caller can clean up."""
    if not _in_main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _in_main_thread() -> bool:
    """Python lets no other thread handle signals."""
    return threading.current_thread() is threading.main_thread()


def http_app(
    gateway: Gateway,
    host: str,
    port: int,
    tokens: BearerTokens | None,
    options: HttpOptions | None = None,
) -> Starlette:
    """The ASGI application behind `serve_http`; the gateway must be running.

    Raises:
        ValueError: The address can be reached from outside and no token is asked for.
    """
    options = options or HttpOptions()
    common: Any = {
        "host": host,
        "transport_security": _security(host, options),
        "custom_starlette_routes": routes(gateway, options.metrics),
    }
    if tokens is None:
        if host not in LOOPBACK:
            raise InputError(
                f"http: {host} can be reached from outside; give --access with tokens, or serve "
                "at 127.0.0.1"
            )
        app = mcp_server(gateway, lambda: None).streamable_http_app(**common)
    else:
        server = mcp_server(gateway, lambda: verified(get_access_token()))
        auth = _auth(tokens, _url(host, port))
        app = server.streamable_http_app(auth=auth, token_verifier=tokens, **common)
    if options.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(options.allowed_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["mcp-session-id", "mcp-protocol-version", "www-authenticate"],
        )
    return app


def _auth(tokens: BearerTokens, address: str) -> AuthSettings:
    """What clients are told of where to get a token (RFC 9728): nothing where no issuer of signed
    tokens is named, since the tokens of the access file are handed out by hand. The resource is
    the audience of the tokens where that is an address, as clients reach this server by it."""
    issuer: Any = tokens.issuer
    own: Any = tokens.audience or address
    return AuthSettings(
        issuer_url=issuer or own,
        resource_server_url=own if issuer else None,
        validate_token_resource=False,  # the verifier checks the audience
    )


def _security(host: str, options: HttpOptions) -> TransportSecuritySettings | None:
    """Which hosts and origins are answered; None leaves it to the library, which protects a
    loopback address."""
    if not options.allowed_hosts and (not options.allowed_origins or host not in LOOPBACK):
        return None
    named = [one for name in options.allowed_hosts for one in (name, f"{name}:*")]
    here = ["127.0.0.1", "localhost", "[::1]"]
    return TransportSecuritySettings(
        allowed_hosts=[*named, *(f"{one}:*" for one in here)],
        allowed_origins=[
            *options.allowed_origins,
            *(f"https://{name}" for name in options.allowed_hosts),
            *(f"http://{one}:*" for one in here),
        ],
    )


def _url(host: str, port: int) -> str:
    named = f"[{host}]" if ":" in host else host  # an IPv6 address
    return f"http://{named}:{port}/mcp"
