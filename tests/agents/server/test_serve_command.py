"""`ctrag serve` as a process: the protocol alone on stdout, mistakes in one line."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client, StdioServerParameters

from ctrag.agents.server.config import ServerSpec
from ctrag.settings import settings
from tests.agents.server.conftest import entry

ROOT = Path(__file__).parents[3]
COMMAND = "from ctrag.cli.main import main; main()"


def started(*arguments: object) -> StdioServerParameters:
    """The command as a client starts it."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", COMMAND, "serve", "mcp", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.anyio
async def test_a_client_starts_the_command_and_finds_and_calls_a_tool(
    plain: Callable[..., ServerSpec], tmp_path: Path
) -> None:
    tools = [entry("print_page", "Print a page on the printer"), entry("send_mail", "Send a mail")]
    servers = tmp_path / "servers.json"
    spec = plain("desk", tools).model_dump(include={"command", "args"})
    servers.write_text(json.dumps({"mcpServers": {"desk": spec}}), encoding="utf-8")
    access = tmp_path / "access.yaml"
    rules = {"grants": [{"user": "ada", "tools": ["desk/print_page"]}]}
    access.write_text(yaml.safe_dump(rules), encoding="utf-8")
    record = tmp_path / "events.jsonl"
    arguments = ("--upstream", servers, "--access", access, "--user", "ada", "--record", record)
    async with Client(started(*arguments)) as client:
        query = {"query": "print_page, send_mail"}
        found = (await client.call_tool("search_tools", query)).structured_content
        assert [one["name"] for one in found["tools"]] == ["desk/print_page"]
        call = {"session": found["session"], "name": "desk/print_page", "arguments": {}}
        answer = await client.call_tool("call_tool", call)
        assert answer.content[0].text.startswith("print_page {}")
    events = [json.loads(one)["event"] for one in record.read_text(encoding="utf-8").splitlines()]
    assert "ctrag.search" in events
    assert "ctrag.tool.call" in events


@pytest.mark.slow
@pytest.mark.anyio
async def test_tools_of_a_server_or_plugin_that_is_no_longer_behind_a_store_are_not_found(
    plain: Callable[..., ServerSpec], tmp_path: Path
) -> None:
    def written(name: str, value: Any) -> Path:
        path = tmp_path / name
        path.write_text(yaml.safe_dump(value), encoding="utf-8")
        return path

    def spec(name: str, tool: dict[str, Any]) -> dict[str, Any]:
        return plain(name, [tool]).model_dump(include={"command", "args"})

    async def found(query: str, upstream: Path, *more: object) -> list[str]:
        options = ("--upstream", upstream, "--store", tmp_path / "tools.duckdb", *more)
        async with Client(started(*options)) as client:
            answer = await client.call_tool("search_tools", {"query": query})
            assert not answer.is_error
            return [one["name"] for one in answer.structured_content["tools"]]

    page, mail = entry("print_page", "Print a page"), entry("send_mail", "Send a mail")
    pdf = entry("extract_text", "Extract the text of a PDF file")
    first = written("first.yaml", {"mcpServers": {"old": spec("old", page)}})
    second = written("second.yaml", {"mcpServers": {"new": spec("new", mail)}})
    plugin = {
        "name": "pdf-tools",
        "description": "Reads PDF files",
        "tools": [{"name": "extract_text", "description": "Extract the text of a PDF file"}],
        "server": spec("pdf", pdf),
    }
    installed = written("installed.yaml", {"pdf-tools": [""]})
    market = ("--marketplace", written("plugins.yaml", [plugin]), "--installed", installed)
    every = "print_page, send_mail, extract_text"
    assert sorted(await found(every, first, *market)) == [
        "old/print_page",
        "pdf-tools/extract_text",
    ]
    installed.write_text("{}", encoding="utf-8")
    assert await found(every, second, *market) == ["new/send_mail"]
    described = {"name": "print_page", "description": "Print a page", "server": "new"}
    kept = ("--catalogue", written("tools.yaml", [described]))
    assert sorted(await found(every, first, *kept)) == ["new/print_page", "old/print_page"]


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        ([], 2, "give --catalogue, --upstream or --marketplace"),
        (["--upstream", "a", "--http", "8000"], 2, "must be HOST:PORT"),
        (["--upstream", "a", "--http", "a:0"], 2, "must be HOST:PORT"),
        (["--upstream", "a", "--http", "a:1", "--user", "b"], 2, "--user is for stdin"),
        (["--upstream", "missing.json"], 1, "missing.json: No such file"),
        (["--upstream", "missing.json", "--access", "none.yaml"], 1, "none.yaml: No such file"),
        (["--upstream", "missing.json", "--session", "none.yaml"], 1, "none.yaml: No such file"),
    ],
)
def test_a_mistake_is_one_line_on_stderr(
    ctrag: Callable[..., Any], arguments: list[str], code: int, problem: str
) -> None:
    ran = ctrag("serve", "mcp", *arguments)
    assert ran.code == code
    assert ran.out == ""
    assert problem in " ".join(ran.err.split())


