"""The HTTP client behind the connection to a server at an address."""

import re
from typing import Any
from urllib.parse import urljoin

import httpx2
from mcp.types import ErrorData

from ctrag.agents.server.http_answers import read_answer
from ctrag.agents.server.http_events import SSE_LIMIT, events_of

NOT_SENT = -32_098
"""Code of the error that stands for a request that no server has taken."""
_FORGOTTEN = re.compile(
    r"(?:HTTP \d+[\w ]*: )?(?:bad request: |error: )?(?:"
    r"(?:no (?:valid |active )?|invalid |unknown |expired |missing )(?:mcp[- ])?session\b"
    r"|(?:mcp[- ])?session(?: id)?(?: is| was| has)?(?: been)? "
    r"(?:not (?:found|known|valid)|expired|invalid|terminated|closed|unknown|does not exist)"
    r"|(?:server )?not (?:yet )?initiali[sz]ed\b"
    r"|(?:received request )?before initiali[sz]ation\b)",
    re.IGNORECASE,
)
"""How servers say that they do not know the session any more."""


def forgotten(error: ErrorData) -> bool:
    """Whether an error over HTTP says that the server does not know the session any more."""
    return _FORGOTTEN.match(error.message) is not None


class EventClient(httpx2.AsyncClient):
    """For the transport of 2024."""

    async def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
        """See `httpx2.AsyncClient`."""
        response = await super().send(request, **more)
        return _events(response, SSE_LIMIT) if request.method == "GET" else response


class PostingClient(httpx2.AsyncClient):
    """For the streamable transport.

    Answers a request that reached no server, or one that has forgotten the session, with an
    error of its own: the library would end the whole connection at the first, and of neither could
    the caller know that the request was not taken. Other answers are read as they are meant.
    """

    async def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
        """See `httpx2.AsyncClient`."""
        if request.method != "POST":
            response = await super().send(request, **more)
            return _events(response) if request.method == "GET" else response
        try:
            response = await super().send(request, **more)
            if (further := await _with_slash(request, response)) is not None:
                await response.aclose()
                response = await super().send(further, **more)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            return _not_taken(request, str(error) or type(error).__name__)
        if response.status_code in (404, 410) and "mcp-session-id" in request.headers:
            await response.aclose()
            return _not_taken(request, "the session is not known there any more")
        read = await read_answer(request, response)
        if read is not response and not read.headers["content-type"].startswith("text/event"):
            await response.aclose()
        return read


def event_client(
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    """An `EventClient` as the library asks for one."""
    return EventClient(headers=headers, timeout=timeout, auth=auth)


def _events(response: httpx2.Response, *limit: int) -> httpx2.Response:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_stream = kind == "text/event-stream" and response.status_code == 200
    return events_of(response, *limit) if is_stream else response


async def _with_slash(request: httpx2.Request, response: httpx2.Response) -> httpx2.Request | None:
    """The request at the same address with a slash more or less, where it is redirected there by
    a status that would make a GET of it."""
    if response.status_code not in (301, 302):
        return None
    there = httpx2.URL(urljoin(str(request.url), response.headers.get("location", "")))
    here = request.url
    same = (here.scheme, here.host, here.port) == (there.scheme, there.host, there.port)
    if not same or here.path.rstrip("/") != there.path.rstrip("/") or here == there:
        return None
    return httpx2.Request(
        request.method,
        there,
        headers=request.headers,
        content=await request.aread(),
        extensions=request.extensions,
    )


def _not_taken(request: httpx2.Request, why: str) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": NOT_SENT, "message": why}}
    return httpx2.Response(503, json=body, request=request)
