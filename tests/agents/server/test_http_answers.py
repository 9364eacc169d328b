"""What an address answers is read as it is meant, and what HTTP says in place of it is told."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from mcp.types import ErrorData

from ctrag.agents.server.http_client import NOT_SENT, PostingClient, forgotten
from ctrag.agents.server.http_events import Events

pytestmark = pytest.mark.anyio

DONE = {"jsonrpc": "2.0", "id": 7, "result": {"content": []}}
TEXT = json.dumps(DONE)
JSON, EVENTS = "application/json", "text/event-stream"
ASKED = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "print"}}


async def answered(
    body: str | bytes, kind: str | None = JSON, status: int = 200, **headers: str
) -> dict[str, Any]:
    """The message that a client reads of that answer to a call."""

    def server(request: httpx2.Request) -> httpx2.Response:
        given = {**headers, **({} if kind is None else {"content-type": kind})}
        return httpx2.Response(status, headers=given, content=body)

    async with PostingClient(transport=httpx2.MockTransport(server)) as client:
        response = await client.post("http://shop.example/mcp", json=ASKED)
        text = (await response.aread()).decode()
    if response.headers["content-type"] == EVENTS:
        [data] = [one for one in text.split("\n") if one.startswith("data: ")]
        text = data.removeprefix("data: ")
    message: dict[str, Any] = json.loads(text)
    return message


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (TEXT, None),
        (TEXT, "text/plain; charset=utf-8"),
        (TEXT, "text/html"),
        (TEXT, "application/problem+json"),
        (f"[{TEXT}]", JSON),
        ("\ufeff" + TEXT, JSON),
        (json.dumps({"id": 7, "result": {"content": []}}), JSON),
        (json.dumps({"jsonrpc": "2.0", "result": {"content": []}}), JSON),
        (json.dumps({"jsonrpc": "2.0", "id": "7", "result": {"content": []}}), JSON),
        (json.dumps({"content": []}), JSON),
        (f"data: {TEXT}\n\n", EVENTS),
        (f"data: {TEXT}", EVENTS),
        (f"event: response\r\ndata: {TEXT}\r\n\r\n", EVENTS),
        (f"data: [{TEXT}]\n\n", EVENTS),
        (f": hello\n\nevent: ping\ndata: {{}}\n\ndata: connected\n\ndata: {TEXT}\n\n", EVENTS),
        (f"event: message\ndata: {TEXT}\n\n", "text/plain"),
        (f"data: {TEXT}\n\n", None),
    ],
)
async def test_an_answer_is_read_whatever_stands_around_it(body: str, kind: str | None) -> None:
    assert await answered(body, kind) in (DONE, {**DONE, "id": "7"})


@pytest.mark.parametrize(
    ("status", "kind", "body", "told"),
    [
        (403, JSON, '{"error": "no", "error_description": "needs repo:write"}',
         "HTTP 403 Forbidden: needs repo:write"),
        (500, JSON, '{"error": {"message": "quota"}}', "HTTP 500 Internal Server Error: quota"),
        (502, "text/html", "<html><h1>502 Bad Gateway</h1></html>", "HTTP 502 Bad Gateway"),
        (400, "text/plain", "No active session\n", "HTTP 400 Bad Request: No active session"),
        (401, None, "", "HTTP 401 Unauthorized"),
        (200, "text/html", "<html>Sign in</html>",
         "its answer is text/html and no message of the protocol"),
        (200, JSON, "",
         "it was accepted without an answer (HTTP 200 OK) and may have taken effect: check before "
         "you repeat it"),
    ],
)  # fmt: skip
async def test_what_http_says_in_place_of_an_answer_is_told(
    status: int, kind: str | None, body: str, told: str
) -> None:
    message = await answered(body, kind, status)
    assert (message["id"], message["error"]["message"]) == (7, told)


async def test_how_long_to_wait_is_told() -> None:
    message = await answered("slow down", "text/plain", 429, **{"retry-after": "20"})
    assert message["error"]["message"] == (
        "HTTP 429 Too Many Requests: slow down (it may be tried again after 20 s)"
    )


@pytest.mark.parametrize("status", [301, 302])
async def test_a_slash_more_is_followed_with_the_message_and_another_place_is_not(
    status: int,
) -> None:
    asked = []

    def server(request: httpx2.Request) -> httpx2.Response:
        asked.append((request.method, str(request.url)))
        if request.url.path.endswith("/mcp"):
            return httpx2.Response(status, headers={"location": "/mcp/"})
        if request.url.path == "/moved":
            return httpx2.Response(status, headers={"location": "http://other.example/moved/"})
        return httpx2.Response(200, json=DONE)

    async with PostingClient(transport=httpx2.MockTransport(server)) as client:
        assert (await client.post("http://shop.example/mcp", json=ASKED)).json() == DONE
        assert (await client.post("http://shop.example/moved", json=ASKED)).status_code == status
    assert asked == [
        ("POST", "http://shop.example/mcp"),
        ("POST", "http://shop.example/mcp/"),
        ("POST", "http://shop.example/moved"),
    ]


async def test_a_notification_that_is_answered_in_any_way_harms_nothing() -> None:
    def server(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, text="ok")

    noted = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    async with PostingClient(transport=httpx2.MockTransport(server)) as client:
        response = await client.post("http://shop.example/mcp", json=noted)
    assert (response.status_code, response.text) == (200, "ok")


async def test_a_request_that_was_not_taken_has_a_code_of_its_own() -> None:
    def server(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(410, text="gone")

    known = {"mcp-session-id": "s1"}
    async with PostingClient(transport=httpx2.MockTransport(server)) as client:
        response = await client.post("http://shop.example/mcp", json=ASKED, headers=known)
    assert response.json()["error"]["code"] == NOT_SENT


@pytest.mark.parametrize(
    "said",
    [
        "Session not found",
        "session has expired",
        "Invalid session ID",
        "Bad Request: No valid session ID provided",
        "Bad Request: Server not initialized",
        "HTTP 400 Bad Request: No active session",
        "HTTP 401 Unauthorized: Session expired",
        "Received request before initialization was complete",
    ],
)
async def test_a_session_that_is_forgotten_is_one_in_any_words(said: str) -> None:
    assert forgotten(ErrorData(code=-32_000, message=said))


@pytest.mark.parametrize(
    "said",
    ["Session 12 of the browser was not found", "No such file", "The session failed to start"],
)
async def test_a_tools_own_sessions_are_none_of_ours(said: str) -> None:
    assert not forgotten(ErrorData(code=-32_000, message=said))


async def test_an_event_that_is_too_long_fails_its_request_alone() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'data: {"jsonrpc":"2.0","id":7,"result":{"a":"'
        for _ in range(30):
            yield b"x" * 1_000
        yield b'"}}\n\n'
        yield f"data: {TEXT}\n\n".encode()

    response = httpx2.Response(200, content=pieces())
    long, next_one = [
        json.loads(one.decode().partition("data: ")[2])
        async for one in Events(response, limit=10_000)
    ]
    assert long["id"] == 7
    assert "10,000 are read" in long["error"]["message"]
    assert next_one == DONE
