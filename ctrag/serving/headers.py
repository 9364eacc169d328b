"""`Host` and `Origin` headers that are none are refused before anything compares them."""

import re
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?"
_WHOLE = {
    "host": re.compile(_HOST),
    "origin": re.compile(rf"null|[a-z][a-z0-9+.-]*://{_HOST}", re.IGNORECASE),
}


def malformed(request: Request) -> str | None:
    """The name of such a header. A comparison by beginnings would take `127.0.0.1:1.evil.example`
    for this machine at some port."""
    for name, whole in _WHOLE.items():
        if any(not whole.fullmatch(value) for value in request.headers.getlist(name)):
            return name
    return None


class WellFormed:
    """ASGI: answers 400 where a header is malformed, else passes on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and (name := malformed(Request(scope))) is not None:
            await PlainTextResponse(f"Not answered: malformed {name} header.\n", 400)(
                scope, receive, send
            )
            return
        await self._app(scope, receive, send)


def behind_headers(app: Starlette, origins: Sequence[str]) -> Starlette:
    """The application behind `WellFormed`, for pages of these origins too."""
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["mcp-session-id", "mcp-protocol-version", "www-authenticate"],
        )
    app.add_middleware(WellFormed)
    return app
