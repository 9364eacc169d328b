"""Clients that keep to less of the protocol's form than its library asks for are answered."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from ctrag.agents.server.gateway import Gateway
from tests.agents.server.conftest import Topics, tool
from tests.agents.server.test_http import served

pytestmark = pytest.mark.slow

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "plain", "version": "1"},
    },
}
JSON, EVENTS = "application/json", "text/event-stream"


@pytest.fixture(scope="module")
def post() -> Iterator[Callable[..., httpx2.Response]]:
    """Posts a message to a served gateway, in one session of the 2025 revision."""
    from ctrag.agents.search.index import ToolIndex

    made = Gateway(ToolIndex([tool("print", "Print a page")], Topics()))
    with served(made) as url, httpx2.Client(timeout=60) as client:
        both = {"accept": f"{JSON}, {EVENTS}", "content-type": JSON}
        known = {
            "mcp-session-id": client.post(url, json=HELLO, headers=both).headers["mcp-session-id"]
        }
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        client.post(url, json=told, headers={**both, **known})

        def send(method: str, params: Any = None, slash: str = "", **headers: Any) -> Any:
            message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params or {}}
            request = client.build_request(
                "POST", url + slash, json=message, headers={**both, **known, **headers}
            )
            if headers.get("accept") == "":
                del request.headers["accept"]
            return client.send(request)

        yield send


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("", JSON), (JSON, JSON), (EVENTS, EVENTS), ("*/*", EVENTS), (f"{JSON}, {EVENTS}", EVENTS)],
)
def test_a_client_is_answered_in_the_content_type_that_it_accepts(
    post: Callable[..., Any], accept: str, kind: str
) -> None:
    answer = post("ping", accept=accept)
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    if kind == JSON:
        assert answer.json() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_a_page_for_people_is_not_had(post: Callable[..., Any]) -> None:
    assert post("ping", accept="text/html").status_code == 406


def test_the_address_with_a_slash_is_the_same_and_none_is_redirected_to(
    post: Callable[..., Any],
) -> None:
    assert post("ping", slash="/").status_code == 200
    assert post("ping", slash="/more").status_code == 404


@pytest.mark.parametrize(
    "arguments", ['{"query": "print a page"}', [{"query": "print a page"}], {"query": "print"}]
)
def test_arguments_are_an_object_however_they_are_sent(
    post: Callable[..., Any], arguments: Any
) -> None:
    call = {"name": "search_tools", "arguments": arguments, "_meta": None}
    result = post("tools/call", call, accept=JSON).json()["result"]
    assert [one["name"] for one in result["structuredContent"]["tools"]] == ["print"]


def test_arguments_that_are_none_are_refused(post: Callable[..., Any]) -> None:
    call = {"name": "search_tools", "arguments": "print a page"}
    assert "error" in post("tools/call", call, accept=JSON).json()
