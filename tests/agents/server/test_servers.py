"""What stands behind a gateway: names that would be mistaken for one another are refused."""

from typing import Any

import pytest
from mcp.types import CallToolResult, TextContent

from ctrag.agents.catalogue.access import AccessRules, Grant
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.marketplace import Installed, Plugin
from ctrag.agents.server.remote import SESSIONS_KEPT, RemoteRegistry
from ctrag.agents.server.servers import SELF, Servers
from ctrag.agents.server.upstream import Upstream, UpstreamError
from tests.agents.server.conftest import Topics

NEVER = ServerSpec(command="true")


async def listed(upstream: Upstream) -> None:
    pass


def servers(specs: Upstreams, *registries: RemoteRegistry) -> Servers:
    return Servers(ToolIndex([SELF], Topics()), specs, registries)


def test_a_registry_may_not_have_the_name_of_a_server_or_of_another_registry() -> None:
    both = Upstreams(servers={"hub": NEVER}, registries={"hub": NEVER})
    with pytest.raises(ValueError, match="registries: 'hub' is a server's name as well"):
        servers(both)
    again = RemoteRegistry(Upstream("hub", NEVER, listed))
    with pytest.raises(ValueError, match=r"registries: two have the same name: \['hub', 'hub'\]"):
        servers(Upstreams(registries={"hub": NEVER}), again)


@pytest.mark.parametrize("kind", ["servers", "registries"])
def test_a_plugin_whose_name_is_taken_opens_nothing(kind: str) -> None:
    rules = AccessRules((Grant("role:nurse", "hub/*"),))
    index = ToolIndex([SELF], Topics(), rules)
    made = Servers(index, Upstreams.model_validate({kind: {"hub": NEVER}}))
    plugin = Plugin(name="hub", description="x", tools=[{"name": "t"}], server=NEVER)
    with pytest.raises(ValueError, match="a server named 'hub' is here already; rename it"):
        made.adopt(Installed(plugin, ("user:eve",)))
    assert index.access == rules


class Answering(Upstream):
    """Another ctrag server, on the wire's far side: answers each search with a new session."""

    def __init__(self) -> None:
        super().__init__("hub", NEVER, listed)
        self.down = None
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        self.asked.append((name, arguments))
        answer = {"session": f"s{len(self.asked)}", "tools": []}
        return CallToolResult(
            content=[TextContent(type="text", text="")], structured_content=answer
        )


@pytest.mark.anyio
async def test_a_session_that_the_registry_no_longer_knows_is_told_to_search_again() -> None:
    upstream = Answering()
    registry = RemoteRegistry(upstream)
    for number in range(SESSIONS_KEPT + 1):
        await registry.search(str(number), "print", 5)
    await registry.call("1", "print", {})
    assert upstream.asked[-1][1]["session"] == "s2"
    with pytest.raises(UpstreamError, match="Search for hub/print again, then call it"):
        await registry.call("0", "print", {})
    assert len(upstream.asked) == SESSIONS_KEPT + 2, "nothing was sent"
