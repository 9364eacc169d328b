"""Lists of tools in the forms that servers and model APIs have."""

from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from mcp.types import ListToolsResult

from ctrag.agents.server.listing import mended_list

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
PRINT = {"name": "print", "description": "Print a text", "inputSchema": SCHEMA}


def listed(**page: Any) -> ListToolsResult:
    """A page of a list, mended; a client takes it."""
    mended_list(page)
    return ListToolsResult.model_validate(page, by_name=False)


@pytest.mark.parametrize(
    "tools",
    [
        [PRINT],
        {"print": {"description": "Print a text", "inputSchema": SCHEMA}},
        [{"name": "print", "description": "Print a text", "input_schema": SCHEMA}],
        [{"name": "print", "description": "Print a text", "parameters": SCHEMA}],
        [{"type": "function", "function": {**PRINT, "parameters": SCHEMA}}],
        [{**PRINT, "description": ["Print", "a text"]}],
        [{**PRINT, "description": {"fr": "Imprimer", "en": "Print a text"}}],
    ],
)
def test_a_tool_is_the_same_in_every_form(tools: Any) -> None:
    [tool] = listed(tools=tools).tools
    assert (tool.name, tool.input_schema) == ("print", SCHEMA)
    assert " ".join((tool.description or "").split()) == "Print a text"


def test_a_list_without_its_name_is_one_and_none_is_empty() -> None:
    assert [one.name for one in listed(content=[PRINT]).tools] == ["print"]
    assert listed(tools=None).tools == listed().tools == []


@pytest.mark.parametrize(("said", "meant"), [(None, None), (2, "2"), ("", ""), ({"page": 2}, None)])
def test_a_cursor_is_a_text_or_there_is_none(said: Any, meant: str | None) -> None:
    assert listed(tools=[], nextCursor=said).next_cursor == meant
