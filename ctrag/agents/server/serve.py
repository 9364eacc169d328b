"""Running the MCP server: over stdin and stdout, or over HTTP."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from anyio.to_thread import run_sync
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.principals import BearerTokens, verified
from ctrag.agents.server.protocol import mcp_server
from ctrag.errors import InputError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


async def serve_stdio(gateway: Gateway, who: Principal | None) -> None:
    """Serve one client over stdin and stdout until it disconnects; all other output goes
    to stderr."""
    server = mcp_server(gateway, lambda: who)
    async with (
        anyio.create_task_group() as tasks,
        stdio_server() as (read, write),
        gateway.running(),
    ):
        tasks.start_soon(_write_before_the_end, gateway)
        await server.run(read, write, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _write_before_the_end(gateway: Gateway) -> None:
    """On a signal, write what was learned before the process ends.

    A clean exit as over HTTP is impossible: a thread blocks on stdin until the client disconnects.
    """
    if not _in_main_thread():
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
        async for number in received:
            try:
                await run_sync(gateway.index.close)
            finally:
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)


async def serve_http(gateway: Gateway, host: str, port: int, tokens: BearerTokens | None) -> None:
    """Serve streamable HTTP at `/mcp` until stopped.

    Raises:
        ValueError: The address can be reached from outside and no token is asked for.
    """
    app = http_app(gateway, host, port, tokens)
    config = uvicorn.Config(
        app, host, port, log_level="warning", timeout_graceful_shutdown=3, lifespan="on"
    )
    with _terminated_as_interrupted():
        async with gateway.running():
            await _serve(config, host, port)


async def _serve(config: uvicorn.Config, host: str, port: int) -> None:
    print(f"ctrag: serving MCP at {_url(host, port)}", file=sys.stderr)
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


def http_app(gateway: Gateway, host: str, port: int, tokens: BearerTokens | None) -> Starlette:
    """The ASGI application behind `serve_http`; the gateway must be running.

    Raises:
        ValueError: The address can be reached from outside and no token is asked for.
    """
    if tokens is None:
        if host not in LOOPBACK:
            raise InputError(
                f"http: {host} can be reached from outside; give --access with tokens, or serve "
                "at 127.0.0.1"
            )
        return mcp_server(gateway, lambda: None).streamable_http_app(host=host)
    address: Any = _url(host, port)
    auth = AuthSettings(issuer_url=address, resource_server_url=None)
    server = mcp_server(gateway, lambda: verified(get_access_token()))
    return server.streamable_http_app(host=host, auth=auth, token_verifier=tokens)


def _url(host: str, port: int) -> str:
    named = f"[{host}]" if ":" in host else host  # an IPv6 address
    return f"http://{named}:{port}/mcp"
