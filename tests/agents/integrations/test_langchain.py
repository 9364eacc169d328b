"""The middleware in real LangChain agents, with a model that follows a script."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("langchain", reason="needs the extra langchain")

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from ctrag.agents.catalogue.access import AccessRules, Grant
from ctrag.agents.catalogue.sources import tools_from_langchain
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.integrations.langchain import NEXT, ToolSearchMiddleware
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.results import ToolSearch
from ctrag.agents.search.surfacing import DOUBT, packaged_surfacing
from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.events import Event

TOPICS = "weather mail print calendar".split()


class Topics:
    """One dimension a topic word."""

    name = "topics"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        counts = [[*(word in text.lower() for word in TOPICS), 0.01] for text in texts]
        rows = np.array(counts, np.float32).reshape(-1, len(TOPICS) + 1)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Scripted(BaseChatModel):
    """Says what the script says, and keeps which tools and messages it was given each time."""

    script: list[Any]
    shown: list[list[str]] = Field(default_factory=list)
    read: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **more: Any) -> Any:
        self.shown.append([one.name for one in tools])
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **more: Any,
    ) -> ChatResult:
        self.read.append(messages)
        step = self.script.pop(0)
        calls = [
            {"name": name, "args": args, "id": f"{len(self.script)}-{place}"}
            for place, (name, args) in enumerate(step if isinstance(step, list) else [])
        ]
        message = AIMessage(step if isinstance(step, str) else "", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"rain in {city}"


@tool
def send_mail(to: str) -> str:
    """Send a mail to somebody."""
    return f"sent to {to}"


@tool
def print_page(text: str) -> str:
    """Print a page."""
    return f"printed {text}"


print_page.metadata = {"readOnlyHint": False}


@tool
def finish() -> str:
    """End the conversation."""
    return "bye"


TOOLS: list[BaseTool] = [get_weather, send_mail, print_page]
Make = Callable[..., ToolSearchMiddleware]


@pytest.fixture
def middleware() -> Make:
    def make(access: AccessRules | None = None, **more: Any) -> ToolSearchMiddleware:
        index = ToolIndex(tools_from_langchain(TOOLS), Topics(), access)
        return ToolSearchMiddleware(TOOLS, index, k=1, **more)

    return make


def run(
    model: Scripted, made: ToolSearchMiddleware, text: str = "go", **more: Any
) -> list[BaseMessage]:
    agent = create_agent(model, middleware=[made], **more)
    return list(agent.invoke({"messages": [("user", text)]})["messages"])


def test_the_model_sees_the_search_and_then_what_it_found(middleware: Make) -> None:
    model = Scripted(
        script=[
            [("search_tools", {"query": "get_weather"})],
            [("get_weather", {"city": "Oslo"})],
            "It rains.",
        ]
    )
    messages = run(model, middleware())
    assert model.shown == [
        ["search_tools"],
        ["search_tools", "get_weather"],
        ["search_tools", "get_weather"],
    ]
    assert [one.content for one in messages if isinstance(one, ToolMessage)] == [
        "You can call these tools now:\nget_weather: Tell the weather of a city.",
        "rain in Oslo",
    ]


@pytest.mark.anyio
async def test_it_is_the_same_when_the_agent_is_awaited(middleware: Make) -> None:
    model = Scripted(
        script=[
            [("search_tools", {"query": "get_weather"})],
            [("get_weather", {"city": "Oslo"}), ("send_mail", {"to": "Ada"})],
            "It rains.",
        ]
    )
    agent = create_agent(model, middleware=[middleware()])
    answer = await agent.ainvoke({"messages": [("user", "go")]})
    results = [one for one in answer["messages"] if isinstance(one, ToolMessage)]
    assert results[1].content == "rain in Oslo"
    assert results[2].status == "error"
    assert model.shown[1] == ["search_tools", "get_weather"]


@pytest.mark.parametrize("name", ["get_weather", "functions.get_weather", "mcp__w__get_weather"])
@pytest.mark.parametrize("sent", [{"city": "Oslo"}, {"arguments": '{"city": "Oslo"}'}])
def test_searches_and_calls_are_understood_as_models_send_them(
    middleware: Make, name: str, sent: dict[str, Any]
) -> None:
    script = [[("search_tools", {"q": "get_weather", "limit": "50"})], [(name, sent)], "done"]
    results = [
        one for one in run(Scripted(script=script), middleware()) if isinstance(one, ToolMessage)
    ]
    assert results[1].content == "rain in Oslo"
    assert "20 was used in place of 50" in results[0].content


def test_a_tool_that_was_not_found_is_refused_and_does_not_run(middleware: Make) -> None:
    model = Scripted(script=[[("send_mail", {"to": "Ada"})], "sorry"])
    [refused] = [one for one in run(model, middleware()) if isinstance(one, ToolMessage)]
    assert refused.status == "error"
    assert "search_tools" in refused.content
    assert "sent" not in refused.content


def test_searches_at_once_keep_both_results(middleware: Make) -> None:
    searches = [("search_tools", {"query": one}) for one in ("send_mail", "print_page")]
    model = Scripted(script=[searches, "done"])
    run(model, middleware())
    assert set(model.shown[1]) == {"search_tools", "send_mail", "print_page"}


def test_other_tools_of_the_agent_and_those_always_at_hand_stay(middleware: Make) -> None:
    model = Scripted(script=[[("finish", {}), ("print_page", {"text": "a"})], "done"])
    messages = run(model, middleware(always=["print_page"]), tools=[finish])
    assert set(model.shown[0]) == {"search_tools", "finish", "print_page"}
    results = [one.content for one in messages if isinstance(one, ToolMessage)]
    assert results == ["bye", "printed a"]


def test_a_loop_ends_with_guidance_and_without_the_tool(middleware: Make) -> None:
    again = [("print_page", {"text": "a"})]
    model = Scripted(script=[[("search_tools", {"query": "print_page"})], *[again] * 8, "done"])
    messages = run(model, middleware())
    results = [one for one in messages if isinstance(one, ToolMessage)][1:]
    looped = [one for one in results if one.additional_kwargs.get("loop_detected")]
    assert len(looped) == 1
    assert looped[0].content.startswith("printed a\n")
    assert [one.status for one in results[results.index(looped[0]) + 1 :]] == ["error"] * (
        len(results) - results.index(looped[0]) - 1
    )
    assert model.shown[-1] == ["search_tools"]


def test_capacity_bounds_what_the_model_is_shown(middleware: Make) -> None:
    queries = ["get_weather", "send_mail", "print_page"]
    model = Scripted(script=[*([("search_tools", {"query": one})] for one in queries), "done"])
    run(model, middleware(binding=BindingSettings(capacity=2)))
    assert model.shown[-1] == ["search_tools", "send_mail", "print_page"]


def test_a_conversation_goes_on_from_its_checkpoint_in_another_process(middleware: Make) -> None:
    saver = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}
    first = Scripted(script=[[("search_tools", {"query": "print_page"})], "found"])
    agent = create_agent(first, middleware=[middleware()], checkpointer=saver)
    agent.invoke({"messages": [("user", "go")]}, config)
    later = Scripted(script=[[("print_page", {"text": "b"})], "done"])
    agent = create_agent(later, middleware=[middleware()], checkpointer=saver)
    messages = agent.invoke({"messages": [("user", "and now?")]}, config)["messages"]
    assert later.shown[0] == ["search_tools", "print_page"]
    assert messages[-2].content == "printed b"


def test_a_searchs_event_has_its_steps_and_what_was_rejected(middleware: Make) -> None:
    events: list[Event] = []
    made = middleware(record=events.append)
    run(Scripted(script=[[("search_tools", {"query": "calendar"})], "nothing"]), made)
    [searched] = [one for one in events if one.event == "ctrag.search"]
    steps = made.index.find("calendar", 1)
    assert not steps.fits
    assert searched.attributes["ctrag.search.floor"] == steps.trace["floor"]
    rejected = searched.attributes["ctrag.search.rejected"]
    assert [one["id"] for one in rejected] == [hit.tool.id for hit in steps.hits]


def test_what_helped_a_user_is_learned_and_there_when_the_next_conversation_begins(
    middleware: Make,
) -> None:
    made = middleware(user="ada")
    script = [[("search_tools", {"query": "print_page"})], [("print_page", {"text": "a"})], "done"]
    run(Scripted(script=script), made)
    counts = {"found": 1, "used": 1, "succeeded": 1, "failed": 0}
    assert json.loads(made.index.affinity.to_json()) == {"ada": {"print_page": counts}}
    later = Scripted(script=["done"])
    run(later, made)
    assert later.shown == [["search_tools", "print_page"]]


@tool
def fail_mail() -> str:
    """Send a mail to nobody."""
    raise ValueError("no such address")


def test_a_tool_that_raises_is_learned_as_a_failure() -> None:
    made = ToolSearchMiddleware([fail_mail], ToolIndex(tools_from_langchain([fail_mail]), Topics()))
    script = [[("search_tools", {"query": "fail_mail"})], [("fail_mail", {})], "sorry"]
    with pytest.raises(ValueError, match="no such address"):
        run(Scripted(script=script), made)
    [counts] = json.loads(made.index.affinity.to_json())[""].values()
    assert counts == {"found": 1, "used": 1, "succeeded": 0, "failed": 1}


class Asked:
    """A next-tool model that knows nothing and keeps what it was asked."""

    def __init__(self) -> None:
        self.histories: list[list[str]] = []

    def rank(self, text: str, history: Sequence[str]) -> list[tuple[str, float]]:
        self.histories.append(list(history))
        return []


def test_the_next_tool_model_is_asked_with_what_was_called_for_the_request(
    middleware: Make,
) -> None:
    made = middleware()
    made.index.next_tool = asked = Asked()
    weather = [("get_weather", {"city": "Oslo"})]
    saver = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}
    model = Scripted(
        script=[
            [("search_tools", {"query": "get_weather"})],
            weather,
            weather,
            [("send_mail", {"to": "refused"})],
            [("search_tools", {"query": "send_mail"})],
            "done",
            [("search_tools", {"query": "print_page"})],
            "done",
        ]
    )
    agent = create_agent(model, middleware=[made], checkpointer=saver)
    for text in ("mail the weather", "and print"):
        agent.invoke({"messages": [("user", text)]}, config)
    assert asked.histories == [[], ["get_weather", "get_weather"], []]


def test_a_doubtful_search_gives_its_best_with_a_note_and_a_hopeless_one_names_the_closest(
    middleware: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = middleware()
    found = made.index.find
    for certainty, shown in ((packaged_surfacing().doubt / 2, ["print_page"]), (0.0, [])):

        def uncertain(*given: Any, certainty: float = certainty, **more: Any) -> ToolSearch:
            return replace(found(*given, **more), certainty=certainty)

        monkeypatch.setattr(made.index, "find", uncertain)
        model = Scripted(script=[[("search_tools", {"query": "a page on paper, please"})], "done"])
        [result] = [one for one in run(model, made) if isinstance(one, ToolMessage)]
        assert model.shown[1] == ["search_tools", *shown]
        assert result.artifact == shown
        assert (DOUBT in result.content) is bool(shown)
        closest = "No tool surely fits; search for one by its name to use it: print_page"
        assert result.content.startswith(closest) is not bool(shown)


class Next:
    """A next-tool model that knows what comes next, in whatever catalogue."""

    def rank(self, text: str, history: Sequence[str]) -> list[tuple[str, float]]:
        return [("book_train", 0.9), ("send_mail", 0.6), ("print_page", 0.01)]


@pytest.mark.parametrize("following", [0, 1, 3])
def test_a_calls_result_names_what_usually_comes_next_and_it_can_be_called_at_once(
    following: int,
) -> None:
    train = CatalogueTool("book_train", "Book a seat on a train")  # nothing behind it here
    index = ToolIndex([*tools_from_langchain(TOOLS), train], Topics())
    index.next_tool = Next()
    made = ToolSearchMiddleware(TOOLS, index, k=1, following=following)
    script = [
        [("search_tools", {"query": "get_weather"})],
        [("get_weather", {"city": "Oslo"})],
        [("send_mail", {"to": "Ada"})],
        "done",
    ]
    model = Scripted(script=script)
    results = [one for one in run(model, made) if isinstance(one, ToolMessage)][1:]
    named = results[0].content.endswith(f"{NEXT}\nsend_mail: Send a mail to somebody.")
    assert named is bool(following)
    assert results[1].status == ("success" if following else "error")
    assert ("send_mail" in model.shown[2]) is bool(following)


def test_a_call_that_fails_names_nothing_next() -> None:
    index = ToolIndex(tools_from_langchain(TOOLS), Topics())
    index.next_tool = Next()
    made = ToolSearchMiddleware(TOOLS, index, k=1, following=3)
    script = [[("search_tools", {"query": "get_weather"})], [("get_weather", {})], "done"]
    results = [one for one in run(Scripted(script=script), made) if isinstance(one, ToolMessage)]
    assert results[1].status == "error"
    assert NEXT not in results[1].content


def test_a_first_message_can_bring_tools_of_its_category_and_a_greeting_none(
    middleware: Make,
) -> None:
    for text, tools in (("send a mail", ["send_mail"]), ("hello", [])):
        model = Scripted(script=["done"])
        run(model, middleware(preload=1), text)
        assert model.shown == [["search_tools", *tools]]


def test_within_a_window_the_model_reads_the_newest_and_the_conversation_stays_whole(
    middleware: Make,
) -> None:
    long = "page " * 400  # 500 tokens by characters
    script = [
        [("search_tools", {"query": "print_page"})],
        *([("print_page", {"text": f"{n} {long}"})] for n in range(4)),
        "done",
    ]
    events: list[Event] = []
    made = middleware(window=3_000, output=100, record=events.append)
    model = Scripted(script=script)
    messages = run(model, made, system_prompt="Be short.")
    results = [one for one in messages if isinstance(one, ToolMessage)][1:]
    assert [one.content for one in results] == [f"printed {n} {long}" for n in range(4)]
    assert [one.content for one in model.read[-1]][:2] == ["Be short.", "go"]
    kept = [one for one in model.read[-1] if isinstance(one, ToolMessage)]
    assert 0 < len(kept) < 4
    assert kept[-1] == results[-1]
    estimates = [one.attributes for one in events if one.event == "ctrag.context.estimate"]
    assert len(estimates) == len(model.read)
    for one in estimates:
        spent = one["ctrag.tokens.tools"] + one["ctrag.tokens.messages"]
        assert spent + one["ctrag.tokens.output"] <= one["ctrag.tokens.window"] < 3_000


def test_conversations_do_not_see_each_others_tools(middleware: Make) -> None:
    made = middleware()
    run(Scripted(script=[[("search_tools", {"query": "print_page"})], "done"]), made)
    other = Scripted(script=["done"])
    run(other, made)
    assert other.shown == [["search_tools"]]


def test_access_rules_hold_in_search_and_call(middleware: Make) -> None:
    rules = AccessRules((Grant("user:ada", "send_mail"),))
    script = [[("search_tools", {"query": "print_page"})], [("print_page", {"text": "a"})], "no"]
    model = Scripted(script=script)
    messages = run(model, middleware(access=rules, user="bob"))
    found, refused = [one for one in messages if isinstance(one, ToolMessage)]
    assert "print_page" not in found.content
    assert refused.status == "error"


def test_a_tool_outside_the_index_or_named_as_the_search_is_a_mistake() -> None:
    index = ToolIndex(tools_from_langchain(TOOLS[:1]), Topics())
    with pytest.raises(ValueError, match="tools: 'send_mail' is not in the index"):
        ToolSearchMiddleware(TOOLS, index)

    @tool
    def search_tools(query: str) -> str:
        """Search."""
        return query

    with pytest.raises(ValueError, match="'search_tools' is the name of the search itself"):
        ToolSearchMiddleware([search_tools], index)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
