"""The middleware in real LangChain agents, with a model that follows a script."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("langchain", reason="langchain is an extra")

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.integrations.langchain_prompts import PromptMiddleware
from ctrag.agents.prompt.assembly import DISCOVERY, OVERLAY
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.tool_documents import make_documents
from tests.agents.prompt.toys import builder, count_words

NARROW = PromptSettings(tau=0.0, tools=1, signatures=0, discovery_tools=3)
OWN_PROMPT = "You are the agent of the shop."


class Scripted(BaseChatModel):
    """Says what the script says, and keeps what it was given each time."""

    script: list[Any]
    tools: list[list[Any]] = Field(default_factory=list)
    systems: list[SystemMessage] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **more: Any) -> Any:
        self.tools.append(list(tools))
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **more: Any,
    ) -> ChatResult:
        assert isinstance(messages[0], SystemMessage)
        self.systems.append(messages[0])
        step = self.script.pop(0)
        calls = [{"name": name, "args": {}, "id": f"{len(self.script)}"} for name in step[1:]]
        message = AIMessage(step[0], tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def names(self, at: int) -> list[str]:
        return [name_of(one) for one in self.tools[at]]


@tool
def own_tool() -> str:
    """Of no catalogue."""
    return "own"


def name_of(given: Any) -> str:
    return str(given["function"]["name"] if isinstance(given, dict) else given.name)


def toy(name: str) -> BaseTool:
    return StructuredTool.from_function(lambda: "done", name=name, description="What it does.")


def agent(model: Scripted, shop: PromptBuilder, budget: int = 400, **more: Any) -> Any:
    tools = [*(toy(one.name) for one in shop.tools), own_tool]
    return create_agent(model, tools, middleware=[PromptMiddleware(shop, budget)], **more)


def ask(text: str) -> dict[str, Any]:
    return {"messages": [("user", text)]}


def test_the_model_sees_the_chosen_tools_and_those_the_catalogue_does_not_have() -> None:
    model = Scripted(script=[["done"]])
    agent(model, builder(settings=NARROW)).invoke(ask("cancel my order"))
    assert model.names(0) == ["own_tool", "cancel_order"]
    assert model.systems[0].text.startswith(OVERLAY)


@pytest.mark.parametrize(
    "own", [OWN_PROMPT, SystemMessage([{"type": "text", "text": OWN_PROMPT}])], ids=["text", "list"]
)
def test_the_agents_own_system_prompt_stands_after_the_overlay(own: Any) -> None:
    model = Scripted(script=[["done"]])
    shop = builder(settings=NARROW)
    agent(model, shop, system_prompt=own).invoke(ask("cancel my order"))
    system = model.systems[0].text
    assert system.startswith(OVERLAY)
    assert system.count(OWN_PROMPT) == 1
    built = shop.build("cancel my order", 400, form="openai").system
    assert system.replace(OWN_PROMPT, "").split() == built.split()


def test_the_likely_tool_is_told_by_the_name_that_the_agent_calls_it_by() -> None:
    """Two servers have a `book`, so the catalogue's names are longer than the tools' own."""

    class Books:
        def rank(self, text: str, history: object) -> list[tuple[str, float]]:
            return [("inn/book", 1.0)]

    documents = make_documents(
        [
            CatalogueTool("book", "Book a flight.", "air"),
            CatalogueTool("book", "Book a table.", "inn"),
        ],
        {},
        count_words,
    )
    named = {one.id: one.name for one in documents}
    assert named["inn/book"] != "book"
    settings = PromptSettings(discovery="off", next_tool_weight=2.0)
    for own, line in (("book", "Likely next tool: book ("), ("eat", "")):
        model = Scripted(script=[["done"]])
        shop = builder(tools=documents, next_tool=Books(), settings=settings)
        create_agent(model, [toy(own)], middleware=[PromptMiddleware(shop, 400)]).invoke(
            ask("book it")
        )
        assert ("Likely next tool" in model.systems[0].text) == bool(line)
        assert line in model.systems[0].text


def test_a_model_that_asks_for_discovery_gets_more_tools_once() -> None:
    model = Scripted(script=[[f"{DISCOVERY}: something to book"], [DISCOVERY]])
    agent(model, builder(settings=NARROW)).invoke(ask("cancel my order"))
    assert [len(one) for one in model.tools] == [2, 4]


def test_no_discovery_step_is_taken_where_it_is_off() -> None:
    model = Scripted(script=[[f"{DISCOVERY}: something to book"]])
    off = PromptSettings(discovery="off", tools=1, signatures=0)
    answer = agent(model, builder(settings=off)).invoke(ask("cancel my order"))
    assert answer["messages"][-1].text == f"{DISCOVERY}: something to book"
    assert len(model.systems) == 1


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_it_is_the_same_when_the_agent_is_awaited() -> None:
    model = Scripted(script=[[f"{DISCOVERY}: more"], ["", "cancel_order"], ["done"]])
    answer = await agent(model, builder(settings=NARROW)).ainvoke(ask("cancel my order"))
    assert answer["messages"][-1].text == "done"
    assert [len(one) for one in model.tools[:2]] == [2, 4]


def test_what_goes_out_keeps_to_the_budget_and_signatures_go_out_in_short() -> None:
    properties = {"reason": {"type": "string", "description": "Why it is done, at length."}}
    schema = {"type": "object", "properties": properties, "required": ["reason"]}
    rows = [CatalogueTool(f"cancel_{at}", "Cancel. For good.", "", schema) for at in range(6)]
    shop = builder(fragments=(), tools=make_documents(rows, {}, count_words))
    model = Scripted(script=[["done"]])
    agent(model, shop, 300).invoke(ask("cancel my order"))
    built = shop.build("cancel my order", 300, form="openai")
    sent = [one for one in model.tools[0] if isinstance(one, dict)]
    assert sent == built.openai()["tools"]
    assert built.signatures
    assert sent[-1]["function"]["description"] == "Cancel."
    assert "at length" not in json.dumps(sent[-1])
    compact = json.dumps(sent, separators=(",", ":"))
    assert count_words(model.systems[0].text) + count_words(compact) <= 300


def test_arguments_that_the_catalogue_does_not_know_are_the_agents_own() -> None:
    @tool
    def cancel_order(order: str) -> str:
        """Cancel it."""
        return order

    bare = make_documents([CatalogueTool("cancel_order", "Cancel.")], {}, count_words)
    shop = builder(fragments=(), tools=bare)
    model = Scripted(script=[["done"]])
    create_agent(model, [cancel_order], middleware=[PromptMiddleware(shop, 400)]).invoke(
        ask("cancel my order")
    )
    assert list(model.tools[0][0]["function"]["parameters"]["properties"]) == ["order"]


def test_a_conversations_next_prompt_begins_like_the_one_before() -> None:
    shop = builder(settings=PromptSettings(discovery="off", tools=2, signatures=2))
    model = Scripted(script=[["done"], ["done"], ["done"]])
    talking = agent(model, shop, 400, checkpointer=InMemorySaver())
    first, second = "return my order for a refund", "book a flight, cancel my order"
    for text, thread in ((first, "one"), (second, "one"), (second, "other")):
        talking.invoke(ask(text), {"configurable": {"thread_id": thread}})
    before = shop.build(first, 400, form="openai")
    kept = shop.build(second, 400, form="openai", previous=before)
    anew = shop.build(second, 400, form="openai")
    assert kept.exposed != anew.exposed  # the order differs, or nothing is shown here
    wanted = [[tool.name for tool in one.exposed] for one in (before, kept, anew)]
    assert [model.names(at)[1:] for at in range(3)] == wanted
    assert [one.text for one in model.systems] == [before.system, kept.system, anew.system]


def test_what_the_model_calls_is_feedback_and_calls_of_hidden_tools_are_misses() -> None:
    records: list[Mapping[str, Any]] = []
    shop = builder(settings=NARROW, sink=records.append)
    model = Scripted(script=[["", "cancel_order"], ["", "book_flight"], ["done"]])
    agent(model, shop).invoke(ask("cancel my order"))
    misses = [one for one in records if one["event"] == "miss"]
    assert [(one["wanted"], one["known"]) for one in misses] == [("air/book_flight", True)]
    assert misses[0]["tools"] == ["shop/cancel_order"]
    # exposed at both calls, used at the first; the belief of no feedback counts for 8 exposures
    assert shop.gains.factor("shop/cancel_order") == pytest.approx((1 + 4) / (2 + 8) / 0.5)
    assert shop.gains.learned == 2


@pytest.mark.parametrize("discovery", ["off", "widen"])
def test_a_model_that_still_lacks_a_tool_is_a_miss_in_its_own_words(discovery: str) -> None:
    records: list[Mapping[str, Any]] = []
    settings = PromptSettings(tau=0.0, tools=1, signatures=0, discovery=discovery)
    shop = builder(settings=settings, sink=records.append)
    model = Scripted(script=[[f"{DISCOVERY}: a taxi"], [f"{DISCOVERY}: a taxi"]])
    agent(model, shop).invoke(ask("cancel my order"))
    misses = [one for one in records if one["event"] == "miss"]
    assert [(one["wanted"], one["known"]) for one in misses] == [("a taxi", False)]
    assert misses[0]["discovered"] == (discovery == "widen")
    assert shop.gains.learned == 0


def test_a_request_without_words_is_no_error() -> None:
    model = Scripted(script=[["done"]])
    agent(model, builder(settings=NARROW)).invoke(ask("  "))
    assert len(model.systems) == 1
