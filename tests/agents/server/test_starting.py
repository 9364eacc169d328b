"""A slow or dead server delays nobody; known tools are searched before their server starts."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from ctrag.agents.catalogue.access import AccessRules, Grant, Principal
from ctrag.agents.catalogue.formats import wire_names
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.gateway_settings import GatewaySettings
from ctrag.agents.server.running import QUIET
from ctrag.agents.server.servers import SELF
from stores.tools.memory import MemoryToolStore
from tests.agents.server.conftest import PATIENT, Topics, entry, tool

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
Servers = Callable[..., ServerSpec]
MakeGateway = Callable[..., Gateway]
SLOW = ServerSpec(
    command=sys.executable, args=["-c", "import sys; sys.stdin.read()"], start_timeout=60
)
"""It never answers, and ends with its client."""
DEAD = ServerSpec(command="no-such-command")
PRINT = entry("print_page", "Print a page")


@pytest.mark.parametrize("known", ["another server", "the catalogue"])
async def test_a_server_that_does_not_answer_delays_a_first_search_briefly_and_later_ones_not(
    plain: Servers, known: str
) -> None:
    servers = {"slow": SLOW, "dead": DEAD}
    tools = [SELF]
    if known == "another server":
        servers["printer"] = plain("printer", [PRINT])
    else:
        tools.append(tool("print_page", "Print a page", "printer"))
    settings = GatewaySettings(timeout=10)
    gateway = Gateway(ToolIndex(tools, Topics()), Upstreams(servers=servers), settings=settings)
    async with gateway.running() as running:
        began = time.monotonic()
        found = await running.search(None, "print a page")
        assert time.monotonic() - began < 10 / QUIET + 4
        assert [one["name"] for one in found.shown] == ["printer/print_page"]
        assert set(found.unavailable) == {"slow", "dead"}
        assert not running.ready
        began = time.monotonic()
        assert (await running.search(None, "print a page")).shown
        assert time.monotonic() - began < 2


async def test_known_tools_are_found_at_once_and_their_server_starts_at_its_first_call(
    plain: Servers, tmp_path: Path
) -> None:
    store = MemoryToolStore()
    printer = plain("printer", [PRINT])
    served = Upstreams(servers={"printer": printer})
    async with Gateway(
        ToolIndex([SELF], Topics(), store=store), served, settings=PATIENT
    ).running() as first:
        assert (await first.search(None, "print a page")).shown
    encoder = Topics()
    async with Gateway(
        ToolIndex([SELF], encoder, store=store), served, settings=PATIENT
    ).running() as again:
        found = await again.search(None, "print a page")
        assert [one["name"] for one in found.shown] == ["printer/print_page"]
        assert again.servers["printer"].down is not None, "nothing was started for the search"
        assert found.unavailable == {}
        done = await again.call(None, found.handle, "printer/print_page", {})
        assert done.result.content[0].text.startswith("print_page {}")
        assert again.servers["printer"].down is None
    assert not any("Print" in text for text in encoder.encoded), "no vector is made again"


async def test_known_tools_are_found_at_once_beside_a_server_that_does_not_answer_any_more(
    plain: Servers,
) -> None:
    store = MemoryToolStore()
    served = Upstreams(servers={"printer": plain("printer", [PRINT])})
    gateway = Gateway(ToolIndex([SELF], Topics(), store=store), served, settings=PATIENT)
    async with gateway.running() as first:
        assert (await first.search(None, "print a page")).shown
    stuck = Upstreams(servers={"printer": SLOW})
    gateway = Gateway(ToolIndex([SELF], Topics(), store=store), stuck, settings=PATIENT)
    async with gateway.running() as again:
        began = time.monotonic()
        assert (await again.search(None, "print a page")).shown
        assert time.monotonic() - began < 3, "a fifth of the time to wait is twelve"


async def test_a_stored_definition_that_has_changed_is_not_called_as_it_was(
    plain: Servers,
) -> None:
    store = MemoryToolStore()
    served = Upstreams(servers={"printer": plain("printer", [PRINT])})
    async with Gateway(
        ToolIndex([SELF], Topics(), store=store), served, settings=PATIENT
    ).running() as first:
        assert (await first.search(None, "print a page")).shown
    plain("printer", [entry("print_page", "Print a page and burn it")])
    async with Gateway(
        ToolIndex([SELF], Topics(), store=store), served, settings=PATIENT
    ).running() as again:
        found = await again.search(None, "print a page")
        refused = await again.call(None, found.handle, "printer/print_page", {})
        assert refused.result.is_error
        assert "has changed since it was found" in refused.result.content[0].text


async def test_a_stored_tool_that_is_left_out_or_renamed_now_is_gone_at_once(
    plain: Servers,
) -> None:
    store = MemoryToolStore()

    async def names(**more: Any) -> list[str]:
        served = Upstreams(servers={"desk": plain("desk", [PRINT, entry("send_mail")], **more)})
        gateway = Gateway(ToolIndex([SELF], Topics(), store=store), served, settings=PATIENT)
        async with gateway.running() as running:
            found = await running.search(None, "print_page, send_mail")
            return sorted(one["name"] for one in found.shown)

    assert await names() == ["desk/print_page", "desk/send_mail"]
    assert await names(exclude=["send_*"]) == ["desk/print_page"]
    renamed = {"include": ["print_page"], "rename": {"print_page": "print"}}
    assert await names(**renamed) == ["desk/print"]


async def test_an_id_that_another_server_has_is_left_out(
    plain: Servers, gateway: MakeGateway
) -> None:
    servers = {"a": plain("one", [entry("b/print", "Print a page")])}
    async with gateway(servers=servers).running() as running:
        await running.search(None, "print a page")
        await running.reconfigure(
            Upstreams(servers={**servers, "a/b": plain("two", [entry("print", "Print a page")])})
        )
        found = await running.search(None, "print a page")
        assert [one["name"] for one in found.shown] == ["a/b/print"]
        assert running.index.get("a/b/print").server == "a"
        assert running.exposed("a/b").left_out == {"print": "another server has a/b/print"}


@pytest.mark.parametrize(
    ("grants", "seen"),
    [
        ([], set()),
        ([Grant("user:eve", "*")], set()),
        ([Grant("user:bob", "mail/*")], set()),
        ([Grant("user:bob", "dead/print")], {"dead"}),
        ([Grant("user:bob", "secret server/*")], {"secret server"}),
        ([Grant("user:bob", "*")], {"dead", "secret server"}),
    ],
)
async def test_a_server_that_fails_is_named_only_to_those_who_may_use_it(
    gateway: MakeGateway, grants: list[Grant], seen: set[str]
) -> None:
    servers = {"dead": DEAD}
    made = Upstreams(servers=servers, problems={"secret server": "cwd: /home/ada is not there"})
    index = ToolIndex(
        [SELF, tool("send", "Send a mail", "mail")], Topics(), AccessRules(tuple(grants))
    )
    async with Gateway(index, made, settings=PATIENT).running() as running:
        answer = await running.search(Principal("bob"), "print a page")
        assert set(answer.unavailable) == seen
        if not seen:
            said = str(answer.as_json())
            assert not any(one in said for one in ("dead", "secret", "/home", "no-such-command"))


@pytest.mark.parametrize("name", ["My Time Server", "io.github.me/time", "a.b", "时间"])
async def test_a_server_of_any_name_is_granted_found_listed_and_called(
    plain: Servers, name: str
) -> None:
    rules = AccessRules((Grant("user:bob", f"{name}/*"),))
    served = Upstreams(servers={name: plain("printer", [PRINT])})
    gateway = Gateway(ToolIndex([SELF], Topics(), rules), served, settings=PATIENT)
    bob = Principal("bob")
    async with gateway.running() as running:
        assert (await running.search(Principal("eve"), "print a page")).shown == []
        found = await running.search(bob, "print a page")
        assert [one["name"] for one in found.shown] == [f"{name}/print_page"]
        listed = list(wire_names(running.tools(bob, found.handle)))
        for called in (f"{name}/print_page", "print_page", *listed):
            done = await running.call(bob, found.handle, called, {"text": called})
            assert not done.result.is_error


async def test_each_line_of_a_servers_stderr_begins_with_its_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], gateway: MakeGateway
) -> None:
    script = "import sys; print('first\\n\\x1b[31msecond', file=sys.stderr); sys.exit(1)"
    servers = {"My Server": ServerSpec(command=sys.executable, args=["-c", script])}
    async with gateway(servers=servers).running() as running:
        await running.search(None, "print a page")
        said = ""
        with anyio.fail_after(10):
            while "second" not in said:
                await anyio.sleep(0.05)
                said += capfd.readouterr().err
    assert "[My Server] first\n[My Server] \\x1b[31msecond\n" in said


async def test_searches_go_on_without_an_error_while_servers_come_and_go(
    plain: Servers, gateway: MakeGateway
) -> None:
    specs = {
        name: plain(name, [entry(f"print_{name}", "Print a page")]) for name in ("a", "b", "c")
    }
    async with gateway(servers={"a": specs["a"]}).running() as running:
        done = anyio.Event()
        searched = 0

        async def change() -> None:
            for names in ("ab", "b", "bc", "ac", "c", "abc"):
                await running.reconfigure(Upstreams(servers={one: specs[one] for one in names}))
                await anyio.sleep(0.2)
            done.set()

        async def search() -> None:
            nonlocal searched
            handle = (await running.search(None, "print a page")).handle
            while not done.is_set():
                answer = await running.search(None, "print a page", handle)
                for one in answer.shown[:1]:
                    called = await running.call(None, handle, one["name"], {"text": str(searched)})
                    said = called.result.content[0].text
                    assert not called.result.is_error or "is gone" in said or "no longer" in said
                searched += 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(change)
            for _ in range(16):
                tasks.start_soon(search)
        assert searched >= 16
        answer = await running.search(None, "print_a, print_b, print_c")
        assert {one["name"] for one in answer.shown} == {"a/print_a", "b/print_b", "c/print_c"}
