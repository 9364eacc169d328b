"""`Host` and `Origin` headers that are none."""

import pytest

pytest.importorskip("starlette", reason="needs the extra mcp or web")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from ctrag.serving.headers import WellFormed


async def hello(request: Request) -> Response:
    return PlainTextResponse("hello")


CLIENT = TestClient(WellFormed(Starlette(routes=[Route("/", hello)])))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("host", "127.0.0.1:80@evil.example"),
        ("host", "127.0.0.1:x"),
        ("host", "[::1"),
        ("host", "127.0.0.1, evil.example"),
        ("origin", "http://127.0.0.1:1.evil.example"),
        ("origin", "http://x@127.0.0.1:8642"),
        ("origin", "http://[::1"),
        ("origin", ""),
    ],
)
def test_a_header_that_only_begins_like_this_machine_is_refused(name: str, value: str) -> None:
    answer = CLIENT.get("/", headers={name: value})
    assert (answer.status_code, answer.text) == (400, f"Not answered: malformed {name} header.\n")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost"},
        {"host": "[::1]:8642"},
        {"host": "tools_1.example:443"},
        {"origin": "null"},
        {"origin": "https://xn--bcher-kva.example"},
        {"origin": "moz-extension://0f-1a"},
    ],
)
def test_a_header_as_browsers_send_it_is_passed_on(headers: dict[str, str]) -> None:
    assert CLIENT.get("/", headers=headers).text == "hello"
