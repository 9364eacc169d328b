"""Real servers through `ctrag serve mcp`, driven by three clients that are not ours.

`python examples/real/mcp_clients.py CLIENT SERVERS.json [http]`, where CLIENT is `sdk` (the package
mcp), `fastmcp` or `pydantic-ai` (an agent whose model is a script), and the file has some of these
servers, by these names: `time` (mcp-server-time), `git` (mcp-server-git, of a repository), `files`
(@modelcontextprotocol/server-filesystem, of a folder) and `memory`
(@modelcontextprotocol/server-memory). Over stdin and stdout, or with `http` over HTTP.
`docs/mcp.md` has what it prints.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")

Call = tuple[str, str, dict[str, Any]]


def calls(file: Path) -> list[Call]:
    """A need in plain words, the tool that serves it, and its arguments; of the file's servers."""
    servers = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]

    def last(name: str) -> str:
        return str((servers.get(name, {}).get("args") or [""])[-1])

    ada = {"name": "Ada", "entityType": "person", "observations": ["likes trains"]}
    wanted: list[Call] = [
        ("what time is it in Tokyo", "time/get_current_time", {"timezone": "Asia/Tokyo"}),
        (
            "which branches does the repository have",
            "git/git_branch",
            {"repo_path": last("git"), "branch_type": "local"},
        ),
        ("what is in the folder", "files/list_directory", {"path": last("files")}),
        ("remember that Ada likes trains", "memory/create_entities", {"entities": [ada]}),
    ]
    return [one for one in wanted if one[1].partition("/")[0] in servers]


def given(name: str, found: Any) -> bool:
    """Whether a search gave the tool."""
    return name in {one["name"] for one in found["tools"]}


def said(query: str, name: str, found: Any, text: str) -> None:
    """What came of one need."""
    print(f"{query}\n  given: {', '.join(one['name'] for one in found['tools'])}")
    if note := found.get("note"):
        print(f"  note: {note[:60]}…")
    by_name = "" if given(name, found) else " (found by its name)"
    print(f"  {name}{by_name}: {' '.join(text.split())[:90]}")


async def with_sdk(where: Any, wanted: list[Call]) -> None:
    """The official SDK."""
    from mcp import Client, StdioServerParameters

    target = where if isinstance(where, str) else StdioServerParameters(**where)
    async with Client(target) as client:
        print(f"mcp {version('mcp')}, {client.protocol_version}")
        session: dict[str, str] = {}
        for query, name, arguments in wanted:
            found: Any = (
                await client.call_tool("search_tools", {"query": query, **session})
            ).structured_content
            session = {"session": found["session"]}
            if not given(name, found):
                await client.call_tool("search_tools", {"query": name, **session})
            sent = {**session, "name": name, "arguments": arguments}
            called: Any = await client.call_tool("call_tool", sent)
            said(query, name, found, called.content[0].text)


async def with_fastmcp(where: Any, wanted: list[Call]) -> None:
    """FastMCP's client."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async with Client(where if isinstance(where, str) else StdioTransport(**where)) as client:
        print(f"fastmcp {version('fastmcp')}")
        session: dict[str, str] = {}
        for query, name, arguments in wanted:
            found: Any = (
                await client.call_tool("search_tools", {"query": query, **session})
            ).structured_content
            session = {"session": found["session"]}
            if not given(name, found):
                await client.call_tool("search_tools", {"query": name, **session})
            sent = {**session, "name": name, "arguments": arguments}
            called: Any = await client.call_tool("call_tool", sent, raise_on_error=False)
            said(query, name, found, called.content[0].text)


async def with_pydantic_ai(where: Any, wanted: list[Call]) -> None:
    """An agent of pydantic-ai, whose model searches and calls as a script says."""
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    print(f"pydantic-ai {version('pydantic-ai-slim')}")
    answers: list[Any] = []
    results: list[str] = []

    def scripted(messages: Any, info: Any) -> Any:
        """Search, by the tool's name too where it is not given; call it; end."""
        last = messages[-1].parts[-1]
        query, name, arguments = wanted[len(results)]
        if last.part_kind != "tool-return":
            answers.clear()
            return ModelResponse(parts=[ToolCallPart("search_tools", {"query": query})])
        if last.tool_name == "call_tool":
            return ModelResponse(parts=[TextPart(str(last.content))])
        answers.append(last.content)
        session = {"session": last.content["session"]}
        if len(answers) == 1 and not given(name, last.content):
            return ModelResponse(parts=[ToolCallPart("search_tools", {"query": name, **session})])
        sent = {**session, "name": name, "arguments": arguments}
        return ModelResponse(parts=[ToolCallPart("call_tool", sent)])

    toolset: Any = MCPToolset(where if isinstance(where, str) else StdioTransport(**where))
    agent = Agent(FunctionModel(scripted), toolsets=[toolset])
    async with agent:
        for query, name, _ in wanted:
            answer = await agent.run(query)
            results.append(answer.output)
            said(query, name, answers[0], answer.output)


CLIENTS = {"sdk": with_sdk, "fastmcp": with_fastmcp, "pydantic-ai": with_pydantic_ai}


@contextmanager
def served(file: Path) -> Iterator[str]:
    """`ctrag serve mcp` over HTTP; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(["ctrag", "serve", "mcp", "--upstream", file, "--http", address])
    try:
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"http://{address}/readyz", timeout=5)
                break
            except OSError:
                time.sleep(0.2)
        yield f"http://{address}/mcp"
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Run one client."""
    client, file = CLIENTS[sys.argv[1]], Path(sys.argv[2])
    if sys.argv[3:] == ["http"]:
        with served(file) as address:
            asyncio.run(client(address, calls(file)))
        return
    command = {"command": "ctrag", "args": ["serve", "mcp", "--upstream", str(file)]}
    asyncio.run(client({**command, "env": dict(os.environ)}, calls(file)))


if __name__ == "__main__":
    main()
