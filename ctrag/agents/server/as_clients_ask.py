"""Requests of clients that keep to less of the protocol's form than its library asks for."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from mcp.server.context import ServerRequestContext
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ctrag.agents.session.sent_values import object_of

PATH = "/mcp"
_BOTH = b"application/json, text/event-stream"
_EVENTS = b"text/event-stream"


async def with_readable_params(ctx: "ServerRequestContext[Any]", call_next: Any) -> Any:
    """Middleware of a server: a call's arguments as an object, where they are a text or a list of
    one, and no `_meta` that is none."""
    params = ctx.params
    if not isinstance(params, Mapping):
        return await call_next(ctx)
    read = dict(params)
    if not isinstance(read.get("_meta", {}), Mapping):
        del read["_meta"]
    if ctx.method == "tools/call" and not isinstance(read.get("arguments", {}), Mapping):
        with suppress(ValueError):  # then the library says what is the matter
            read["arguments"] = object_of(read["arguments"])
    return await call_next(ctx if read == params else replace(ctx, params=read))


class AsClientsAsk:
    """An application that answers at `/mcp/` too, and clients that accept one of its two content
    types alone: by the one they accept, and by JSON where they do not say any."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["path"] not in (PATH, f"{PATH}/"):
            await self._app(scope, receive, send)
            return
        scope = {**scope, "path": PATH, "raw_path": PATH.encode()}
        accepted = b",".join(value for name, value in scope["headers"] if name == b"accept").lower()
        json_too = not accepted or b"application/json" in accepted
        if scope["method"] == "POST" and json_too != (_EVENTS in accepted):
            others = [(name, value) for name, value in scope["headers"] if name != b"accept"]
            scope["headers"] = [*others, (b"accept", _BOTH)]
            send = _Json(send).send if json_too else send
        await self._app(scope, receive, send)


class _Json:
    """Passes an answer that comes as events on as JSON."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """See ASGI."""
        if message["type"] == "http.response.start" and _is_stream(message):
            self._start = message
            return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        body = _answer(self._body)
        headers = [
            (name, value)
            for name, value in self._start["headers"]
            if name.lower() not in (b"content-type", b"content-length")
        ]
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await self._send({**self._start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _is_stream(message: Message) -> bool:
    given = {name.lower(): value for name, value in message["headers"]}
    return bool(given.get(b"content-type", b"").startswith(_EVENTS))


def _answer(events: bytes) -> bytes:
    """The answer among the messages of a stream; empty where there is none."""
    for line in reversed(events.splitlines()):
        if line.startswith(b"data:") and line[5:].strip():
            message = json.loads(line[5:])
            if "method" not in message:
                return line[5:].strip()
    return b""
