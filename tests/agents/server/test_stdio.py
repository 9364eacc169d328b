"""What a server's process writes to stdout harms nobody else, whatever it is."""

import logging
import subprocess
import sys
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters

from ctrag.agents.server import stdio
from ctrag.agents.server.stdio import process_streams

pytestmark = pytest.mark.anyio


async def said(script: str) -> list[dict[str, Any]]:
    """The messages of a server that writes what the script prints, as JSON."""
    started = StdioServerParameters(command=sys.executable, args=["-c", script])
    heard = []
    with anyio.fail_after(20):
        async with process_streams(started, "odd", sys.stderr) as (read, _):
            async for one in read:
                heard.append(one.message.model_dump(mode="json", exclude_none=True))
    return heard


async def test_lines_that_are_no_messages_are_named_and_passed_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    script = """
print("Starting", "", "{not json", '{"jsonrpc":"2.0","id":1,"result":{}}', sep=chr(10))
"""
    with caplog.at_level(logging.WARNING):
        assert await said(script) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert caplog.messages == [
        "odd: wrote to stdout what is no message: Starting",
        "odd: wrote to stdout what is no message: {not json",
    ]


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("json.dumps(done, indent=2)", []),
        ("'\\ufeff' + line", []),
        ("'\\x1b[32m' + line + '\\x1b[0m'", []),
        ("'DEBUG sent ' + line", []),
        ("line + line.replace(': 1', ': 2')", []),
        ("'{' + chr(10) + '  status: ready' + chr(10) + '}' + chr(10) + line", ["{"]),
        ("'{' + chr(10) + line", ["{"]),
    ],
)
async def test_a_message_is_read_however_it_is_written(
    caplog: pytest.LogCaptureFixture, written: str, named: list[str]
) -> None:
    script = f"""
import json
done = {{"jsonrpc": "2.0", "id": 1, "result": {{}}}}
line = json.dumps(done)
print({written})
"""
    first, *_ = await said(script)
    assert first == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert [one.rpartition(": ")[2] for one in caplog.messages] == named


async def test_a_request_that_was_logged_is_none() -> None:
    logged = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert await said(f"print('received', '{logged}')") == []


@pytest.mark.parametrize("place", ["first", "last"])
async def test_an_answer_that_is_too_long_fails_its_request_alone(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(stdio, "LINE_LIMIT", 100_000)
    made = "'\"id\":7,' + x" if place == "first" else "x + ',\"id\":7'"
    script = f"""
x = '"result":{{"a":"' + 'y' * 300_000 + '"}}'
print('{{"jsonrpc":"2.0",' + {made} + '}}')
print('{{"jsonrpc":"2.0","id":8,"result":{{}}}}')
"""
    long, next_one = await said(script)
    assert (long["id"], next_one["id"]) == (7, 8)
    assert "the answer has 300," in long["error"]["message"]


async def test_a_line_without_an_end_ends_the_connection_and_not_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "ENDLESS", 1_000_000)
    with pytest.raises(ExceptionGroup) as failed:
        await said("import sys\nwhile True: sys.stdout.write('x' * 100_000)")
    assert failed.group_contains(ValueError, match="without the end of a line")


async def test_a_process_that_does_not_end_by_itself_is_ended_with_its_children() -> None:
    script = "import subprocess; subprocess.run(['sleep', '7654'])"
    started = StdioServerParameters(command=sys.executable, args=["-c", script])
    async with process_streams(started, "odd", sys.stderr):
        await anyio.sleep(0.3)
    for _ in range(100):
        left = subprocess.run(["pgrep", "-f", "^sleep 7654"], capture_output=True, check=False)
        if not left.stdout:
            break
        await anyio.sleep(0.1)
    assert left.stdout == b""
