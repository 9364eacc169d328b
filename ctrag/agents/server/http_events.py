"""Streams of events (SSE) whose messages are read as they are meant."""

import json
import re
from collections.abc import AsyncIterator

import httpx2
from mcp.types import INTERNAL_ERROR

from ctrag.agents.server.messages import answer, readable

LIMIT = 64 * 1024 * 1024
"""Bytes of one event of the streamable transport."""
SSE_LIMIT = 1_000_000
"""The same for the transport of 2024, whose client takes no more."""
_END = re.compile(rb"\r\n|\n|\r(?!$)")
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')


class Events(httpx2.AsyncByteStream):
    """The events of an answer: each a message of the protocol's form, or one for the transport.

    Batches are parted, names that no revision has (`event: response`) are dropped, what is no
    message is passed over, and the last event needs no empty line behind it.

    Args:
        response: Whose content is a stream of events.
        limit: Bytes of one event; the request whose answer is longer gets an error.
    """

    def __init__(self, response: httpx2.Response, limit: int = LIMIT) -> None:
        self._response = response
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        block: list[bytes] = []
        async for line in self._lines():
            if line:
                block.append(line)
            elif block:
                yield _event(block)
                block = []
        if block:
            yield _event(block)

    async def aclose(self) -> None:
        """Close the answer."""
        await self._response.aclose()

    async def _lines(self) -> AsyncIterator[bytes]:
        """The lines of the content; of one that is too long, an error in its place."""
        rest: list[bytes] = []
        size = 0
        async for piece in self._response.aiter_bytes():
            *ended, last = _END.split(piece)
            for one in ended:
                yield self._line(rest, one, size + len(one))
                rest, size = [], 0
            size += len(last)
            if size <= self._limit or not rest:
                rest.append(last)
        if rest and any(rest):
            yield self._line(rest, b"", size)

    def _line(self, pieces: list[bytes], last: bytes, size: int) -> bytes:
        line = b"".join([*pieces, last]).rstrip(b"\r")
        if size <= self._limit:
            return line
        found = _ID.search(line[:4_096])
        why = f"the answer has {size:,} bytes; {self._limit:,} are read"
        error = {"code": INTERNAL_ERROR, "message": why}
        asked = json.loads(found[1]) if found else None
        return b"data: " + json.dumps({"jsonrpc": "2.0", "id": asked, "error": error}).encode()


def events_of(response: httpx2.Response, limit: int = LIMIT) -> httpx2.Response:
    """The response with its events as `Events` has them."""
    headers = [
        (key, value)
        for key, value in response.headers.multi_items()
        if key.lower() not in ("content-encoding", "content-length", "transfer-encoding")
    ]
    made = httpx2.Response(
        response.status_code,
        headers=headers,
        stream=Events(response, limit),
        request=response.request,
        extensions=response.extensions,
    )
    made.headers["content-type"] = "text/event-stream"
    return made


def _event(block: list[bytes]) -> bytes:
    """An event as it is passed on; empty where it says nothing to a client."""
    fields: dict[bytes, list[bytes]] = {}
    for line in block:
        name, _, value = line.partition(b":")
        fields.setdefault(name, []).append(value.removeprefix(b" "))
    as_it_is = b"\n".join(block) + b"\n\n"
    if b"data" not in fields or fields.get(b"event") == [b"endpoint"]:
        return as_it_is
    text = b"\n".join(fields[b"data"]).decode("utf-8", "replace")
    if not text.strip():
        return as_it_is
    kept = [b"%s: %s" % (name, fields[name][-1]) for name in (b"id", b"retry") if name in fields]
    messages = [json.dumps(one).encode() for one in _messages(text)]
    told = [b"data: " + one for one in messages]
    if not told:
        return b"\n".join(kept) + b"\n\n" if kept else b""
    return b"\n\n".join([*told[:-1], b"\n".join([*kept, told[-1]])]) + b"\n\n"


def _messages(text: str) -> list[object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [*readable(text)]
    if answer(value) or (isinstance(value, dict) and "method" in value and "jsonrpc" in value):
        return [value]
    return [*readable(text)]
