"""`ctrag serve mcp --check`: what would be served, what is left out and why."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.check import Report, check, not_found
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.protocol import mcp_server
from ctrag.agents.server.servers import SELF
from ctrag.agents.session.tokens import tool_tokens
from stores.tools.memory import MemoryToolStore
from tests.agents.server.conftest import PATIENT, Topics, entry, tool
from tests.agents.server.test_starting import DEAD

Servers = Callable[..., ServerSpec]


async def report_of(upstreams: Upstreams, store: MemoryToolStore | None = None) -> Report:
    index = ToolIndex([SELF], Topics(), store=store)
    return await check(Gateway(index, upstreams, settings=PATIENT), upstreams)


@pytest.mark.anyio
async def test_the_report_says_each_servers_tools_and_what_is_left_out_and_why(
    plain: Servers,
) -> None:
    listed = [
        entry("print_page", "Print a page"),
        entry("send_mail", "Send a mail. " + 200 * "At length. "),
        entry("no_schema", inputSchema="none"),
        entry("clock", "Tell the time"),
    ]
    servers = {
        "desk": plain("desk", listed, exclude=["clock", "weather"]),
        "other desk": plain("other", [entry("print_page", "Print a page elsewhere")]),
        "dead": DEAD,
    }
    made = Upstreams(
        servers=servers,
        registries={"hub": DEAD},
        disabled=["off"],
        problems={"bad": "give either a command or a url"},
        notes=["something was read otherwise"],
    )
    report = await report_of(made)
    assert report.fails
    assert {one.name: one.state for one in report.servers} == {
        "desk": "ok",
        "other desk": "ok",
        "dead": "fails",
        "bad": "left out",
        "hub": "fails",
        "off": "disabled",
    }
    by_name = {one.name: one for one in report.servers}
    desk = by_name["desk"]
    assert desk.tools == 2
    assert set(desk.left_out) == {"no_schema", "clock"}
    assert desk.left_out["clock"] == "is named by `exclude`"
    assert desk.unused == ["weather"]
    assert "no-such-command" in by_name["dead"].why
    assert by_name["bad"].why == "give either a command or a url"
    assert report.tools == 3
    assert report.tokens == desk.tokens + by_name["other desk"].tokens > 0
    assert report.same_names == {"print_page": ["desk/print_page", "other desk/print_page"]}
    assert report.notes == ["something was read otherwise"]
    assert json.loads(json.dumps(report.as_json()))["fails"] is True


@pytest.mark.anyio
@pytest.mark.parametrize("apart", [False, True])
async def test_the_meta_tools_are_counted_as_they_are_listed(apart: bool) -> None:
    index = ToolIndex([SELF], Topics())
    gateway = Gateway(index, settings=replace(PATIENT, reads_apart=apart))
    async with gateway.running(), Client(mcp_server(gateway, lambda: None)) as client:
        listed = (await client.list_tools()).tools
    made = [CatalogueTool(one.name, one.description, "", one.input_schema) for one in listed]
    report = await check(Gateway(index, settings=gateway.settings), Upstreams())
    assert len(listed) == 3 + apart
    assert report.meta_tokens == sum(map(tool_tokens, made))


@pytest.mark.anyio
async def test_servers_whose_tools_are_known_are_started_for_the_report_too(plain: Servers) -> None:
    store = MemoryToolStore()
    made = Upstreams(servers={"desk": plain("desk", [entry("print_page", "Print a page")])})
    for _ in range(2):
        report = await report_of(made, store)
        assert not report.fails
        assert [one.tools for one in report.servers] == [1]


def test_a_tool_that_neither_its_name_nor_its_description_finds_is_named() -> None:
    same = [tool("print_page", "Print a page", f"s{number}") for number in range(3)]
    mail = tool("send_mail", "Send a mail", "mail")
    index = ToolIndex([*same, mail], Topics())
    first = {hit.tool.id for one in ("print page", "Print a page") for hit in index.search(one, 1)}
    missed = not_found(index, [*same, mail], k=1)
    assert len(missed) == 2, "of three that are the same, one is first"
    assert set(missed) == {one.id for one in same} - first
    assert not_found(index, [*same, mail], k=3) == []


def test_the_command_prints_the_report_and_ends_with_one_when_a_server_fails(
    ctrag: Callable[..., Any], plain: Servers, tmp_path: Path
) -> None:
    path = tmp_path / "servers.json"
    desk = plain("desk", [entry("print_page", "Print a page")])
    good = {"desk": desk.model_dump(include={"command", "args"})}

    def ran(servers: dict[str, Any], *more: str) -> Any:
        path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        return ctrag("serve", "mcp", "--upstream", path, "--check", *more)

    fine = ran(good)
    assert fine.code == 0
    assert fine.out.startswith("desk: ok  1 tools, ")
    failed = ran({**good, "bad": {"command": "${NOWHERE}"}})
    assert failed.code == 1
    assert "bad: left out  command: environment variable NOWHERE is not set" in failed.out
    report = ran({**good, "dead": {"command": "no-such-command"}}, "--json")
    assert report.code == 1
    assert [one["state"] for one in json.loads(report.out)["servers"]] == ["ok", "fails"]
    shown = tool("print_page", "Print a page", "desk")
    assert tool_tokens(shown) < json.loads(report.out)["tokens"], "its argument counts"


def test_what_of_an_openapi_document_is_named_otherwise_is_in_the_report(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    operation = {"get": {"operationId": "read", "responses": {}}}
    paths = {"/pages": operation, "/mails": operation}
    path = tmp_path / "api.json"
    document = {"openapi": "3.1.0", "info": {"title": "Desk", "version": "1"}, "paths": paths}
    path.write_text(json.dumps(document), encoding="utf-8")
    report = ctrag("serve", "mcp", "--catalogue", path, "--check")
    assert report.code == 0
    assert "note: desk: GET /mails has the operationId 'read' of another operation" in report.out
