"""The official client against the server, in both revisions of the protocol."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import ToolListChangedNotification

from ctrag.agents.catalogue.access import AccessRules, Grant, Principal
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.meta_tools import META_TOOLS
from ctrag.agents.server.protocol import mcp_server
from ctrag.agents.server.servers import SELF
from ctrag.agents.session.settings import SessionSettings
from tests.agents.server.conftest import PATIENT, entry, tool

pytestmark = pytest.mark.anyio
MakeGateway = Callable[..., Gateway]
Servers = Callable[..., ServerSpec]
META = ["search_tools", "call_tool", "release_tools"]
ADA = Principal("ada")


async def listed(client: Client) -> list[str]:
    return [one.name for one in (await client.list_tools()).tools]


@pytest.fixture
def desk(plain: Servers) -> dict[str, ServerSpec]:
    hints = {"readOnlyHint": False}
    tools = [entry("print", "Print a page", annotations=hints), entry("send", "Send a mail")]
    return {"desk": plain("desk", tools)}


async def test_2026_a_handle_carries_the_session_and_the_list_never_changes(
    gateway: MakeGateway, desk: dict[str, ServerSpec]
) -> None:
    made = gateway(servers=desk)
    async with made.running(), Client(mcp_server(made, lambda: None)) as client:
        assert client.protocol_version == "2026-07-28"
        assert await listed(client) == META
        found = await client.call_tool("search_tools", {"query": "print a page", "limit": 1})
        session = found.structured_content["session"]
        assert [one["name"] for one in found.structured_content["tools"]] == ["desk/print"]
        arguments = {"session": session, "name": "desk/print", "arguments": {"text": "a"}}
        called = await client.call_tool("call_tool", arguments)
        assert called.content[0].text.startswith('print {"text": "a"}')
        assert await listed(client) == META
        direct = await client.call_tool("desk__print", {})
        assert direct.is_error
        assert "Find it with search_tools" in direct.content[0].text
    async with made.running(), Client(mcp_server(made, lambda: None)) as another:
        called = await another.call_tool("call_tool", arguments)
        assert not called.is_error, "the handle is all it takes"


async def test_2025_found_tools_join_the_list_of_their_connection_alone(
    gateway: MakeGateway, desk: dict[str, ServerSpec]
) -> None:
    made = gateway(servers=desk)
    server = mcp_server(made, lambda: None)
    received: list[Any] = []

    async def on(message: Any) -> None:
        received.append(message)

    async with (
        made.running(),
        Client(server, mode="legacy", message_handler=on) as client,
        Client(server, mode="legacy") as other,
    ):
        assert client.protocol_version == "2025-11-25"
        assert client.server_capabilities.tools.list_changed
        assert await listed(client) == META
        await client.call_tool("search_tools", {"query": "print a page", "limit": 1})
        with anyio.fail_after(5):
            while not received:
                await anyio.sleep(0.01)
        assert isinstance(received[0], ToolListChangedNotification)
        assert await listed(client) == [*META, "desk__print"]
        assert await listed(other) == META
        called = await client.call_tool("desk__print", {"text": "a"})
        assert called.content[0].text.startswith('print {"text": "a"}')
        assert (await other.call_tool("desk__print", {})).is_error


async def test_2025_tools_whose_names_would_be_one_are_called_by_the_names_they_are_listed_with(
    gateway: MakeGateway, plain: Servers
) -> None:
    entries = [entry("print.page", "Print a page"), entry("print_page", "Print a page")]
    made = gateway(servers={"desk": plain("desk", entries)})
    async with made.running(), Client(mcp_server(made, lambda: None), mode="legacy") as client:
        await client.call_tool("search_tools", {"query": "print a page"})
        found = (await listed(client))[len(META) :]
        assert len(found) == 2
        answers = [await client.call_tool(name, {"text": "a"}) for name in found]
        assert [one.is_error for one in answers] == [False, False]
        ran = {one.content[0].text.partition(" ")[0] for one in answers}
        assert ran == {"print.page", "print_page"}


async def test_2025_a_loop_takes_the_tool_off_the_list(
    gateway: MakeGateway, desk: dict[str, ServerSpec]
) -> None:
    made = gateway(servers=desk)
    async with made.running(), Client(mcp_server(made, lambda: None), mode="legacy") as client:
        await client.call_tool("search_tools", {"query": "print a page", "limit": 1})
        for _ in range(20):
            called = await client.call_tool("desk__print", {"text": "a"})
            if len(called.content) > 1:
                break
        assert "search_tools" in called.content[-1].text
        assert await listed(client) == META


async def test_a_caller_without_grants_is_shown_nothing_in_either_revision(
    gateway: MakeGateway,
) -> None:
    rules = AccessRules((Grant("user:bob", "*"),))
    made = gateway([tool("send", "Send a mail", "mail")], access=rules)
    for mode in ("auto", "legacy"):
        server = mcp_server(made, lambda: ADA)
        async with made.running(), Client(server, mode=mode) as client:
            found = await client.call_tool("search_tools", {"query": "send a mail"})
            assert found.structured_content["tools"] == []
            assert await listed(client) == META


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("search_tools", {}, "query: is missing; say in words what the tool should do"),
        ("search_tools", {"query": "  "}, "query: is missing"),
        ("search_tools", {"query": "mail", "session": "s"}, "session: unknown or ended"),
        ("call_tool", {"session": "s", "name": "a", "arguments": "x"}, "arguments: must be an obj"),
        ("call_tool", {"session": "s", "name": "a"}, "session: unknown or ended"),
        ("call_tool", {"session": "s"}, "name: is missing"),
        ("release_tools", {"session": "s"}, "names: is missing"),
        ("release_tools", {"session": "s", "names": ["a"]}, "session"),
        ("install_plugin", {"plugin": "a"}, "Find it with search_tools"),
    ],
)
async def test_bad_arguments_are_answered_with_what_to_mend(
    gateway: MakeGateway, name: str, arguments: dict[str, Any], problem: str
) -> None:
    made = gateway([tool("send", "Send a mail", "mail")])
    async with made.running(), Client(mcp_server(made, lambda: None)) as client:
        answer = await client.call_tool(name, arguments)
        assert answer.is_error
        assert problem in answer.content[0].text


def test_every_argument_of_a_meta_tool_is_described_to_the_model() -> None:
    for arguments, _, _ in META_TOOLS.values():
        for field in arguments.model_fields.values():
            assert field.description


async def test_16_clients_search_while_tools_come_and_go(gateway: MakeGateway) -> None:
    made = gateway([tool("send", "Send a mail", f"mail{n}") for n in range(8)])
    server = mcp_server(made, lambda: None)
    answers: list[int] = []

    async def search() -> None:
        async with Client(server) as client:
            for _ in range(10):
                found = await client.call_tool("search_tools", {"query": "send a mail"})
                answers.append(len(found.structured_content["tools"]))

    async def change() -> None:
        for n in range(20):
            tools = [tool(f"print{n}", "Print a page", "printer")]
            await anyio.to_thread.run_sync(made.index.replace_server, "printer", tools)

    async with made.running(), anyio.create_task_group() as tasks:
        tasks.start_soon(change)
        for _ in range(16):
            tasks.start_soon(search)
    assert answers == [5] * 160
    assert {one.id for one in made.index.tools} >= {f"mail{n}/send" for n in range(8)}


async def test_calls_are_understood_as_models_send_them_in_either_revision(
    gateway: MakeGateway, desk: dict[str, ServerSpec]
) -> None:
    made = gateway(servers=desk)
    for mode in ("auto", "legacy"):
        async with made.running(), Client(mcp_server(made, lambda: None), mode=mode) as client:
            found = await client.call_tool("search_tools", {"q": "print a page", "limit": 50})
            content = found.structured_content
            assert "limit: must be from 1 to 20; 20 was used in place of 50." in content["note"]
            given = {"session": content["session"], "name": "mcp__desk__print"}
            for sent in (
                {"arguments": '{"text": "a"}'},
                {"arguments": {"args": {"text": "a"}}},
                {"text": "a"},
            ):
                called = await client.call_tool("call_tool", {**given, **sent})
                assert called.content[0].text.startswith('print {"text": "a"}')
            called = await client.call_tool("call_tool", {**given, "arguments": None})
            assert called.content[0].text.startswith("print {}")
            released = {"session": content["session"], "names": "desk.print, desk/nothing"}
            answer = await client.call_tool("release_tools", released)
            assert answer.structured_content == {"released": ["desk/print"]}


async def test_a_call_without_a_session_is_the_connections_own_or_says_what_to_send(
    gateway: MakeGateway, desk: dict[str, ServerSpec]
) -> None:
    made = gateway(servers=desk)
    call = {"name": "desk/print", "arguments": {"text": "a"}}
    async with made.running(), Client(mcp_server(made, lambda: None), mode="legacy") as client:
        await client.call_tool("search_tools", {"query": "print a page"})
        assert not (await client.call_tool("call_tool", call)).is_error
    async with made.running(), Client(mcp_server(made, lambda: None)) as client:
        refused = await client.call_tool("call_tool", call)
        assert refused.is_error
        assert "session: is missing; send the one that a search gave" in refused.content[0].text


async def test_a_name_that_means_a_tool_the_session_lacks_calls_no_other(
    gateway: MakeGateway, plain: Servers
) -> None:
    servers = {
        "a": plain("a", [entry("b_print", "Print a page")]),
        "a_b": plain("ab", [entry("print", "Send a mail")]),
    }
    async with (
        (made := gateway(servers=servers)).running(),
        Client(mcp_server(made, lambda: None)) as client,
    ):
        found = await client.call_tool("search_tools", {"query": "print a page", "limit": 1})
        given = {"session": found.structured_content["session"]}
        assert [one["name"] for one in found.structured_content["tools"]] == ["a/b_print"]
        either = await client.call_tool("call_tool", {**given, "name": "mcp_a_b_print"})
        assert either.is_error
        assert "is no tool of this session; 'a/b_print' is one" in either.content[0].text
        exact = await client.call_tool("call_tool", {**given, "name": "mcp__a__b_print"})
        assert exact.content[0].text.startswith("b_print {}")


async def test_reads_and_changes_have_meta_tools_of_their_own_where_that_is_set(
    plain: Servers, encoder: Any
) -> None:
    entries = [
        entry("print", "Print a page", annotations={"readOnlyHint": True}),
        entry("send", "Send a mail", annotations={"readOnlyHint": False}),
        entry("echo", "Echo a text"),
    ]
    upstreams = Upstreams(servers={"desk": plain("desk", entries)})
    made = Gateway(
        ToolIndex([SELF], encoder), upstreams, settings=replace(PATIENT, reads_apart=True)
    )
    async with made.running(), Client(mcp_server(made, lambda: None)) as client:
        listed = {one.name: one for one in (await client.list_tools()).tools}
        assert [*listed] == ["search_tools", "call_tool", "call_changing_tool", "release_tools"]
        assert listed["call_tool"].annotations.read_only_hint is True
        assert listed["call_changing_tool"].annotations.read_only_hint is False
        session, shown = "", {}
        for query in ("print a page", "send a mail", "echo a text"):
            wanted = {"query": query, **({"session": session} if session else {})}
            found = (await client.call_tool("search_tools", wanted)).structured_content
            session = found["session"]
            shown |= {one["name"]: one["call_with"] for one in found["tools"]}
        assert shown == {
            "desk/print": "call_tool",
            "desk/send": "call_changing_tool",
            "desk/echo": "call_changing_tool",
        }
        for name, right in shown.items():
            given = {"session": session, "name": name, "arguments": {"text": "a"}}
            assert not (await client.call_tool(right, given)).is_error
            read = await client.call_tool("call_tool", given)
            assert read.is_error == (right == "call_changing_tool")
            if read.is_error:
                said = f"{name} may change something: call it with call_changing_tool."
                assert read.content[0].text == said


async def test_without_that_setting_one_meta_tool_calls_all(
    gateway: MakeGateway, desk: dict[str, ServerSpec]
) -> None:
    made = gateway(servers=desk)
    async with made.running(), Client(mcp_server(made, lambda: None)) as client:
        refused = await client.call_tool("call_changing_tool", {"session": "s", "name": "a"})
        assert "There is no tool 'call_changing_tool' in this list" in refused.content[0].text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_few_tools_are_listed_and_called_without_a_search_in_both_revisions(
    gateway: MakeGateway, desk: dict[str, ServerSpec], mode: Any
) -> None:
    made = gateway(servers=desk, session=SessionSettings(list_under=200))
    async with made.running(), Client(mcp_server(made, lambda: None), mode=mode) as client:
        assert await listed(client) == [*META, "desk__print", "desk__send"]
        called = await client.call_tool("desk__print", {"text": "a"})
        assert called.content[0].text.startswith('print {"text": "a"}')
        found = await client.call_tool("search_tools", {"query": "print a page"})
        assert found.structured_content["tools"][0]["name"] == "desk/print"


async def test_an_argument_of_another_type_reaches_the_server_under_its_own_name(
    gateway: MakeGateway, plain: Servers
) -> None:
    schema = {"type": "object", "properties": {"Size<": {"type": "integer"}}}
    made = gateway(servers={"desk": plain("desk", [entry("print", "Print", inputSchema=schema)])})
    async with made.running(), Client(mcp_server(made, lambda: None)) as client:
        found = (await client.call_tool("search_tools", {"query": "print"})).structured_content
        assert [*found["tools"][0]["input_schema"]["properties"]] == ["Size_lt"]
        sent = {"session": found["session"], "name": "print", "arguments": {"Size_lt": "3"}}
        called = await client.call_tool("call_tool", sent)
        assert called.content[0].text.startswith('print {"Size<": 3}')
