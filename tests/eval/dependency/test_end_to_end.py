"""Whole requests by a model behind an endpoint, over a real HTTP server of its protocol."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.next_tool import Demonstration, NextTool
from ctrag.models.endpoint import ChatEndpoint
from eval.dependency.end_to_end import (
    Asked,
    arguments_of,
    read_arguments,
    run_end_to_end,
    same_arguments,
)
from eval.instructions.tool_choice import EndpointChooser

MAIL = Demonstration("q", "Mail Zoe that I am late", ("find_contact", "send_mail"))


class Model(BaseHTTPRequestHandler):
    """Names the tools of the request in order, and knows the arguments of the first alone."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(length))["messages"][-1]["content"]
        if asked.endswith("Arguments:"):
            first = "Calls so far: none" in asked
            said = 'Here: {"name": " ZOE "}' if first else "{}"
        else:
            called = asked.rpartition("Called so far: ")[2]
            left = [one for one in MAIL.tools if one not in called]
            said = left[0] if left else "end"
        message = {"role": "assistant", "content": said}
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def asked() -> Iterator[Asked]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    yield Asked(EndpointChooser(address, "m", ""), ChatEndpoint(address, "m", ""))
    server.shutdown()
    server.server_close()


def test_a_request_succeeds_with_the_right_calls_and_arguments_alone(
    next_tool: NextTool, asked: Asked
) -> None:
    right: dict[str, list[dict[str, Any]]] = {"q": [{"name": "Zoe"}, {}]}
    wrong: dict[str, list[dict[str, Any]]] = {"q": [{"name": "Zoe"}, {"text": "late"}]}
    among = next_tool.among(None)
    for arguments, success in ((right, 100.0), (wrong, 0.0), ({}, None)):
        found: Any = run_end_to_end(
            next_tool, [MAIL], arguments, among, asked, 1, lambda _: None, ["none"]
        )
        shown = found["methods"]["none"]
        assert (shown["calls"]["mean"], shown["success"]["mean"]) == (100.0, success)
        assert found["with_arguments"] == len(arguments)


def test_arguments_are_compared_by_what_they_say() -> None:
    assert same_arguments({"a": "New  York", "n": 2.0, "x": None}, {"a": "new york", "n": "2"})
    assert not same_arguments({"a": "x"}, {"a": "y"})
    assert not same_arguments(None, {})
    assert read_arguments('Sure {not json} {"a": {"b": 1}} {}') == {"a": {"b": 1}}
    assert read_arguments("none") is None


def test_arguments_are_read_where_the_data_have_them(tmp_path: Path) -> None:
    rows = [
        {"query_id": "a", "text": "x", "calls": [{"api": "f", "arguments": {"n": 1}}]},
        {"query_id": "b", "text": "y", "tools": ["f"]},
    ]
    lines = "".join(json.dumps(one) + "\n" for one in rows)
    (tmp_path / "queries.jsonl").write_text(lines, encoding="utf-8")
    assert arguments_of(tmp_path) == {"a": [{"n": 1}]}
