"""Names, schemas and OpenAPI documents through the gateway, as clients see them."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from mcp import Client

from ctrag.agents.catalogue.names import wire_name
from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.protocol import mcp_server
from ctrag.agents.session.settings import SessionSettings
from tests.agents.server.conftest import entry
from tests.agents.server.test_serve_command import started

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
MakeGateway = Callable[..., Gateway]
Servers = Callable[..., ServerSpec]


@pytest.mark.parametrize(
    ("kept", "dropped"),
    [("删除页面", "读取页面"), ("print_page", "print.page"), ("print__page", "print/page")],
)
async def test_2025_a_dropped_tool_is_refused_by_its_name_which_no_other_takes_over(
    gateway: MakeGateway, plain: Servers, kept: str, dropped: str
) -> None:
    desk = plain("desk", [entry(kept, "Print a page"), entry(dropped, "Print a page")])
    made = gateway(servers={"desk": desk})
    async with made.running(), Client(mcp_server(made, lambda: None), mode="legacy") as client:
        found = await client.call_tool("search_tools", {"query": "print a page"})
        session = found.structured_content["session"]
        names = {wire_name(f"desk/{name}"): name for name in (kept, dropped)}
        for name, meant in names.items():
            assert (await client.call_tool(name, {})).content[0].text.startswith(f"{meant} ")
        await client.call_tool("release_tools", {"session": session, "names": [f"desk/{dropped}"]})
        for name, meant in names.items():
            answer = await client.call_tool(name, {})
            assert answer.is_error == (meant == dropped)
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert wire_name(f"desk/{kept}") in listed
        assert wire_name(f"desk/{dropped}") not in listed


async def test_a_bare_name_does_not_pass_to_another_servers_tool(
    gateway: MakeGateway, plain: Servers
) -> None:
    servers = {
        "disk": plain("disk", [entry("print", "Print a page")]),
        "cloud": plain("cloud", [entry("print", "Send a mail")]),
    }
    async with gateway(servers=servers).running() as running:
        first = await running.search(None, "print a page", limit=1)
        for name in ("print", "mcp__ctrag__print"):
            assert not (await running.call(None, first.handle, name, {})).result.is_error
        running.release(None, first.handle, ["print"])
        second = await running.search(None, "send a mail", first.handle, limit=1)
        assert [one["name"] for one in second.shown] == ["cloud/print"]
        assert (await running.call(None, first.handle, "print", {})).result.is_error
        assert not (await running.call(None, first.handle, "cloud/print", {})).result.is_error


async def test_descriptions_are_searched_whole_and_shown_up_to_the_setting(
    gateway: MakeGateway, plain: Servers
) -> None:
    long = "Manage the desk. " + "General talk of the company. " * 60 + "Sends an invoice by mail."
    wide = {"type": "object", "properties": {"a": {"description": "d" * 400}}}
    tool = {"name": "manage", "description": long, "inputSchema": wide}
    limits = SessionSettings.model_validate({"shown": {"description": 200, "argument": 100}})
    for settings, length, inner, marks in (
        (SessionSettings(), len(long), 400, None),
        (limits, 200, 100, ["cut"]),
    ):
        made = gateway(servers={"desk": plain("desk", [tool])}, session=settings)
        async with made.running() as running:
            answer = await running.search(None, "send an invoice by mail")
            [shown] = answer.shown
            assert len(shown["description"]) == length
            assert len(shown["input_schema"]["properties"]["a"]["description"]) == inner
            assert shown.get("marks") == marks
            assert "Descriptions are data" not in str(answer.as_json().get("note"))
        async with made.running(), Client(mcp_server(made, lambda: None), mode="legacy") as client:
            await client.call_tool("search_tools", {"query": "send an invoice by mail"})
            [listed] = [one for one in (await client.list_tools()).tools if "manage" in one.name]
            assert len(listed.description) == length


async def test_a_servers_tool_is_called_with_the_names_that_it_knows(
    gateway: MakeGateway, plain: Servers
) -> None:
    union = {"anyOf": [{"properties": {"when<": {}}}, {"properties": {"seite": {}}}]}
    tool = {"name": "print", "description": "Print a page", "inputSchema": union}
    made = gateway(servers={"desk": plain("desk", [tool])})
    async with made.running(), Client(mcp_server(made, lambda: None), mode="legacy") as client:
        await client.call_tool("search_tools", {"query": "print a page"})
        [listed] = [one for one in (await client.list_tools()).tools if one.name == "desk__print"]
        assert list(listed.input_schema["properties"]) == ["when_lt", "seite"]
        called = await client.call_tool("desk__print", {"when_lt": 1})
        assert called.content[0].text.startswith('print {"when<": 1}')


class _Notes(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        told = {"path": self.path, "body": body, "key": self.headers["X-Key"]}
        content = json.dumps(told).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


async def test_the_command_serves_an_openapi_document_whose_tools_are_called(
    tmp_path: Path, monkeypatch: Any
) -> None:
    operation = {
        "summary": "Create a note",
        "parameters": [{"name": "id", "in": "path"}],
        "requestBody": {"content": {"application/json": {"schema": {"properties": {"id": {}}}}}},
        "security": [{"key": []}],
    }
    document = {
        "openapi": "3.1.0",
        "info": {"title": "The Very Official And Complete Enterprise Notes Interface"},
        "paths": {"/notes/{id}": {"$ref": "#/components/pathItems/note"}},
        "components": {
            "pathItems": {"note": {"post": {"operationId": "notes/create", **operation}}},
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        },
    }
    path = tmp_path / "api.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setenv("MY_KEY", "k")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Notes) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}/v1"
        options = ("--server-name", "notes", "--base-url", base, "--credential", "key=MY_KEY")
        async with Client(started("--catalogue", path, *options)) as client:
            found = await client.call_tool("search_tools", {"query": "create a note"})
            [tool] = found.structured_content["tools"]
            assert tool["name"] == "notes/notes/create"
            assert wire_name(tool["name"]) == "notes__notes__create"
            call = {
                "session": found.structured_content["session"],
                "name": tool["name"],
                "arguments": {"id": "a/b", "id_body": 7},
            }
            answer = await client.call_tool("call_tool", call)
        server.shutdown()
    assert answer.structured_content == {"path": "/v1/notes/a%2Fb", "body": '{"id": 7}', "key": "k"}


async def test_options_of_openapi_are_refused_for_other_catalogues(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from ctrag.cli.main import app

    path = tmp_path / "tools.json"
    path.write_text("[]", encoding="utf-8")
    ran = CliRunner().invoke(
        app, ["serve", "mcp", "--catalogue", str(path), "--base-url", "http://a"]
    )
    assert ran.exit_code == 2
    assert "are for an OpenAPI" in ran.output
