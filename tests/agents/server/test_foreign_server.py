"""A server that none of us wrote, `mcp-server-time` from PyPI, behind `ctrag serve mcp`."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.agents.server.test_serve_command import started

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """The file that names it as clients write it, run from wherever it is installed."""
    found = find_spec("mcp_server_time")
    if found is None or found.origin is None:
        pytest.skip("mcp-server-time is not installed: pip install mcp-server-time")
    server = {
        "command": sys.executable,
        "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"],
        "env": {"PYTHONPATH": str(Path(found.origin).parents[1])},
    }
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"time": server}}), encoding="utf-8")
    return path


async def found(client: Client, query: str) -> tuple[str, dict[str, Any]]:
    """The session and the first tool."""
    answer = (await client.call_tool("search_tools", {"query": query})).structured_content
    return answer["session"], answer["tools"][0]


HALF_PAST_NINE = {
    "source_timezone": "UTC",
    "time": "09:30",
    "target_timezone": "Asia/Kathmandu",  # 5 h 45 min ahead all year
}


async def test_2026_its_tools_are_found_and_called_through_the_handle(upstream: Path) -> None:
    async with Client(started("--upstream", upstream)) as client:
        assert client.protocol_version == "2026-07-28"
        session, tool = await found(client, "what is the current time in Tokyo?")
        assert tool["name"] == "time/get_current_time"
        session, tool = await found(client, "convert half past nine to the time in Nepal")
        assert tool["name"] == "time/convert_time"
        assert tool["input_schema"]["required"] == list(HALF_PAST_NINE)
        call = {"session": session, "name": "time/convert_time", "arguments": HALF_PAST_NINE}
        converted = json.loads((await client.call_tool("call_tool", call)).content[0].text)
        assert converted["time_difference"] == "+5.75h"
        assert converted["target"]["datetime"].endswith("T15:15:00+05:45")
        nowhere = {**HALF_PAST_NINE, "target_timezone": "Mars/Olympus"}
        refused = await client.call_tool("call_tool", {**call, "arguments": nowhere})
        assert refused.is_error
        assert "Invalid timezone" in refused.content[0].text


async def test_2025_its_found_tool_joins_the_list_and_is_called_by_name(upstream: Path) -> None:
    async with Client(started("--upstream", upstream), mode="legacy") as client:
        assert client.protocol_version == "2025-11-25"
        _, tool = await found(client, "convert half past nine to the time in Nepal")
        assert tool["name"] == "time/convert_time"
        assert "time__convert_time" in {one.name for one in (await client.list_tools()).tools}
        answer = await client.call_tool("time__convert_time", HALF_PAST_NINE)
        assert json.loads(answer.content[0].text)["time_difference"] == "+5.75h"
        assert answer.structured_content["time_difference"] == "+5.75h"
