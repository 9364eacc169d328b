"""Running the MCP server: over stdin and stdout, or over HTTP."""

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from anyio.to_thread import run_sync
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.as_clients_ask import AsClientsAsk
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.operations import Metrics, routes
from ctrag.agents.server.principals import BearerTokens, verified
from ctrag.agents.server.protocol import mcp_server
from ctrag.agents.server.reload import Watched, watch
from ctrag.serving.addresses import refuse_without_tokens, security, url_of
from ctrag.serving.headers import behind_headers
from ctrag.serving.patience import patient
from ctrag.serving.signals import in_main_thread, terminated_as_interrupted
from ctrag.text.terminal import note


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
    pages: tuple[BaseRoute, ...] = ()
    """Further routes, which see to it themselves who may ask."""


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
    if not in_main_thread():
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
    config = patient(app, host, port)
    with terminated_as_interrupted():
        async with gateway.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(watch, watched)
            await _serve(config, host, port)
            tasks.cancel_scope.cancel()


async def _serve(config: uvicorn.Config, host: str, port: int) -> None:
    note(f"serving MCP at {url_of(host, port, '/mcp')}")
    await uvicorn.Server(config).serve()


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
        "transport_security": security(host, options.allowed_hosts, options.allowed_origins),
        "custom_starlette_routes": [*routes(gateway, options.metrics), *options.pages],
    }
    if tokens is None:
        refuse_without_tokens(host)
        app = mcp_server(gateway, lambda: None).streamable_http_app(**common)
    else:
        server = mcp_server(gateway, lambda: verified(get_access_token()))
        auth = _auth(tokens, url_of(host, port, "/mcp"))
        app = server.streamable_http_app(auth=auth, token_verifier=tokens, **common)
    app.add_middleware(AsClientsAsk)
    return behind_headers(app, options.allowed_origins)


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
