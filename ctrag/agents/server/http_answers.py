"""Answers to a posted message that break the protocol's form, as the answers that they are meant
to be."""

import json
import re
from typing import Any

import httpx2
from mcp.types import INTERNAL_ERROR, METHOD_NOT_FOUND

from ctrag.agents.server.http_events import LIMIT, events_of
from ctrag.agents.server.messages import answer, readable

_RESULTS = ("content", "structuredContent", "tools", "protocolVersion", "contents", "messages")
"""Fields of a result that a server sends without the message around it."""
_SAID = ("error_description", "message", "detail", "error", "title", "reason")
"""Where an error of HTTP in JSON says what is the matter, in the order in which they count."""
_EVENTS = re.compile(r"\s*(?::|(?:event|data|id|retry):)")
_TITLE = re.compile(r"<(title|h1)[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_SHOWN = 500
"""Characters of an error's text that are told."""


async def read_answer(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """The answer to a request of the protocol, in a form that the library reads.

    What is no answer at all becomes an error that says what HTTP said. Answers to notifications,
    and redirects, are left as they are.
    """
    if 300 <= response.status_code < 400:
        return response
    asked = _asked(await request.aread())
    if asked is None:
        return response
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/event-stream" and response.status_code < 300:
        return events_of(response)
    body = await _content(response)
    if body is None:
        return _as_json(response, _error(asked, f"the answer has more than {LIMIT:,} bytes"))
    text = body.decode("utf-8", "replace")
    value = _value(text)
    if answer(value) and (response.status_code < 300 or "error" in value):
        return _as_json(response, value, response.status_code)
    if kind != "application/json" and _EVENTS.match(text):
        return events_of(_with(response, body, "text/event-stream"))
    made = _answer(text, value, asked)
    return _as_json(response, made or _error(asked, *_refusal(response, text, value)))


def _asked(posted: bytes) -> Any:
    """The id of the request that was posted; None for a notification or an answer."""
    value = _value(posted.decode("utf-8", "replace"))
    return value.get("id") if isinstance(value, dict) and "method" in value else None


def _answer(text: str, value: Any, asked: Any) -> dict[str, Any] | None:
    """The answer that a body means, among others or without what is to be around it."""
    if isinstance(value, dict) and "jsonrpc" not in value and "error" not in value:
        if "result" not in value and any(one in value for one in _RESULTS):
            value = {"result": value}
        text = json.dumps({"id": asked, **value}) if "result" in value else ""
    elif isinstance(value, dict) and "jsonrpc" in value and "id" not in value:
        text = json.dumps({**value, "id": asked})
    answers = [one for one in readable(text) if "method" not in one]
    own = [one for one in answers if str(one["id"]) == str(asked)]
    found = own or [one for one in answers if one["id"] is None]
    return {**found[0], "id": asked} if found else None


def _refusal(response: httpx2.Response, text: str, value: Any) -> tuple[str, int]:
    """What HTTP says in place of an answer, and its code."""
    status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
    if response.status_code < 300:
        if text.strip():
            kind = response.headers.get("content-type", "") or "of no type"
            return f"its answer is {kind} and no message of the protocol", INTERNAL_ERROR
        return (
            f"it was accepted without an answer ({status}) and may have taken effect: check before "
            "you repeat it",
            INTERNAL_ERROR,
        )
    said = _told(value) if isinstance(value, dict) else ""
    if not said and "<" in text:
        titled = _TITLE.search(text)
        said = re.sub(r"<[^>]*>", " ", titled[2]) if titled else ""
    elif not said and not isinstance(value, dict | list):
        said = text
    said = " ".join(said.split())[:_SHOWN]
    whole = f"{status}: {said}" if said and said.lower() not in status.lower() else status
    if (wait := response.headers.get("retry-after", "")).isdecimal():
        whole += f" (it may be tried again after {wait} s)"
    return whole, METHOD_NOT_FOUND if response.status_code == 404 else INTERNAL_ERROR


def _told(value: dict[str, Any]) -> str:
    for key in _SAID:
        one = value.get(key)
        if isinstance(one, dict):
            one = _told(one)
        if isinstance(one, str) and one:
            return one
    return ""


async def _content(response: httpx2.Response) -> bytes | None:
    """The body; None where it is too long."""
    pieces: list[bytes] = []
    size = 0
    async for one in response.aiter_bytes():
        pieces.append(one)
        size += len(one)
        if size > LIMIT:
            return None
    return b"".join(pieces)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _error(asked: Any, why: str, code: int = INTERNAL_ERROR) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": why}}


def _as_json(
    response: httpx2.Response, message: dict[str, Any], status: int = 200
) -> httpx2.Response:
    body = json.dumps(message).encode()
    return _with(response, body, "application/json", status)


def _with(response: httpx2.Response, body: bytes, kind: str, status: int = 200) -> httpx2.Response:
    """A response of the same session with another body."""
    kept = {key: value for key, value in response.headers.items() if key.lower().startswith("mcp-")}
    return httpx2.Response(
        status, headers={**kept, "content-type": kind}, content=body, request=response.request
    )
