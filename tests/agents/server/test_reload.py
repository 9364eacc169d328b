"""A changed file is taken over while sessions go on; a broken one changes nothing."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import yaml

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.principals import AccessFile, BearerTokens, new_token
from ctrag.agents.server.reload import Watched, access_of, servers_of, watch
from ctrag.agents.server.servers import SELF
from tests.agents.server.conftest import PATIENT, Topics, entry, tool
from tests.agents.server.test_http import free_port
from tests.agents.server.test_serve_command import COMMAND, ROOT

pytestmark = pytest.mark.anyio
Servers = Callable[..., ServerSpec]
PRINT, MAIL = entry("print_page", "Print a page"), entry("send_mail", "Send a mail")


def write(path: Path, servers: dict[str, Any], **more: Any) -> None:
    text = json.dumps({"mcpServers": servers, **more})
    before = path.stat().st_mtime_ns if path.exists() else None
    path.write_text(text, encoding="utf-8")
    if path.stat().st_mtime_ns == before:
        os.utime(path, ns=(before + 1, before + 1))


def raw(spec: ServerSpec, **more: Any) -> dict[str, Any]:
    return {**spec.model_dump(include={"command", "args"}), **more}


@asynccontextmanager
async def watching(gateway: Gateway, *files: Watched) -> AsyncIterator[Gateway]:
    async with gateway.running() as running, anyio.create_task_group() as tasks:
        tasks.start_soon(watch, files, 0.02)
        yield running
        tasks.cancel_scope.cancel()


def gateway_of(path: Path) -> Gateway:
    return Gateway(ToolIndex([SELF], Topics()), Upstreams.from_file(path), settings=PATIENT)


async def found(gateway: Gateway, handle: str | None = None) -> set[str]:
    answer = await gateway.search(None, "print_page, send_mail", handle)
    return {one["name"] for one in answer.shown}


async def until(gateway: Gateway, names: set[str]) -> None:
    with anyio.fail_after(20):
        while await found(gateway) != names:
            await anyio.sleep(0.05)


async def process_of(gateway: Gateway, handle: str) -> str:
    done = await gateway.call(None, handle, "printer/print_page", {})
    assert not done.result.is_error, done.result.content
    return str(done.result.content[0].text.rpartition(" ")[2])


async def test_servers_come_and_go_with_the_file_and_sessions_and_other_servers_stay(
    tmp_path: Path, plain: Servers
) -> None:
    path = tmp_path / "servers.json"
    printer, mail = raw(plain("printer", [PRINT])), raw(plain("mail", [MAIL]))
    write(path, {"printer": printer})
    gateway = gateway_of(path)
    async with watching(gateway, servers_of(gateway, path)):
        handle = (await gateway.search(None, "print a page")).handle
        process = await process_of(gateway, handle)
        write(path, {"printer": printer, "mail": mail})
        await until(gateway, {"printer/print_page", "mail/send_mail"})
        assert await process_of(gateway, handle) == process, "its server was not touched"
        write(path, {"printer": printer})
        await until(gateway, {"printer/print_page"})
        write(path, {"printer": {**printer, "timeout": 7}})
        with anyio.fail_after(10):
            while gateway.servers["printer"].spec.timeout != 7:
                await anyio.sleep(0.02)
        assert await process_of(gateway, handle) != process, (
            "it was reached otherwise, so started again"
        )
        write(path, {})
        await until(gateway, set())
        gone = await gateway.call(None, handle, "printer/print_page", {})
        assert "may no longer be used" in gone.result.content[0].text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "servers.json is not taken over, all stays as it was: .*not JSON"),
        ('{"mcpServers": 5}', "all stays as it was: .*must be an object"),
        ('{"colour": "red"}', "all stays as it was: .*holds no servers"),
        (None, "all stays as it was: .*No such file"),
        (
            '{"mcpServers": {"a": {"command": "b"}}, "registries": {"a": {"url": "http://b"}}}',
            "all stays as it was: registries: 'a' is a server's name as well",
        ),
        (
            '{"mcpServers": {"printer": {"command": "${NOWHERE}"}}}',
            "servers.json: printer stays as it was: .*NOWHERE is not set",
        ),
    ],
)
async def test_a_broken_file_keeps_the_servers_and_says_why(
    tmp_path: Path,
    plain: Servers,
    capfd: pytest.CaptureFixture[str],
    text: str | None,
    why: str,
) -> None:
    path = tmp_path / "servers.json"
    write(path, {"printer": raw(plain("printer", [PRINT]))})
    gateway = gateway_of(path)
    async with watching(gateway, servers_of(gateway, path)):
        handle = (await gateway.search(None, "print a page")).handle
        process = await process_of(gateway, handle)
        path.unlink() if text is None else path.write_text(text, encoding="utf-8")
        said = ""
        with anyio.fail_after(10):
            while "stays as it was" not in said:
                await anyio.sleep(0.02)
                said += capfd.readouterr().err
        assert re.search(why, said), said
        assert await process_of(gateway, handle) == process
        write(path, {"mail": raw(plain("mail", [MAIL]))})
        await until(gateway, {"mail/send_mail"})


async def test_a_registry_that_is_added_is_searched(tmp_path: Path, plain: Servers) -> None:
    path = tmp_path / "servers.json"
    write(path, {"printer": raw(plain("printer", [PRINT]))})
    gateway = gateway_of(path)
    async with watching(gateway, servers_of(gateway, path)):
        assert (await gateway.search(None, "print a page")).unavailable == {}
        write(
            path,
            {"printer": raw(plain("printer", [PRINT]))},
            registries={"hub": {"command": "no-such-command"}},
        )
        with anyio.fail_after(10):
            while "hub" not in (await gateway.search(None, "print a page")).unavailable:
                await anyio.sleep(0.05)


async def test_users_tokens_and_grants_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "access.yaml"
    token, kept = new_token()
    ada, bob = Principal("ada"), Principal("bob")

    def write_access(**content: Any) -> AccessFile:
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        return AccessFile.from_file(path)

    grants = [{"user": "ada", "tools": ["*"]}]
    file = write_access(tokens={"ada": [kept]}, grants=grants)
    tokens = BearerTokens(file)
    index = ToolIndex([SELF, tool("print_page", "Print a page", "printer")], Topics(), file.rules)
    gateway = Gateway(index, settings=PATIENT)
    reread = access_of(gateway, path, file, tokens).reread
    assert (await gateway.search(bob, "print a page")).shown == []
    write_access(tokens={"bob": [kept]}, grants=[{"user": "bob", "tools": ["*"]}])
    await reread()
    who = tokens.principal(token)
    assert who is not None
    assert who.user == "bob"
    assert (await gateway.search(bob, "print a page")).shown
    assert (await gateway.search(ada, "print a page")).shown == []
    write_access(tokens={"ada": [kept]})
    with pytest.raises(ValueError, match="grants are missing, and without them every tool is open"):
        await reread()
    write_access(grants=grants)
    with pytest.raises(ValueError, match="neither tokens nor jwt"):
        await reread()
    assert (await gateway.search(bob, "print a page")).shown, "the old rules stay"


@pytest.mark.slow
def test_a_signal_has_the_files_of_a_served_gateway_read_again(
    tmp_path: Path, plain: Servers
) -> None:
    path, port = tmp_path / "servers.json", free_port()
    write(path, {"printer": raw(plain("printer", [PRINT]))})
    command = [sys.executable, "-c", COMMAND, "serve", "mcp", "--upstream", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [*command, "--http", f"127.0.0.1:{port}"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as served:
        assert served.stderr is not None
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                try:
                    if httpx2.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                        break
                except httpx2.TransportError:
                    time.sleep(0.1)
            served.send_signal(signal.SIGHUP)
            said = next(line for line in served.stderr if "servers.json" in line)
            assert said == "ctrag: servers.json: nothing has changed\n"
        finally:
            served.terminate()
