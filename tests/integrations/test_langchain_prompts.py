"""The middleware narrows a request and takes one discovery step when the model asks for it."""

from typing import Any

import pytest

pytest.importorskip("langchain", reason="langchain is an extra")

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage

from ctrag.integrations.langchain_prompts import PromptMiddleware
from ctrag.prompt.assembly import DISCOVERY
from ctrag.prompt.settings import PromptSettings
from tests.prompt.toys import TOOLS, builder

OWN = {"name": "own_tool", "description": "of no catalogue", "parameters": {}}


def asked(*answers: str) -> list[Any]:
    """The requests that a model gets which gives these answers in turn."""
    seen: list[Any] = []

    def handler(request: Any) -> Any:
        seen.append(request)
        return ModelResponse(result=[AIMessage(answers[len(seen) - 1])])

    shop = builder(settings=PromptSettings(tau=0.0, tools=1, signatures=0, discovery_tools=3))
    request = ModelRequest(
        model=FakeListChatModel(responses=["-"]),
        messages=[HumanMessage("cancel my order")],
        tools=[*({"name": tool.name, "description": "", "parameters": {}} for tool in TOOLS), OWN],
    )
    PromptMiddleware(shop, 400).wrap_model_call(request, handler)
    return seen


def test_the_model_sees_the_chosen_tools_and_those_the_catalogue_does_not_have() -> None:
    [request] = asked("done")
    assert [tool["name"] for tool in request.tools] == ["cancel_order", "own_tool"]
    assert request.system_message.text.startswith("Safety rules.")


def test_a_model_that_asks_for_discovery_gets_more_tools_once() -> None:
    first, second = asked(f"{DISCOVERY}: something to book", DISCOVERY)
    assert (len(first.tools), len(second.tools)) == (2, 4)
