"""Real servers through `ctrag serve mcp`, driven by the official client.

`python examples/real/mcp_servers.py SERVERS.json [auto|legacy]`, where the file has some of these
servers, by these names: `time` (mcp-server-time), `git` (mcp-server-git, of a repository),
`files` (@modelcontextprotocol/server-filesystem, of a folder), `everything`
(@modelcontextprotocol/server-everything). `docs/mcp.md` has what it prints.
"""

import asyncio
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    LoggingMessageNotificationParams,
    Root,
    TextContent,
)

warnings.simplefilter("ignore")  # of what the 2026 revision has deprecated
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("what time is it in Tokyo", "time/get_current_time", {"timezone": "Asia/Tokyo"}),
    ("which branches does the repository have", "git/git_branch", {"branch_type": "local"}),
    ("list the folders that may be read", "files/list_allowed_directories", {}),
    (
        "run a long operation",
        "everything/trigger-long-running-operation",
        {"duration": 2, "steps": 4},
    ),
    ("get a link to a resource", "everything/get-resource-links", {"count": 1}),
    (
        "get a result with structured content",
        "everything/get-structured-content",
        {"location": "New York"},
    ),
    (
        "let the model write by sampling",
        "everything/trigger-sampling-request",
        {"prompt": "a line", "maxTokens": 9},
    ),
    ("ask the user by elicitation", "everything/trigger-elicitation-request", {}),
    ("list the roots", "everything/get-roots-list", {}),
]


async def sample(context: Any, params: Any) -> CreateMessageResult:
    """The client's model."""
    text = TextContent(type="text", text="a line of the client's model")
    return CreateMessageResult(role="assistant", content=text, model="example")


async def elicit(context: Any, params: Any) -> ElicitResult:
    """The client's user."""
    wanted = params.requested_schema.get("required", []) if params.mode == "form" else []
    return ElicitResult(action="accept", content=dict.fromkeys(wanted, "Ada"))


async def roots(context: Any) -> ListRootsResult:
    """The folders that the client shows."""
    return ListRootsResult(roots=[Root(uri=Path.cwd().as_uri(), name="here")])


async def log(params: LoggingMessageNotificationParams) -> None:
    """A log message."""
    print(f"  log of {params.logger}: {str(params.data)[:60]}")


async def main(file: str, mode: str) -> None:
    """Search for each need and call what it asks for."""
    configured = json.loads(Path(file).read_text(encoding="utf-8"))["mcpServers"]
    serve = StdioServerParameters(
        command="ctrag", args=["serve", "mcp", "--upstream", file], env=dict(os.environ)
    )
    async with Client(
        serve,
        mode=mode,
        sampling_callback=sample,
        elicitation_callback=elicit,
        list_roots_callback=roots,
        logging_callback=log,
    ) as client:
        print(client.protocol_version, [one.name for one in (await client.list_tools()).tools])
        session: str | None = None
        for query, name, arguments in CALLS:
            if name.partition("/")[0] not in configured:
                continue
            found = await client.call_tool(
                "search_tools", {"query": query, **({"session": session} if session else {})}
            )
            content: Any = found.structured_content
            session = content["session"]
            tools = {one["name"]: one for one in content["tools"]}
            print(f"\n{query}: {len(tools)} tools")
            if name not in tools:
                print(f"  {name} is not among {list(tools)}; searched for by its name")
                found = await client.call_tool("search_tools", {"query": name, "session": session})
                content = found.structured_content
                tools = {one["name"]: one for one in content["tools"]}
            hints: dict[str, Any] = tools.get(name, {}).get("annotations", {})
            print(f"  {name}: {', '.join(key for key, value in hints.items() if value is True)}")
            if name.startswith("git/"):
                arguments = {"repo_path": configured["git"]["args"][-1], **arguments}
            wanted = {"session": session, "name": name, "arguments": arguments}
            steps: list[str] = []

            async def told(
                progress: float, total: float | None, message: str | None, steps: Any = steps
            ) -> None:
                steps.append(f"{progress:g} of {total:g}" if total else f"{progress:g}")

            called = await client.call_tool("call_tool", wanted, progress_callback=told)
            if steps:
                print(f"  progress: {', '.join(steps)}")
            for block in called.content:
                said = (
                    block.text
                    if isinstance(block, TextContent)
                    else str(getattr(block, "uri", block.type))
                )
                print(f"  {'refused: ' if called.is_error else ''}{' '.join(said.split())[:100]}")
                if block.type == "resource_link":
                    read = await client.read_resource(str(block.uri))
                    inside: Any = read.contents[0]
                    print(f"  read: {str(getattr(inside, 'text', inside.mime_type))[:70]}")
            if called.structured_content is not None:
                print(f"  structured: {json.dumps(called.structured_content)[:90]}")
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        print(f"\n{len(resources)} resources, {len(templates)} templates, {len(prompts)} prompts")
        for one in [
            *(str(item.uri) for item in resources[:2]),
            *(item.name for item in prompts[:2]),
        ]:
            print(f"  {one}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "auto"))
