"""The assistant as MCP tools, for the official client of both revisions."""

from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from ctrag.assistant.server.mcp_tools import mcp_server
from tests.assistant.server.conftest import MADE, MAIL, Ada

pytestmark = pytest.mark.anyio
CLIENTS = {"2026": "auto", "2025": "legacy"}
either = pytest.mark.parametrize("client", CLIENTS)


class Person:
    """Answers each question that a client shows with the next of some answers."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.choices: list[list[str]] = []

    async def __call__(self, ctx: Any, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        form: Any = params
        self.choices.append(form.requested_schema["properties"]["answer"].get("enum", []))
        answer = self.answers.pop(0)
        if answer is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"answer": answer})


async def ask(client: Client, text: str, **more: str) -> dict[str, Any]:
    answer: CallToolResult = await client.call_tool("ask", {"text": text, **more})
    assert not answer.is_error, answer.content
    return dict(answer.structured_content or {})


@either
async def test_what_reaches_others_is_done_only_where_the_person_agrees(
    ada: Ada, client: str
) -> None:
    person, before = Person("yes", "no", None), ada.mails()
    server = mcp_server(ada.door)
    async with Client(server, mode=CLIENTS[client], elicitation_callback=person) as one:
        ada.plans(MAIL)
        done = await ask(one, "mail Omar if the crane is free")
        assert "“Is it free?”" in person.asked[0]
        assert person.choices[0] == ["yes", "no"]
        assert [call["status"] for call in done["calls"]] == ["done"]
        for _ in ("no", "declined"):
            refused = await ask(one, "mail Omar if the crane is free")
            assert refused["said"] == "Nothing was done."
    assert ada.mails() == before + 1


@either
async def test_a_client_that_cannot_ask_is_told_what_was_not_done_and_how_to_go_on(
    ada: Ada, client: str
) -> None:
    before = ada.mails()
    async with Client(mcp_server(ada.door), mode=CLIENTS[client]) as one:
        ada.plans(MAIL)
        refused = await ask(one, "mail Omar if the crane is free")
        assert "“Is it free?”" in refused["not_done"]
        assert "ctrag chat --persona ada" in refused["said"]
        ada.plans("none()")
        await ask(one, "yes", conversation=refused["conversation"])
    assert ada.mails() == before


async def test_a_model_cannot_agree_while_its_person_is_asked(ada: Ada) -> None:
    before = ada.mails()
    async with Client(mcp_server(ada.door), elicitation_callback=Person()) as one:
        ada.plans(MADE)
        made = await ask(one, "remind me at eight to lock the gate")
        ada.plans(MAIL, "none()")
        handle = {"conversation": made["conversation"]}
        wanted = {"text": "mail Omar if the crane is free", **handle}
        waiting = await one.session.call_tool("ask", wanted, allow_input_required=True)
        assert waiting.result_type == "input_required"
        await ask(one, "no, wait", **handle)
        late: Any = await one.session.call_tool(
            "ask",
            wanted,
            request_state=waiting.request_state,
            input_responses={"answer": ElicitResult(action="accept", content={"answer": "yes"})},
        )
        assert late.is_error
        assert "not open any more" in late.content[0].text
    assert ada.mails() == before


async def test_a_conversation_goes_on_by_its_handle_and_is_taken_back(ada: Ada) -> None:
    async with Client(mcp_server(ada.door)) as one:
        ada.plans(MADE)
        made = await ask(one, "remind me at eight to lock the gate")
        handle = {"conversation": made["conversation"]}
        moved = await ask(one, "sorry, I meant half past eight", **handle)
        assert "20:30" in moved["said"]
        found: Any = await one.call_tool("find_items", {"text": "lock the gate", "limit": 3})
        assert "Lock the gate" in found.structured_content["items"][0]["item"]
        for _ in (moved, made):
            back: Any = await one.call_tool("undo", handle)
            assert "Taken back" in back.structured_content["said"]


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("ask", {"text": " "}, "the request is empty"),
        ("ask", {"text": "hello", "conversation": "x"}, "'x' is not known any more"),
        ("ask", {"query": "hello"}, "text: Field required"),
        ("find_items", {"text": "hello", "limit": 21}, "less than or equal to 20"),
        ("send", {}, "there is no tool 'send'; there are ask, find_items, undo"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model(
    ada: Ada, tool: str, arguments: dict[str, Any], problem: str
) -> None:
    async with Client(mcp_server(ada.door)) as one:
        answer: Any = await one.call_tool(tool, arguments)
    assert answer.is_error
    assert problem in answer.content[0].text


async def test_optional_arguments_that_a_model_fills_with_nothing_are_left_out(ada: Ada) -> None:
    async with Client(mcp_server(ada.door)) as one:
        answer = await ask(one, "hello", conversation="", place=" ")
        assert answer["conversation"]
        for empty in ("", None):
            arguments = {"text": "lock the gate", "limit": empty}
            found: Any = await one.call_tool("find_items", arguments)
            assert not found.is_error
            assert not (await one.call_tool("undo", {"conversation": empty})).is_error
