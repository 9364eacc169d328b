"""What is learned of callers while serving is counted right, and outlives the server."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.catalogue.tool import Catalogue, CatalogueTool
from ctrag.agents.search.affinity import Affinity, AffinityCounts
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.gateway_settings import GatewaySettings
from ctrag.agents.server.principals import new_token
from ctrag.agents.server.servers import SELF
from stores.database import StoreUnavailable
from stores.tools.duckdb_file import DuckToolStore
from stores.tools.memory import MemoryToolStore
from stores.tools.mirror import MirroredToolStore
from tests.agents.server.conftest import Topics, entry, tool
from tests.agents.server.test_http import free_port
from tests.agents.server.test_serve_command import COMMAND, ROOT
from tests.stores.postgres import running_postgres

MakeGateway = Callable[..., Gateway]
Servers = Callable[..., ServerSpec]
ADA = Principal("ada")
TOOLS = [tool("send", "Send a mail", "mail"), tool("print", "Print a page", "printer")]


def counted(index: ToolIndex, user: str, tool_id: str) -> AffinityCounts:
    return AffinityCounts(**json.loads(index.affinity.to_json())[user][tool_id])


@pytest.mark.anyio
async def test_a_call_counts_as_a_use_so_that_what_is_found_and_used_is_liked(
    plain: Servers, gateway: MakeGateway
) -> None:
    servers = {"printer": plain("printer", [entry("print", "Print a page")])}
    async with gateway(servers=servers).running() as running:
        for text in "ab":
            handle = (await running.search(ADA, "print a page")).handle
            await running.call(ADA, handle, "printer/print", {"text": text})
            for _ in range(5):
                await running.search(ADA, "print a page")
        made = counted(running.index, "ada", "printer/print")
        assert made == AffinityCounts(found=12, used=2, succeeded=2, failed=0)
        assert made.score > 0, "0.5 * 2 uses + 2 successes - 0.1 * 10 finds without a use"


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL of this module's own."""
    with running_postgres() as database:
        yield database.url


def test_servers_that_share_a_database_add_to_each_others_counts(postgres: str) -> None:
    first = ToolIndex.open(postgres, Catalogue(TOOLS), Topics())
    second = ToolIndex.open(postgres, None, Topics())
    for index, times in ((first, 2), (second, 3)):
        for _ in range(times):
            index.learn("ada", "mail/send", "succeeded")
    first.learn("bob", "mail/send", "failed")
    first.flush()
    second.learn("eve", "printer/print", "used")
    second.flush()
    assert counted(second, "bob", "mail/send") == AffinityCounts(failed=1), "learned from the other"
    first.learn("ada", "mail/send", "succeeded")
    first.close()
    second.close()
    later = ToolIndex.open(postgres, None, Topics())
    assert counted(later, "ada", "mail/send") == AffinityCounts(succeeded=6)
    assert counted(later, "bob", "mail/send") == AffinityCounts(failed=1)
    assert counted(later, "eve", "printer/print") == AffinityCounts(used=1)
    later.close()


def test_servers_that_write_at_the_same_time_lose_nothing(postgres: str) -> None:
    servers = [ToolIndex.open(postgres, Catalogue(TOOLS), Topics()) for _ in range(6)]

    def serve(index: ToolIndex) -> None:
        for _ in range(20):
            index.learn("zoe", "mail/send", "used")
            index.flush()

    with ThreadPoolExecutor(len(servers)) as threads:
        list(threads.map(serve, servers))
    for index in servers:
        index.close()
    later = ToolIndex.open(postgres, None, Topics())
    assert counted(later, "zoe", "mail/send") == AffinityCounts(used=6 * 20)
    later.close()


def test_who_is_forgotten_is_gone_from_the_store_and_from_other_servers_too() -> None:
    store = MemoryToolStore()
    first = ToolIndex(TOOLS, Topics(), store=store)
    first.learn("ada", "mail/send", "succeeded")
    first.learn("bob", "mail/send", "succeeded")
    first.flush()
    second = ToolIndex((), Topics(), store=store)
    first.affinity.forget("ada")
    first.flush()
    second.learn("bob", "mail/send", "used")
    second.flush()
    for index in (first, second, ToolIndex((), Topics(), store=store)):
        assert list(json.loads(index.affinity.to_json())) == ["bob"]


