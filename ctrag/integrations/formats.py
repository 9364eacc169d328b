"""Tools as the model APIs take them, and the answers of a tool search of one's own.

Both APIs let the caller search: the model calls a search tool, the caller answers with what it
found, and only then are the definitions in the context.

OpenAI (Responses): list `openai_search_tool()`; answer a `tool_search_call` item with
`openai_search_output(call_id, tools)`.
Anthropic (Messages): list `anthropic_search_tool()` and, deferred, every tool that may be found
(`anthropic_tools(tools, deferred=True)`); answer its `tool_use` with
`anthropic_search_result(tool_use_id, tools)`.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ctrag.tools.catalogue import CatalogueTool

NAME_LIMIT = 64
"""Characters of a function's name, the strictest of both APIs."""

SEARCH_NAME = "search_tools"
SEARCH_DESCRIPTION = (
    "Search for tools by what they should do, in plain words; one need at a time. Search again "
    "when no tool at hand does what is needed."
)
SEARCH_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What the tool should do."},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def wire_name(tool_id: str) -> str:
    """An id as a name that both APIs and MCP clients accept: `mail/send` is `mail__send`."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", tool_id.replace("/", "__"))
    return name if len(name) <= NAME_LIMIT else _with_hash(name, tool_id)


def wire_names(tools: Iterable[CatalogueTool]) -> dict[str, CatalogueTool]:
    """Tools by their names for an API; where two would share one, later ones get a hash."""
    named: dict[str, CatalogueTool] = {}
    for tool in tools:
        name = wire_name(tool.id)
        named[name if name not in named else _with_hash(name, tool.id)] = tool
    return named


def _with_hash(name: str, tool_id: str) -> str:
    digest = hashlib.sha256(tool_id.encode()).hexdigest()[:8]
    return f"{name[: NAME_LIMIT - 9]}_{digest}"


def openai_chat_tools(tools: Iterable[CatalogueTool]) -> list[dict[str, Any]]:
    """`tools` of OpenAI's Chat Completions."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": tool.description,
                "parameters": object_schema(tool),
            },
        }
        for name, tool in wire_names(tools).items()
    ]


def openai_tools(tools: Iterable[CatalogueTool], *, deferred: bool = False) -> list[dict[str, Any]]:
    """`tools` of OpenAI's Responses; deferred ones are seen once a search has loaded them."""
    return [
        {
            "type": "function",
            "name": name,
            "description": tool.description,
            "parameters": object_schema(tool),
            "strict": False,
            **({"defer_loading": True} if deferred else {}),
        }
        for name, tool in wire_names(tools).items()
    ]


def openai_search_tool(description: str = SEARCH_DESCRIPTION) -> dict[str, Any]:
    """The tool search of OpenAI's Responses, answered by the caller."""
    return {
        "type": "tool_search",
        "execution": "client",
        "description": description,
        "parameters": SEARCH_PARAMETERS,
    }


def openai_search_output(call_id: str, tools: Sequence[CatalogueTool]) -> dict[str, Any]:
    """The input item that answers a `tool_search_call`: it loads the tools."""
    return {
        "type": "tool_search_output",
        "call_id": call_id,
        "execution": "client",
        "status": "completed",
        "tools": openai_tools(tools, deferred=True),
    }


def anthropic_tools(
    tools: Iterable[CatalogueTool], *, deferred: bool = False
) -> list[dict[str, Any]]:
    """`tools` of Anthropic's Messages; deferred ones are seen once a search has named them.

    The API refuses a request whose tools are all deferred: list the search tool too.
    """
    return [
        {
            "name": name,
            "description": tool.description,
            "input_schema": object_schema(tool),
            **({"defer_loading": True} if deferred else {}),
        }
        for name, tool in wire_names(tools).items()
    ]


def anthropic_search_tool(description: str = SEARCH_DESCRIPTION) -> dict[str, Any]:
    """A tool search for Anthropic's Messages, answered by the caller; never deferred."""
    return {
        "name": SEARCH_NAME,
        "description": description,
        "input_schema": SEARCH_PARAMETERS,
    }


def anthropic_search_result(
    tool_use_id: str,
    tools: Sequence[CatalogueTool],
    catalogue: Iterable[CatalogueTool] | None = None,
) -> dict[str, Any]:
    """The block that answers the search: references, which the API expands.

    Args:
        tool_use_id: Of the model's search.
        tools: What was found; each stands, deferred, in the request's `tools`.
        catalogue: The tools as they were listed there, where names had to be told apart.

    Raises:
        ValueError: A tool is not among those listed.
    """
    listed = {tool.id: name for name, tool in wire_names(catalogue or tools).items()}
    if missing := [tool.id for tool in tools if tool.id not in listed]:
        raise ValueError(f"tools: {missing[0]!r} is not in the catalogue, so it was not listed")
    content: list[dict[str, Any]] = [
        {"type": "tool_reference", "tool_name": listed[tool.id]} for tool in tools
    ]
    return {
        "type": "tool_result",
        "tool_use_id": tool_use_id,
        "content": content or [{"type": "text", "text": "No tool fits; search in other words."}],
    }


def object_schema(tool: CatalogueTool) -> dict[str, Any]:
    """The tool's parameters as a schema whose root is an object, as every API wants it."""
    properties = tool.parameters.get("properties")
    return {
        **tool.parameters,
        "type": "object",
        "properties": properties if isinstance(properties, dict) else {},
    }