@pytest.mark.anyio
async def test_a_file_says_how_sessions_behave(tmp_path: Path) -> None:
    catalogue, sessions = tmp_path / "tools.yaml", tmp_path / "session.yaml"
    tools = [{"name": "send_mail", "description": "Send a mail", "server": f"m{n}"} for n in (1, 2)]
    catalogue.write_text(yaml.safe_dump(tools), encoding="utf-8")
    sessions.write_text("binding: {capacity: 1}\n", encoding="utf-8")
    async with Client(started("--catalogue", catalogue, "--session", sessions)) as client:
        answer = await client.call_tool("search_tools", {"query": "send_mail"})
        assert len(answer.structured_content["tools"]) == 1
        assert len(answer.structured_content["left_out"]) == 1


def test_the_next_tool_model_that_the_settings_name_is_served(
    ctrag: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    catalogue = tmp_path / "tools.yaml"
    catalogue.write_text(yaml.safe_dump([{"name": "send_mail", "description": "Send a mail"}]))
    monkeypatch.setenv("CTRAG_DEPENDENCY", str(tmp_path / "no-model"))
    settings.cache_clear()
    try:
        ran = ctrag("serve", "mcp", "--catalogue", catalogue)
    finally:
        settings.cache_clear()
    assert ran.code == 1
    assert "no-model" in ran.err
    assert "No such file" in ran.err


def test_a_token_is_made_with_its_hash(ctrag: Callable[..., Any]) -> None:
    from ctrag.agents.server.principals import token_hash

    made = ctrag("serve", "token", "--json").json
    assert token_hash(made["token"]) == made["hash"]


def test_plugins_are_listed_searched_installed_and_taken_out(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    market = tmp_path / "plugins.yaml"
    plugin = {
        "name": "pdf-tools",
        "description": "Reads PDF files",
        "tools": [{"name": "extract_text", "description": "Extract the text of a PDF file"}],
        "server": {"command": "pdf-tools-mcp"},
    }
    market.write_text(yaml.safe_dump([plugin]), encoding="utf-8")
    options = ("--marketplace", market, "--json")
    [found] = ctrag("serve", "plugins", "extract_text", *options).json
    assert (found["plugin"], found["installed"]) == ("pdf-tools", None)
    [now] = ctrag("serve", "plugins", *options, "--install", "pdf-tools", "--for", "role:a").json
    assert now["installed"] == ["role:a"]
    [gone] = ctrag("serve", "plugins", *options, "--uninstall", "pdf-tools").json
    assert gone["installed"] is None
    refused = ctrag("serve", "plugins", *options, "--uninstall", "pdf-tools")
    assert refused.code == 1
    assert refused.err == "ctrag: plugin: 'pdf-tools' is not installed\n"
