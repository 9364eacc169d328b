"""Servers at an address: the transport of 2024, refused connections, credentials of callers."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.config import ServerSpec, UserSpec
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.protocol import mcp_server
from tests.agents.server.test_http import served
from tests.agents.server.test_passing import RICH, Seen, call, rich, search, text

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
MakeGateway = Callable[..., Gateway]


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def listening(way: str, port: int, *options: str) -> Iterator[None]:
    started = subprocess.Popen([sys.executable, str(RICH), way, str(port), *options])
    try:
        for _ in range(600):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield
    finally:
        started.kill()
        started.wait()


async def test_an_address_of_the_transport_of_2024_is_fallen_back_to(
    gateway: MakeGateway, port: int
) -> None:
    seen = Seen()
    spec = ServerSpec(url=f"http://127.0.0.1:{port}/sse")
    with listening("--sse", port):
        made = gateway(servers={"rich": spec})
        async with made.running(), Client(mcp_server(made, lambda: None)) as client:
            done = await call(client, "rich/print", {"n": 0.2}, progress_callback=seen.on_progress)
            assert text(done) == "printed"
            assert len(seen.progress) == 2
            assert made.servers["rich"].down is None


@pytest.mark.parametrize("server", ["2026", "2025"])
async def test_a_server_that_was_started_again_between_calls_is_called_without_a_word(
    gateway: MakeGateway, port: int, server: str
) -> None:
    spec = ServerSpec(url=f"http://127.0.0.1:{port}/mcp", start_timeout=60)
    old = ["--old"] if server == "2025" else []
    made = gateway(servers={"rich": spec})
    async with made.running():
        with listening("--http", port, *old):
            async with Client(mcp_server(made, lambda: None)) as client:
                first = await call(client, "rich/time")
                found = await search(client, "time")
        wanted = {"session": found["session"], "name": "rich/time", "arguments": {}}
        with listening("--http", port, *old):
            async with Client(mcp_server(made, lambda: None)) as client:
                again = await client.call_tool("call_tool", wanted)
    assert (text(first), text(again)) == ("[0]", "[0]"), "it was called once, by either process"


async def test_a_call_that_reached_no_server_is_said_to_be_not_made(
    gateway: MakeGateway, port: int
) -> None:
    spec = ServerSpec(url=f"http://127.0.0.1:{port}/mcp", start_timeout=8)
    made = gateway(servers={"rich": spec})
    async with made.running(), Client(mcp_server(made, lambda: None)) as client:
        with listening("--http", port):
            found = await search(client, "time")
        wanted = {"session": found["session"], "name": "rich/time", "arguments": {}}
        refused = await client.call_tool("call_tool", wanted)
    assert refused.is_error
    assert "the call was not made" in text(refused)
    assert "not known" not in text(refused)


async def test_each_caller_reaches_a_server_with_credentials_of_its_own(
    gateway: MakeGateway, tmp_path: Path
) -> None:
    spec = rich(
        env={"TOKEN": "shared"},
        users={"ada": UserSpec(env={"TOKEN": "ada's"}), "bob": UserSpec(env={"TOKEN": "bob's"})},
    )
    made = gateway(servers={"rich": spec})
    told = {}
    async with made.running():
        for name in ("ada", "bob", "cy"):
            who = Principal(name)
            async with Client(mcp_server(made, lambda who=who: who)) as client:
                told[name] = text(await call(client, "rich/weather", {"env": "TOKEN"}))
    assert told == {"ada": "ada's", "bob": "bob's", "cy": "shared"}


async def test_headers_of_a_caller_are_added_to_those_of_the_server(
    gateway: MakeGateway, port: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    spec = ServerSpec(
        url=f"http://127.0.0.1:{port}/sse",
        headers={"Authorization": "Bearer shared"},
        users={"ada": UserSpec(headers={"Authorization": "Bearer ada"})},
    )
    with listening("--sse", port, "--log", str(log)):
        made = gateway(servers={"rich": spec})
        async with (
            made.running(),
            Client(mcp_server(made, lambda: Principal("ada"))) as client,
        ):
            await call(client, "rich/clock")
    assert log.read_text().splitlines()[1:] == ["headers Bearer shared", "headers Bearer ada"]


@pytest.mark.parametrize("server", ["2026", "2025"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_over_http_questions_progress_and_changes_reach_the_client_as_well(
    gateway: MakeGateway, server: str, mode: str
) -> None:
    seen = Seen()
    with served(gateway(servers={"rich": rich(server)})) as url:
        async with Client(
            url, mode=mode, message_handler=seen.on_message, **seen.offering
        ) as client:
            assert "there was a young lady" in text(await call(client, "rich/invoice"))
            assert "Monday" in text(await call(client, "rich/calendar"))
            done = await call(client, "rich/print", {"n": 0.3}, progress_callback=seen.on_progress)
            assert text(done) == "printed"
            assert len(seen.progress) == 3
            if (server, mode) == ("2025", "legacy"):
                await client.list_resources()
                await call(client, "rich/weather")
                with anyio.fail_after(5):
                    while "ResourceListChangedNotification" not in seen.messages:
                        await anyio.sleep(0.01)