def test_what_could_not_be_written_is_written_the_next_time_and_once() -> None:
    kept: list[str] = []
    affinity = Affinity()
    affinity.learn("ada", "mail/send", "used")

    def away(change: Callable[[str | None], str]) -> None:
        affinity.learn("ada", "mail/send", "found")  # goes on meanwhile
        raise StoreUnavailable("tool", "not reachable")

    with pytest.raises(StoreUnavailable, match="not reachable"):
        affinity.write(away)
    assert kept == []
    for _ in range(2):
        affinity.write(lambda change: kept.append(change(kept[-1] if kept else None)))
    [text] = kept
    assert json.loads(text)["ada"]["mail/send"] == {
        "found": 1,
        "used": 1,
        "succeeded": 0,
        "failed": 0,
    }
    assert affinity.to_json() == text


@pytest.mark.anyio
async def test_what_is_learned_is_written_while_serving(tmp_path: Path) -> None:
    kept = DuckToolStore(tmp_path / "tools.duckdb")
    store = MirroredToolStore(kept)
    index = ToolIndex([SELF, *TOOLS], Topics(), store=store)
    async with Gateway(index, settings=GatewaySettings(remember=0.05)).running() as running:
        await running.search(ADA, "send a mail", limit=1)
        with anyio.fail_after(20):
            while (text := kept.facts().get("affinity")) is None:
                await anyio.sleep(0.02)
    assert Affinity.from_json(text).to_json() == index.affinity.to_json()
    index.close()


def serving(*arguments: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "serve", "mcp", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def learned(path: Path) -> Any:
    """Who has learned what in the store that an ended server has left."""
    store = DuckToolStore(path)
    text = store.facts().get("affinity")
    store.close()
    return None if text is None else json.loads(text)


@pytest.mark.anyio
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_over_http_that_is_ended_has_written_what_was_learned(
    tmp_path: Path, number: signal.Signals
) -> None:
    catalogue, access = tmp_path / "tools.yaml", tmp_path / "access.yaml"
    catalogue.write_text(yaml.safe_dump([{"name": "send_mail", "description": "Send a mail"}]))
    token, kept = new_token()
    rules = {"grants": [{"user": "ada", "tools": ["*"]}], "tokens": {"ada": [kept]}}
    access.write_text(yaml.safe_dump(rules))
    store, port = tmp_path / "tools.duckdb", free_port()
    options = ("--catalogue", catalogue, "--access", access, "--store", store)
    process = serving(*options, "--http", f"127.0.0.1:{port}")
    try:
        headers = {"Authorization": f"Bearer {token}"}
        with anyio.fail_after(120):
            while True:
                try:
                    async with (
                        httpx2.AsyncClient(headers=headers, timeout=60) as http,
                        Client(
                            streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
                        ) as client,
                    ):
                        found = await client.call_tool("search_tools", {"query": "send_mail"})
                        assert found.structured_content["tools"]
                    break
                except (httpx2.ConnectError, ExceptionGroup):  # not up yet
                    assert process.poll() is None
                    await anyio.sleep(0.2)
        process.send_signal(number)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert learned(store)["ada"]["send_mail"]["found"] == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_over_stdin_that_is_ended_has_written_what_was_learned(
    tmp_path: Path, number: signal.Signals
) -> None:
    catalogue, store = tmp_path / "tools.yaml", tmp_path / "tools.duckdb"
    catalogue.write_text(yaml.safe_dump([{"name": "send_mail", "description": "Send a mail"}]))
    process = serving("--catalogue", catalogue, "--store", store)
    assert process.stdin
    assert process.stdout
    try:
        greeting = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "plain", "version": "1"},
        }
        search = {"name": "search_tools", "arguments": {"query": "send_mail"}}
        for number, (method, params) in enumerate(
            [("initialize", greeting), ("notifications/initialized", {}), ("tools/call", search)]
        ):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            if method.startswith("notifications"):
                del message["id"]
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        while b'"id":2' not in process.stdout.readline().replace(b" ", b""):
            assert process.poll() is None
        began = time.monotonic()
        process.send_signal(number)  # stdin stays open
        process.wait(timeout=60)
        assert process.returncode == -number
        assert time.monotonic() - began < 30
    finally:
        process.kill()
        process.communicate()
    assert learned(store)[""]["send_mail"]["found"] == 1


def test_closing_lets_go_of_the_store_though_nothing_can_be_written(tmp_path: Path) -> None:
    class Full(MirroredToolStore):
        def change_fact(self, name: str, change: Callable[[str | None], str]) -> None:
            raise StoreUnavailable("tool", "the disk is full")

    path = tmp_path / "tools.duckdb"
    index = ToolIndex(
        [CatalogueTool("send", "Send a mail")], Topics(), store=Full(DuckToolStore(path))
    )
    index.learn("ada", "send", "used")
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        index.close()
    DuckToolStore(path).close()
