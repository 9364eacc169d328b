"""Tools in the shapes of the model APIs."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ctrag.agents.catalogue.formats import (
    NAME_LIMIT,
    anthropic_search_result,
    anthropic_search_tool,
    anthropic_tools,
    openai_chat_tools,
    openai_search_output,
    openai_search_tool,
    openai_tools,
    wire_name,
    wire_names,
)
from ctrag.agents.catalogue.tool import CatalogueTool

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
SEND = CatalogueTool("send", "Send a mail", "mail", SCHEMA)
PLAIN = CatalogueTool("now", "Tell the time")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(min_size=1, max_size=200))
def test_every_id_becomes_a_name_that_the_apis_take(tool_id: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", wire_name(tool_id))


def test_names_that_would_clash_are_told_apart() -> None:
    tools = [
        CatalogueTool("b", "", "a_"),
        CatalogueTool("_b", "", "a"),
        CatalogueTool("x" * 80, "", "a"),
        CatalogueTool("x" * 90, "", "a"),
    ]
    named = wire_names(tools)
    assert list(named.values()) == tools
    assert max(map(len, named)) <= NAME_LIMIT


def test_openai_chat_tools_are_functions_with_object_schemas() -> None:
    [send, now] = openai_chat_tools([SEND, PLAIN])
    assert send == {
        "type": "function",
        "function": {"name": "mail__send", "description": "Send a mail", "parameters": SCHEMA},
    }
    assert now["function"]["parameters"] == {"type": "object", "properties": {}}


def unknown(name: str, value: Any) -> set[str]:
    """What the library's own type does not know of a value that fits it otherwise."""
    import openai.types.responses as responses

    TypeAdapter(getattr(responses, name)).validate_python(value, strict=True)
    return set(value) - set(getattr(responses, name).__annotations__)


def test_openais_own_types_take_the_tools_and_the_search() -> None:
    for tool in [*openai_tools([SEND, PLAIN]), *openai_tools([SEND], deferred=True)]:
        assert unknown("FunctionToolParam", tool) == set()
    assert unknown("ToolSearchToolParam", openai_search_tool()) == set()


def test_openais_own_type_takes_the_answer_of_a_search() -> None:
    answer = openai_search_output("call_1", [SEND])
    assert unknown("ResponseToolSearchOutputItemParamParam", answer) == set()
    assert answer["execution"] == "client"
    assert answer["tools"][0]["defer_loading"] is True


def test_anthropic_tools_are_deferred_and_the_search_is_not() -> None:
    [send] = anthropic_tools([SEND], deferred=True)
    assert send == {
        "name": "mail__send",
        "description": "Send a mail",
        "input_schema": SCHEMA,
        "defer_loading": True,
    }
    assert "defer_loading" not in anthropic_search_tool()
    assert "defer_loading" not in anthropic_tools([SEND])[0]


def test_an_anthropic_search_is_answered_with_references_to_listed_tools() -> None:
    clash = CatalogueTool("_send", "Post a letter", "mail")
    listed = {one["name"] for one in anthropic_tools([SEND, clash], deferred=True)}
    answer = anthropic_search_result("toolu_1", [clash], [SEND, clash])
    assert answer["type"] == "tool_result"
    assert answer["tool_use_id"] == "toolu_1"
    [reference] = answer["content"]
    assert reference["type"] == "tool_reference"
    assert reference["tool_name"] in listed


def test_an_anthropic_search_without_results_says_so() -> None:
    [block] = anthropic_search_result("toolu_1", [])["content"]
    assert block["type"] == "text"


def test_a_found_tool_that_was_never_listed_is_a_mistake_that_is_named() -> None:
    with pytest.raises(ValueError, match="tools: 'mail/send' is not in the catalogue"):
        anthropic_search_result("toolu_1", [SEND], [PLAIN])
