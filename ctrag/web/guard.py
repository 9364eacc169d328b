"""Who may ask for a page, and what a page may load.

A page of another site must not read or change anything here, even though the browser that shows it
runs on this machine: its requests have no cookie, the wrong origin, or (after DNS rebinding) the
wrong host.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ctrag.serving.headers import malformed

LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN = "token"
"""Name of the token in an address."""
MOST_BYTES = 1_000_000
"""Bytes of a form at most, but for one with files."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
"""No script or style but the packaged files, nothing from elsewhere, in nobody's frame. The
referrer stays inside: with none at all, browsers send forms without their origin."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules of one server.

    Args:
        port: Where it is served; the cookie is named after it, as cookies know no ports.
        hosts: Names that it is reached by beside those of this machine.
        token: What the first address has; a new one when left out.
    """

    port: int
    hosts: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()
    """Paths to which files are sent, of any size."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def cookie(self) -> str:
        """Name of the cookie that stands for the token."""
        return f"ctrag_{self.port}"

    def address(self, host: str, path: str = "/") -> str:
        """The address to open, with the token."""
        named = f"[{host}]" if ":" in host else host
        return f"http://{named}:{self.port}{path}?{TOKEN}={self.token}"

    def protect(self, app: ASGIApp) -> ASGIApp:
        """The application behind the rules."""
        return _Guarded(app, self)

    def refusal(self, request: Request) -> Response | None:
        """What a request gets that is not answered; None for one that is."""
        host = request.headers.get("host", "")
        bad = malformed(request)
        if bad is not None:
            return _refused(400 if bad == "origin" else 421, f"malformed {bad} header")
        if not self._known(host):
            return _refused(
                421,
                f"this server is not {host!r}; open it as 127.0.0.1, or give --allow-host",
            )
        if request.method not in ("GET", "HEAD") and not _from_here(request, host):
            return _refused(403, "a page of another site may not change anything here")
        given = request.query_params.get(TOKEN)
        if given is not None and request.method == "GET":
            return self._signed_in(request) if self._fits(given) else _without_token()
        if not self._fits(request.cookies.get(self.cookie, "")):
            return _without_token()
        if request.method in ("GET", "HEAD") or request.url.path in self.uploads:
            return None
        length = request.headers.get("content-length", "0")
        if "transfer-encoding" in request.headers or not 0 <= _whole(length) <= MOST_BYTES:
            return _refused(413, f"a form has at most {MOST_BYTES:,} bytes")
        return None

    def _signed_in(self, request: Request) -> Response:
        """The token goes from the address, where history and screenshots show it, to a cookie."""
        url = request.url.remove_query_params(TOKEN)
        path = "/" + url.path.lstrip("/")  # two slashes would lead to another host
        answer = RedirectResponse(path + (f"?{url.query}" if url.query else ""), 303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer

    def _fits(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    def _known(self, host: str) -> bool:
        """Whether a `Host` is this machine or a named one, at whatever port a container shows."""
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        return name in (*LOOPBACK, *self.hosts)


class _Guarded:
    """ASGI: refuses, or passes on and adds the headers."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # there are no web sockets
        request = Request(scope, receive)
        refusal = self._guard.refusal(request)
        cached = refusal is None and "/static/" in request.url.path
        await (refusal or self._app)(scope, receive, _with_headers(send, cached))


def _with_headers(send: Send, cached: bool) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["cache-control"] = "no-cache" if cached else "no-store"
        await send(message)

    return sent


def _from_here(request: Request, host: str) -> bool:
    """Whether a page of this very server sent it: browsers say where a form was."""
    origin = request.headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc == host
    return request.headers.get("sec-fetch-site") in ("same-origin", "none")


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _refused(code: int, why: str) -> Response:
    return PlainTextResponse(f"Not answered: {why}.\n", code)


def _without_token() -> Response:
    return PlainTextResponse(
        "Open the address that the command printed when it was started: it ends in a token, which "
        "is new at every start.\n",
        401,
    )


def allowed(hosts: Iterable[str]) -> tuple[str, ...]:
    """Host names as they are compared."""
    return tuple(one.strip().strip("[]").casefold() for one in hosts)
