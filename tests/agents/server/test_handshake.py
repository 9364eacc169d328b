"""What a server says of itself, and the way in which it is greeted, cost nobody its tools."""

import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, InitializeResult

from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.handshake import LATEST, OLDEST, Greeting, mended_greeting
from ctrag.agents.server.upstream import Upstream, UpstreamError

ODD = """
import json, sys
TOOL = {"name": "print", "description": "Print", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": str(asked.get("id"))}
    match asked["method"]:
        case "initialize" if sys.argv[1:] == ["without"]:
            answer["error"] = {"code": -32601, "message": "unknown method"}
        case "initialize" if asked["params"]["protocolVersion"] != "2025-03-26":
            refused = "Unsupported protocol version (supported: 2024-11-05, 2025-03-26)"
            answer["error"] = {"code": -32602, "message": refused}
        case "initialize":
            answer["result"] = {"capabilities": {"tools": [TOOL], "logging": True}}
        case "tools/list":
            answer["result"] = {"tools": {"print": TOOL}, "nextCursor": None}
        case "tools/call":
            answer["error"] = {"code": -32000, "message": "no", "data": {"cause": "no paper"}}
        case "notifications/initialized":
            changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
            print(*[json.dumps(changed)] * 300, sep=chr(10), flush=True)
            continue
        case _:
            sys.exit(1)
    print(json.dumps(answer), flush=True)
"""


def greeted(**said: Any) -> InitializeResult:
    """An answer to `initialize`, mended; a client takes it."""
    result = {key: value for key, value in said.items() if value is not ...}
    mended_greeting(result, "printer")
    return InitializeResult.model_validate(result, by_name=False)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"tools": [{"name": "print"}]}, {"tools": {}}),
        ({"tools": True, "resources": False, "prompts": None}, {"tools": {}}),
        ({"tools": {"listChanged": "often"}}, {"tools": {}}),
        ({"tools": {"listChanged": True}}, {"tools": {"listChanged": True}}),
        ({"tools": {}, "tasks": {"list": True, "cancel": True}}, {"tools": {}, "tasks": {}}),
        (["tools", "logging"], {"tools": {}, "logging": {}}),
        (None, {}),
        (..., {}),
    ],
)
def test_a_capability_in_another_form_is_one_without_details(said: Any, kept: Any) -> None:
    dumped = greeted(capabilities=said).capabilities.model_dump(by_alias=True, exclude_none=True)
    assert dumped == kept


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (..., OLDEST),
        (1, OLDEST),
        ("1.0", OLDEST),
        ("DRAFT-2025-v2", OLDEST),
        ("2024-10-07", OLDEST),
        ("2025-03-26", "2025-03-26"),
        ("2025-04-01", "2025-03-26"),
        ("2027-01-01", LATEST),
    ],
)
def test_an_unknown_revision_is_the_newest_known_one_that_is_no_later(
    said: Any, meant: str
) -> None:
    assert greeted(protocolVersion=said).protocol_version == meant


@pytest.mark.parametrize(
    ("said", "named"),
    [
        (..., ("printer", "")),
        ("Print Shop", ("Print Shop", "")),
        ({"name": "shop"}, ("shop", "")),
        ({"name": "shop", "version": None}, ("shop", "")),
        ({"name": "shop", "version": 2}, ("shop", "2")),
        ({"version": "1.0"}, ("printer", "1.0")),
        ({"name": "shop", "version": "1", "icons": "shop.png"}, ("shop", "1")),
    ],
)
def test_a_server_that_does_not_say_who_it_is_is_taken_all_the_same(
    said: Any, named: tuple[str, str]
) -> None:
    info = greeted(serverInfo=said, instructions=["Print", "slowly"]).server_info
    assert (info.name, info.version) == named


def test_another_greeting_is_tried_where_it_promises_something() -> None:
    closed = MCPError(CONNECTION_CLOSED, "Connection closed")
    dropped = ExceptionGroup("", [httpx2.RemoteProtocolError("disconnected")])
    refused = MCPError(-32602, "Bad Request: Unsupported protocol version")
    named = MCPError(-32602, "Unsupported protocol version", {"supported": ["2025-06-18"]})
    assert Greeting().after(closed) == Greeting("legacy")
    assert Greeting().after(dropped) == Greeting("legacy")
    assert Greeting().after(refused) == Greeting("legacy", OLDEST)
    assert Greeting().after(named) == Greeting("legacy", "2025-06-18")
    assert Greeting("legacy").after(closed) is None
    assert Greeting("legacy", OLDEST).after(refused) is None
    assert Greeting().after(MCPError(-32603, "out of paper")) is None


@pytest.mark.anyio
@pytest.mark.parametrize("handshake", ["broken", "without"])
async def test_a_server_that_breaks_the_handshake_in_every_way_is_called_and_its_error_told(
    tmp_path: Path, handshake: str
) -> None:
    script = tmp_path / "odd.py"
    script.write_text(ODD, encoding="utf-8")
    started = ["-S", str(script), handshake]
    spec = ServerSpec(command=sys.executable, args=started, start_timeout=60)
    listings = 0

    async def listed(upstream: Upstream) -> None:
        nonlocal listings
        listings += 1
        assert upstream.problems == {}

    printer = Upstream("printer", spec, listed)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(printer.run)
        with anyio.fail_after(60):
            await printer.tried()
            assert [*printer.tools] == ["print"], printer.down
            for _ in range(2):  # its own -32000 is no lost connection
                with pytest.raises(UpstreamError, match=r'refused: no \({"cause": "no paper"}\)'):
                    await printer.call("print", {})
        tasks.cancel_scope.cancel()
    assert listings < 30, "300 changes at once are a few"
