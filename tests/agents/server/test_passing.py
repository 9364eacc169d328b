"""All of the protocol passes, between servers and clients of either revision."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import (
    CallToolResult,
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    LoggingMessageNotificationParams,
    PromptReference,
    ResourceTemplateReference,
    Root,
    TextContent,
)

from ctrag.agents.catalogue.access import AccessRules, Grant, Principal
from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.protocol import mcp_server
from tests.agents.server.conftest import entry

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),
]
MakeGateway = Callable[..., Gateway]
RICH = Path(__file__).with_name("rich_server.py")
SERVERS = {"2026": [], "2025": ["--old"]}
CLIENTS = {"2026": "auto", "2025": "legacy"}
both = pytest.mark.parametrize("server", SERVERS)
either = pytest.mark.parametrize("client", CLIENTS)


def rich(server: str = "2026", *options: str, **more: Any) -> ServerSpec:
    return ServerSpec(command=sys.executable, args=[str(RICH), *SERVERS[server], *options], **more)


class Seen:
    """What a client was told and asked; answers what it is asked."""

    def __init__(self) -> None:
        self.progress: list[tuple[float, float | None, str | None]] = []
        self.logs: list[LoggingMessageNotificationParams] = []
        self.messages: list[str] = []
        self.asked: list[Any] = []

    async def on_progress(self, done: float, total: float | None, message: str | None) -> None:
        self.progress.append((done, total, message))

    async def on_log(self, params: LoggingMessageNotificationParams) -> None:
        self.logs.append(params)

    async def on_message(self, message: Any) -> None:
        self.messages.append(type(message).__name__)

    async def sample(self, ctx: Any, params: Any) -> CreateMessageResult:
        self.asked.append(params)
        text = TextContent(type="text", text="there was a young lady")
        return CreateMessageResult(role="assistant", content=text, model="m")

    async def elicit(self, ctx: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        day = {"day": "Monday"} if params.mode == "form" else None
        return ElicitResult(action="accept", content=day)

    async def roots(self, ctx: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///here")])

    @property
    def offering(self) -> dict[str, Any]:
        return {
            "sampling_callback": self.sample,
            "elicitation_callback": self.elicit,
            "list_roots_callback": self.roots,
        }


@asynccontextmanager
async def connected(
    gateway: Gateway, mode: str = "auto", who: Principal | None = None, **more: Any
) -> AsyncIterator[Client]:
    async with (
        gateway.running(),
        Client(mcp_server(gateway, lambda: who), mode=mode, **more) as client,
    ):
        yield client


async def search(client: Client, query: str, session: str | None = None) -> dict[str, Any]:
    arguments = {"query": query, **({"session": session} if session else {})}
    found = await client.call_tool("search_tools", arguments)
    return dict(found.structured_content or {})


async def call(
    client: Client, name: str, arguments: dict[str, Any] | None = None, **more: Any
) -> CallToolResult:
    """Search for the tool by its last word and call it."""
    found = await search(client, name.rpartition("/")[2])
    wanted = {"session": found["session"], "name": name, "arguments": arguments or {}}
    return await client.call_tool("call_tool", wanted, **more)


def text(result: CallToolResult) -> str:
    return "\n".join(one.text for one in result.content if isinstance(one, TextContent))


@both
async def test_a_search_shows_what_else_the_server_lists_of_a_tool(
    gateway: MakeGateway, server: str
) -> None:
    async with connected(gateway(servers={"rich": rich(server)})) as client:
        shown = (await search(client, "send a mail"))["tools"][0]
    assert shown["name"] == "rich/send"
    assert shown["title"] == "Mail sender"
    assert shown["annotations"] == {"destructiveHint": True, "openWorldHint": True}
    assert shown["output_schema"]["properties"] == {"sent": {"type": "boolean"}}
    assert shown["icons"] == [{"src": "https://mail.example/icon.png"}]
    assert shown["_meta"] == {"mail.example/cost": 3}


async def test_2025_the_list_has_annotations_and_output_schemas_and_results_keep_to_them(
    gateway: MakeGateway,
) -> None:
    async with connected(gateway(servers={"rich": rich()}), "legacy") as client:
        await search(client, "send a mail")
        listed = {one.name: one for one in (await client.list_tools()).tools}
        send = listed["rich__send"]
        assert send.title == "Mail sender"
        assert send.annotations is not None
        assert send.annotations.destructive_hint is True
        assert send.output_schema == {
            "type": "object",
            "properties": {"sent": {"type": "boolean"}},
        }
        assert send.icons is not None
        assert (await client.call_tool("rich__send", {})).structured_content == {"sent": True}


async def test_2025_a_long_structured_result_stays_only_where_the_client_checks_it(
    gateway: MakeGateway,
) -> None:
    async with connected(gateway(servers={"rich": rich(result_limit=5)}), "legacy") as client:
        for query in ("send a mail", "pdf of a note"):
            await search(client, query)
        listed = {one.name: one for one in (await client.list_tools()).tools}
        assert listed["rich__send"].output_schema is not None
        assert listed["rich__pdf"].output_schema is None
        assert (await client.call_tool("rich__send", {})).structured_content == {"sent": True}
        assert (await client.call_tool("rich__pdf", {})).structured_content is None


async def test_what_is_malformed_beside_a_tool_is_dropped_and_the_tool_stays(
    gateway: MakeGateway, plain: Callable[..., ServerSpec]
) -> None:
    odd = entry(
        "mail",
        "Send a mail",
        title=5,
        annotations={"readOnlyHint": "yes", "destructiveHint": False, "title": "Post"},
        outputSchema={"type": "no such type"},
        icons=["picture", {"src": 5}],
    )
    async with connected(gateway(servers={"desk": plain("desk", [odd])}), "legacy") as client:
        shown = (await search(client, "mail"))["tools"][0]
        assert shown["annotations"] == {"destructiveHint": False, "title": "Post"}
        assert not {"title", "output_schema", "icons"} & set(shown)
        assert "desk__mail" in {one.name for one in (await client.list_tools()).tools}


async def test_a_tool_that_can_only_be_called_as_a_task_is_left_out_and_said(
    gateway: MakeGateway, plain: Callable[..., ServerSpec]
) -> None:
    task = entry("print", "Print a page", execution={"taskSupport": "required"})
    fine = entry("mail", "Send a mail", execution={"taskSupport": "optional"})
    made = gateway(servers={"desk": plain("desk", [task, fine])})
    async with connected(made) as client:
        found = await search(client, "print a page")
        assert "desk/print" not in {one["name"] for one in found["tools"]}
    assert "only be called as a task" in made.servers["desk"].problems["print"]


@both
@either
async def test_progress_is_passed_and_holds_the_time_out_off(
    gateway: MakeGateway, server: str, client: str
) -> None:
    seen = Seen()
    made = gateway(servers={"rich": rich(server, timeout=1.0)})
    async with connected(made, CLIENTS[client]) as one:
        done = await call(one, "rich/print", {"n": 1.5}, progress_callback=seen.on_progress)
    assert text(done) == "printed"
    assert len(seen.progress) == 15
    assert seen.progress[0] == (1.0, 15.0, "page 1")


async def test_a_call_without_progress_still_ends_at_its_time_out(
    gateway: MakeGateway, plain: Callable[..., ServerSpec]
) -> None:
    spec = plain("desk", [entry("hang", "Print a page")], timeout=0.5)
    async with connected(gateway(servers={"desk": spec})) as client:
        found = await search(client, "print a page")
        wanted = {"session": found["session"], "name": "desk/hang", "arguments": {}}
        ended = await client.call_tool("call_tool", wanted)
    assert ended.is_error
    assert "no answer within 0.5 s" in text(ended)


ANSWERS = {
    "invoice": "there was a young lady",  # sampling
    "calendar": '"day":"Monday"',  # elicitation of a form
    "event": '"action":"accept"',  # elicitation at a URL
    "page": "file:///here",  # roots
}


@both
@either
async def test_a_question_of_a_server_is_answered_by_the_client_that_made_the_call(
    gateway: MakeGateway, server: str, client: str
) -> None:
    seen = Seen()
    made = gateway(servers={"rich": rich(server)})
    async with connected(made, CLIENTS[client], **seen.offering) as one:
        answered = {tool: await call(one, f"rich/{tool}") for tool in ANSWERS}
    for tool, answer in ANSWERS.items():
        assert not answered[tool].is_error, tool
        assert answer in text(answered[tool])
    urls = [one.url for one in seen.asked if getattr(one, "mode", "") == "url"]
    assert urls == ["https://event.example/in"]


@both
async def test_a_client_that_offers_nothing_is_asked_nothing_and_the_call_is_refused(
    gateway: MakeGateway, server: str
) -> None:
    async with connected(gateway(servers={"rich": rich(server)})) as client:
        refused = await call(client, "rich/invoice")
    assert refused.is_error
    assert "Sampling not supported" in text(refused)


@either
async def test_each_of_two_clients_is_asked_what_its_own_call_needs(
    gateway: MakeGateway, client: str
) -> None:
    made = gateway(servers={"rich": rich("2025")})
    server = mcp_server(made, lambda: None)
    answers: dict[str, str] = {}

    async def one(day: str) -> None:
        async def elicit(ctx: Any, params: Any) -> ElicitResult:
            await anyio.sleep(0.2)
            return ElicitResult(action="accept", content={"day": day})

        async with Client(server, mode=CLIENTS[client], elicitation_callback=elicit) as own:
            answers[day] = text(await call(own, "rich/calendar"))

    async with made.running(), anyio.create_task_group() as tasks:
        for day in ("Monday", "Friday"):
            tasks.start_soon(one, day)
    assert all(day in answer for day, answer in answers.items())
    assert len(answers) == 2


@both
async def test_a_tool_that_needs_a_model_is_found_by_clients_with_one_alone(
    gateway: MakeGateway, server: str
) -> None:
    seen = Seen()
    made = gateway(servers={"rich": rich(server)})
    served = mcp_server(made, lambda: None)
    async with made.running():
        async with Client(served, sampling_callback=seen.sample) as able:
            found = await search(able, "echo where there is a model")
            assert "rich/secret" in {one["name"] for one in found["tools"]}
            assert text(await call_found(able, found, "rich/secret")) == "only here"
        async with Client(served) as other:
            found = await search(other, "echo where there is a model")
            assert "rich/secret" not in {one["name"] for one in found["tools"]}


async def call_found(client: Client, found: dict[str, Any], name: str) -> CallToolResult:
    wanted = {"session": found["session"], "name": name, "arguments": {}}
    return await client.call_tool("call_tool", wanted)


async def test_an_answer_of_another_caller_does_not_go_on_with_a_call(
    gateway: MakeGateway,
) -> None:
    seen = Seen()
    async with connected(gateway(servers={"rich": rich()}), **seen.offering) as client:
        found = await search(client, "calendar")
        wanted = {"session": found["session"], "name": "rich/calendar", "arguments": {}}
        asked = await client.session.call_tool("call_tool", wanted, allow_input_required=True)
        assert asked.result_type == "input_required"
        other = {**wanted, "session": (await search(client, "calendar"))["session"]}
        refused = await client.session.call_tool(
            "call_tool", other, input_responses={}, request_state=asked.request_state
        )
        assert refused.is_error
        assert "no call waits for this answer" in text(refused)


@both
async def test_log_messages_pass_with_the_name_of_the_server(
    gateway: MakeGateway, server: str
) -> None:
    seen = Seen()
    made = gateway(servers={"rich": rich(server)})
    async with connected(made, "legacy", logging_callback=seen.on_log) as client:
        await call(client, "rich/clock")
        with anyio.fail_after(5):
            while server == "2025" and not seen.logs:
                await anyio.sleep(0.01)
    if server == "2025":  # a server of 2026 sends them only to who has asked for a level
        assert [(one.level, one.logger, one.data) for one in seen.logs] == [
            ("warning", "rich/hands", "tick")
        ]


@both
@either
async def test_log_messages_below_the_level_that_a_client_has_set_do_not_reach_it(
    gateway: MakeGateway, server: str, client: str
) -> None:
    seen = Seen()
    made = gateway(servers={"rich": rich(server)})
    more: dict[str, Any] = {"log_level": "info"} if client == "2026" else {}
    async with connected(made, CLIENTS[client], logging_callback=seen.on_log, **more) as one:
        if client == "2025":
            await one.session.set_logging_level("info")
        await call(one, "rich/clock", {"n": 2})
        await call(one, "rich/clock", {"n": 1})
        with anyio.fail_after(5):
            while not seen.logs:
                await anyio.sleep(0.01)
    assert [(one.level, one.logger) for one in seen.logs] == [("warning", "rich/hands")]


async def test_the_level_is_set_at_the_servers(gateway: MakeGateway, tmp_path: Path) -> None:
    log = tmp_path / "log"
    made = gateway(servers={"rich": rich("2025", "--log", str(log))})
    async with connected(made, "legacy") as client:
        await search(client, "clock")
        await client.session.set_logging_level("error")
        await client.session.set_logging_level("info")
        await client.session.set_logging_level("warning")
    assert log.read_text().split("\n")[:-1] == ["started", "level error", "level info"]


@both
@either
async def test_resources_templates_and_prompts_are_listed_and_read_by_names_that_tell_the_server(
    gateway: MakeGateway, server: str, client: str
) -> None:
    made = gateway(servers={"rich": rich(server), "other": rich(server)})
    async with connected(made, CLIENTS[client]) as one:
        await search(one, "clock")
        listed = [str(item.uri) for item in (await one.list_resources()).resources]
        assert listed == ["ctrag://rich/note://one", "ctrag://other/note://one"]
        templates = (await one.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "ctrag://rich/note://{name}"
        read = (await one.read_resource("ctrag://rich/note://two")).contents[0]
        assert (str(read.uri), read.text) == (
            "ctrag://rich/note://two",
            "the note of note://two",
        )
        prompts = [item.name for item in (await one.list_prompts()).prompts]
        assert prompts == ["rich/greet", "other/greet"]
        got = await one.get_prompt("other/greet", {"city": "Oslo"})
        assert got.messages[0].content.text == "Hello Oslo"
        prompt = PromptReference(type="ref/prompt", name="rich/greet")
        done = await one.complete(prompt, {"name": "city", "value": "P"})
        assert done.completion.values == ["greet:Paris"]
        template = ResourceTemplateReference(type="ref/resource", uri="ctrag://rich/note://{name}")
        done = await one.complete(template, {"name": "name", "value": "P"})
        assert done.completion.values == ["note://{name}:Paris"]


NOT_THERE = {
    "note://one": "is not of this server; its resources are ctrag://SERVER/URI",
    "ctrag://nobody/note://one": "there is no resource",
    "ctrag://rich/note://none": "rich: no such note",
    "ctrag://ctrag/result/nothing": "not kept any more",
}


async def test_a_resource_or_prompt_that_is_not_there_is_refused_with_the_reason(
    gateway: MakeGateway,
) -> None:
    async with connected(gateway(servers={"rich": rich()})) as client:
        await search(client, "clock")
        for uri, problem in NOT_THERE.items():
            with pytest.raises(MCPError, match=problem):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="they are SERVER/PROMPT"):
            await client.get_prompt("greet", {"city": "Oslo"})


async def test_resources_are_those_of_servers_that_the_caller_may_use_as_a_whole(
    gateway: MakeGateway,
) -> None:
    rules = AccessRules(
        (
            Grant("user:ada", "rich/*"),
            Grant("user:ada", "other/clock"),
            Grant("user:ada", "other/pdf"),
        )
    )
    made = gateway(servers={"rich": rich(), "other": rich()}, access=rules)
    async with connected(made, who=Principal("ada")) as client:
        await search(client, "clock")
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        assert listed == ["ctrag://rich/note://one"]
        assert [one.name for one in (await client.list_prompts()).prompts] == ["rich/greet"]
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource("ctrag://other/note://one")
        with pytest.raises(MCPError, match="there is no prompt"):
            await client.get_prompt("other/greet", {"city": "Oslo"})
        linked = await call(client, "other/pdf")
        given = str(linked.content[0].uri)
        assert given == "ctrag://other/note://one"
        read = await client.read_resource(given)
        assert read.contents[0].text == "the note of note://one", "a link that was given is read"


@both
async def test_a_link_in_a_result_can_be_read_by_client_and_model(
    gateway: MakeGateway, server: str
) -> None:
    async with connected(gateway(servers={"rich": rich(server)})) as client:
        linked = await call(client, "rich/pdf")
        assert linked.structured_content == {"a": 1}
        uri = str(linked.content[0].uri)
        assert (await client.read_resource(uri)).contents[0].text == "the note of note://one"
        found = await search(client, "clock")
        wanted = {"session": found["session"], "name": "ctrag/read", "arguments": {"uri": uri}}
        for name in ("ctrag/read", "ctrag.read", "mcp__tools__ctrag__read"):
            wanted |= {"name": name}
            assert text(await client.call_tool("call_tool", wanted)) == "the note of note://one"


async def test_2025_clients_are_told_that_resources_and_prompts_have_changed(
    gateway: MakeGateway,
) -> None:
    seen = Seen()
    made = gateway(servers={"rich": rich("2025")})
    async with connected(made, "legacy", message_handler=seen.on_message) as client:
        assert client.server_capabilities.resources.list_changed
        assert client.server_capabilities.prompts.list_changed
        assert len((await client.list_resources()).resources) == 1
        await call(client, "rich/weather")
        with anyio.fail_after(5):
            while "PromptListChangedNotification" not in seen.messages:
                await anyio.sleep(0.01)
        assert "ResourceListChangedNotification" in seen.messages
        assert len((await client.list_resources()).resources) == 2


async def test_2026_clients_that_listen_are_told_that_resources_have_changed(
    gateway: MakeGateway,
) -> None:
    async with connected(gateway(servers={"rich": rich("2025")})) as client:
        await search(client, "weather")
        async with client.listen(resources_list_changed=True) as changes:
            await call(client, "rich/weather")
            with anyio.fail_after(5):
                async for event in changes:
                    assert type(event).__name__ == "ResourcesListChanged"
                    break
        assert len((await client.list_resources()).resources) == 2


@either
async def test_a_long_result_is_cut_and_can_be_read_on_to_its_end(
    gateway: MakeGateway, client: str
) -> None:
    made = gateway(servers={"rich": rich(result_limit=1_000)})
    async with connected(made, CLIENTS[client]) as one:
        found = await search(one, "text")
        wanted = {"session": found["session"], "name": "rich/text", "arguments": {"n": 250_000}}
        first = await one.call_tool("call_tool", wanted)
        assert len(first.content[0].text) == 1_000
        assert "[Characters 0 to 1,000 of 250,000." in first.content[1].text
        uri, whole = str(first.content[2].uri), first.content[0].text
        while True:
            arguments = {"uri": uri, "offset": len(whole)}
            wanted = {**wanted, "name": "ctrag/read", "arguments": arguments}
            part = await one.call_tool("call_tool", wanted)
            whole += part.content[0].text
            if len(part.content) == 1:
                break
        assert whole == "".join(f"{i:09d}\n" for i in range(25_000))
        assert (await one.read_resource(uri)).contents[0].text == whole


UNREADABLE: list[tuple[dict[str, Any], str]] = [
    ({}, "give uri, a text, and offset, a whole number"),
    ({"uri": "ctrag://rich/note://one", "offset": 500}, "is not within the 22 characters"),
    ({"uri": "ctrag://ctrag/result/x"}, "not kept any more; make the call again"),
]


async def test_what_cannot_be_read_is_refused_with_what_to_do(gateway: MakeGateway) -> None:
    async with connected(gateway(servers={"rich": rich()})) as client:
        found = await search(client, "text")
        for arguments, problem in UNREADABLE:
            wanted = {"session": found["session"], "name": "ctrag/read", "arguments": arguments}
            refused = await client.call_tool("call_tool", wanted)
            assert refused.is_error
            assert problem in text(refused)


async def test_a_kept_result_is_its_callers_alone(gateway: MakeGateway) -> None:
    made = gateway(servers={"rich": rich(result_limit=10)})
    callers = [Principal("ada")]
    async with made.running(), Client(mcp_server(made, lambda: callers[0])) as client:
        first = await call(client, "rich/text", {"n": 100})
        uri = str(first.content[2].uri)
        assert len((await client.read_resource(uri)).contents[0].text) == 100
        callers[0] = Principal("bob")
        with pytest.raises(MCPError, match="not kept any more"):
            await client.read_resource(uri, cache_mode="bypass")


@both
async def test_meta_passes_both_ways_and_the_answer_is_signed_by_us(
    gateway: MakeGateway, server: str
) -> None:
    async with connected(gateway(servers={"rich": rich(server)})) as client:
        echoed = await call(client, "rich/echo", meta={"x/trace": 7})
    assert "'x/trace': 7" in text(echoed)
    assert echoed.meta is not None
    assert echoed.meta["x/back"] == 1
    assert echoed.meta["io.modelcontextprotocol/serverInfo"]["name"] == "ctrag"


async def test_an_isolated_server_has_a_process_for_each_session(gateway: MakeGateway) -> None:
    made = gateway(servers={"rich": rich(isolate=True), "shared": rich()})
    server = mcp_server(made, lambda: None)
    carts: dict[str, list[str]] = {"rich": [], "shared": []}
    async with made.running():
        for _ in range(2):
            async with Client(server, mode="legacy") as client:
                for name in carts:
                    carts[name].append(text(await call(client, f"{name}/time")))
    assert carts == {"rich": ["[0]", "[0]"], "shared": ["[0]", "[0, 1]"]}


@both
@either
async def test_the_only_client_of_a_gateway_needs_no_second_process(
    gateway: MakeGateway, server: str, client: str, tmp_path: Path
) -> None:
    seen, log = Seen(), tmp_path / "log"
    made = gateway(servers={"rich": rich(server, "--log", str(log))})
    sole = made.for_one_client()
    served = mcp_server(made, lambda: None, sole)
    async with (
        made.running(),
        Client(served, mode=CLIENTS[client], **seen.offering) as one,
    ):
        assert "there was a young lady" in text(await call(one, "rich/invoice"))
        found = await search(one, "echo where there is a model")
        assert "rich/secret" in {tool["name"] for tool in found["tools"]}
    assert log.read_text() == "started\n"
