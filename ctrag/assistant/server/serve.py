"""Running the assistant's server: MCP over stdin and stdout, or MCP and chat over HTTP."""

from dataclasses import dataclass
from threading import Thread
from typing import Any

import uvicorn
from mcp.server.auth.settings import AuthSettings
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from ctrag.assistant.server.access import Tokens
from ctrag.assistant.server.chat import ChatEndpoint
from ctrag.assistant.server.door import Door
from ctrag.assistant.server.mcp_tools import mcp_server
from ctrag.assistant.server.problems import no_such_route
from ctrag.assistant.server.remembered import Remembered
from ctrag.assistant.server.told import failure
from ctrag.serving.addresses import refuse_without_tokens, security, url_of
from ctrag.serving.headers import behind_headers
from ctrag.serving.patience import patient
from ctrag.serving.signals import terminated_as_interrupted
from ctrag.text.terminal import note


@dataclass(frozen=True, slots=True)
class Served:
    """Where the assistant is served over HTTP, and to whom."""

    host: str
    port: int
    tokens: Tokens | None = None
    """None at an address that only this machine reaches."""
    hosts: tuple[str, ...] = ()
    """`Host` headers that are answered beside this machine's, such as a reverse proxy's."""
    origins: tuple[str, ...] = ()
    """Origins of web pages that may call (CORS)."""


async def serve_stdio(door: Door) -> None:
    """Serve one MCP client over stdin and stdout until it disconnects."""
    server = mcp_server(door)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http(door: Door, served: Served) -> None:
    """Serve MCP at `/mcp` and chat completions below `/v1` until stopped.

    Raises:
        ValueError: The address can be reached from outside and no token is asked for.
    """
    app = http_app(door, served)
    host, port = served.host, served.port
    config = patient(app, host, port)
    Thread(target=_warm, args=(door,), name="warm", daemon=True).start()
    note(f"serving MCP at {url_of(host, port, '/mcp')}, chat at {url_of(host, port, '/v1')}")
    with terminated_as_interrupted():
        await uvicorn.Server(config).serve()


def _warm(door: Door) -> None:
    try:
        door.warm()
    except Exception as error:  # it is told where it is asked for
        note(failure(error))


def http_app(door: Door, served: Served) -> Starlette:
    """The ASGI application behind `serve_http`; errors as there."""
    guarded = security(served.host, served.hosts, served.origins)
    chat = ChatEndpoint(Remembered(door), guarded, served.tokens is not None)
    common: Any = {
        "host": served.host,
        "transport_security": guarded,
        "custom_starlette_routes": chat.routes(),
    }
    if served.tokens is None:
        refuse_without_tokens(served.host)
    else:
        own: Any = url_of(served.host, served.port, "/mcp")
        # Tokens are handed out by hand: no server is named to get one from.
        auth = AuthSettings(issuer_url=own, resource_server_url=None, validate_token_resource=False)
        common |= {"auth": auth, "token_verifier": served.tokens}
    app = mcp_server(door).streamable_http_app(**common)
    app.add_exception_handler(HTTPException, no_such_route)
    return behind_headers(app, served.origins)
