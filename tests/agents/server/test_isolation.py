"""A server's process is shared, unless its entry isolates it."""

import os
from collections.abc import Callable

import anyio
import pytest

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.isolation import Isolated
from ctrag.agents.server.upstream import Upstream, UpstreamError
from tests.agents.server.conftest import entry

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
Servers = Callable[..., ServerSpec]
MakeGateway = Callable[..., Gateway]
ADA, BOB = Principal("ada"), Principal("bob")


async def process_of(gateway: Gateway, who: Principal, handle: str) -> int:
    done = await gateway.call(who, handle, "cart/add_item", {"text": who.user})
    assert not done.result.is_error
    return int(done.result.content[0].text.rpartition(" ")[2])


@pytest.mark.parametrize(
    ("isolate", "processes"), [(False, 1), (True, 3), ("session", 3), ("user", 2)]
)
async def test_sessions_or_users_share_a_process_only_where_the_entry_lets_them(
    plain: Servers, gateway: MakeGateway, isolate: bool | str, processes: int
) -> None:
    servers = {"cart": plain("cart", [entry("add_item", "Add an item")], isolate=isolate)}
    async with gateway(servers=servers).running() as running:
        seen = []
        for who in (ADA, ADA, BOB):
            handle = (await running.search(who, "add_item")).handle
            first = await process_of(running, who, handle)
            assert await process_of(running, who, handle) == first, "a session keeps its process"
            seen.append(first)
        assert len(set(seen)) == processes
        assert len({one for one in seen if running_process(one)}) == processes
    assert not any(running_process(one) for one in seen)


def running_process(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


async def opened(isolated: Isolated, spec: ServerSpec, session: str) -> int:
    async with isolated.of("cart", spec, session, "") as server:
        result = await server.call("add_item", {})
    return int(result.content[0].text.rpartition(" ")[2])


async def test_the_session_that_was_idle_longest_makes_room_and_idle_ones_end(
    plain: Servers,
) -> None:
    async def listed(upstream: Upstream) -> None:
        pass

    spec = plain("cart", [entry("add_item")], isolate=True)
    isolated = Isolated(lambda name, spec: Upstream(name, spec, listed), most=2, idle=3600)
    with pytest.raises(UpstreamError, match="is being stopped; the call was not made"):
        await opened(isolated, spec, "early")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(isolated.run)
        await anyio.sleep(0)
        first, second = await opened(isolated, spec, "1"), await opened(isolated, spec, "2")
        assert await opened(isolated, spec, "1") == first
        third = await opened(isolated, spec, "3")
        assert len(isolated) == 2
        assert await opened(isolated, spec, "1") == first, "the second was idle longer"
        async with isolated.of("cart", spec, "1", ""), isolated.of("cart", spec, "3", ""):
            with pytest.raises(UpstreamError, match="2 sessions with calls running"):
                await opened(isolated, spec, "4")
        isolated.end("cart")
        assert len(isolated) == 0
        assert await opened(isolated, spec, "1") not in {first, second, third}
        tasks.cancel_scope.cancel()
    idle = Isolated(lambda name, spec: Upstream(name, spec, listed), idle=0.2)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(idle.run)
        await anyio.sleep(0)
        await opened(idle, spec, "1")
        with anyio.fail_after(10):
            while len(idle):
                await anyio.sleep(0.05)
        tasks.cancel_scope.cancel()
