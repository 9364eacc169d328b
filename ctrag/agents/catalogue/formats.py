"""Tools in the formats of OpenAI, Anthropic and MCP, and results of a client-side tool search.

Both model APIs support client-side search: the model calls a search tool, the caller answers with
what it found, and only then do the definitions enter the context.

OpenAI (Responses): list `openai_search_tool()`; answer a `tool_search_call` item with
`openai_search_output(call_id, tools)`.
Anthropic (Messages): list `anthropic_search_tool()` and, deferred, every tool that may be found
(`anthropic_tools(tools, deferred=True)`); answer its `tool_use` with
`anthropic_search_result(tool_use_id, tools)`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctrag.agents.catalogue.names import NAME_LIMIT as NAME_LIMIT
from ctrag.agents.catalogue.names import readable_name as readable_name
from ctrag.agents.catalogue.names import wire_name as wire_name
from ctrag.agents.catalogue.schemas import original_arguments, wire_schema
from ctrag.agents.catalogue.shown import ShownLimits, cut_text, shown_schema
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.errors import InputError

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


def wire_names(tools: Iterable[CatalogueTool]) -> dict[str, CatalogueTool]:
    """Tools by their names for an API, see `wire_name`; the first of equal ids is kept."""
    named: dict[str, CatalogueTool] = {}
    for tool in tools:
        named.setdefault(wire_name(tool.id), tool)
    return named


def schema_line(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """A function schema as compact JSON."""
    return compact_json({"name": name, "description": description, "parameters": parameters})


def compact_json(value: Any) -> str:
    """JSON without spaces or escapes: the form in which the tokens of tools are counted."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def openai_chat_tool(name: str, description: str, parameters: Any) -> dict[str, Any]:
    """An entry of `tools` for OpenAI's Chat Completions."""
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def openai_tool(name: str, description: str, parameters: Any) -> dict[str, Any]:
    """An entry of `tools` for OpenAI's Responses."""
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": parameters,
        "strict": False,
    }


def anthropic_tool(name: str, description: str, parameters: Any) -> dict[str, Any]:
    """An entry of `tools` for Anthropic's Messages."""
    return {"name": name, "description": description, "input_schema": parameters}


def mcp_tool(name: str, tool: CatalogueTool, limits: ShownLimits | None = None) -> dict[str, Any]:
    """An entry of an MCP server's tool list, whole without limits."""
    if limits is None:
        description, schema = tool.description, object_schema(tool)
    else:
        description = cut_text(tool.description, limits.description)
        schema, _ = shown_schema(tool.parameters, limits)
    return {"name": name, "description": description, "inputSchema": schema, **tool.mcp}


def openai_chat_tools(tools: Iterable[CatalogueTool]) -> list[dict[str, Any]]:
    """`tools` of OpenAI's Chat Completions."""
    return [openai_chat_tool(*one) for one in _functions(tools)]


def openai_tools(tools: Iterable[CatalogueTool], *, deferred: bool = False) -> list[dict[str, Any]]:
    """`tools` of OpenAI's Responses; deferred ones become visible once a search loads them."""
    return [openai_tool(*one) | _loading(deferred) for one in _functions(tools)]


def anthropic_tools(
    tools: Iterable[CatalogueTool], *, deferred: bool = False
) -> list[dict[str, Any]]:
    """`tools` of Anthropic's Messages; deferred ones become visible once a search names them.

    The API rejects a request whose tools are all deferred: list the search tool too.
    """
    return [anthropic_tool(*one) | _loading(deferred) for one in _functions(tools)]


def _functions(tools: Iterable[CatalogueTool]) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, description and JSON Schema of each tool."""
    named = wire_names(tools).items()
    return [(name, tool.description, object_schema(tool)) for name, tool in named]


def _loading(deferred: bool) -> dict[str, Any]:
    return {"defer_loading": True} if deferred else {}


def openai_search_tool(description: str = SEARCH_DESCRIPTION) -> dict[str, Any]:
    """The tool search of OpenAI's Responses, answered by the caller."""
    return {
        "type": "tool_search",
        "execution": "client",
        "description": description,
        "parameters": SEARCH_PARAMETERS,
    }


def openai_search_output(
    call_id: str,
    tools: Sequence[CatalogueTool],
    catalogue: Iterable[CatalogueTool] | None = None,
) -> dict[str, Any]:
    """The input item that answers a `tool_search_call`: it loads the tools.

    Args:
        call_id: Of the model's search.
        tools: What was found.
        catalogue: All tools that may be found; names are the same with and without it.

    Raises:
        ValueError: A tool is not in the catalogue.
    """
    _check_listed(tools, catalogue)
    return {
        "type": "tool_search_output",
        "call_id": call_id,
        "execution": "client",
        "status": "completed",
        "tools": openai_tools(tools, deferred=True),
    }


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
        tools: What was found; each must be listed, deferred, in the request's `tools`.
        catalogue: All tools as listed there, to check against.

    Raises:
        ValueError: A tool is not among those listed.
    """
    _check_listed(tools, catalogue)
    content: list[dict[str, Any]] = [
        {"type": "tool_reference", "tool_name": name} for name in wire_names(tools)
    ]
    return {
        "type": "tool_result",
        "tool_use_id": tool_use_id,
        "content": content or [{"type": "text", "text": "No tool fits; search in other words."}],
    }


def _check_listed(
    tools: Sequence[CatalogueTool], catalogue: Iterable[CatalogueTool] | None
) -> None:
    if catalogue is None:
        return
    listed = {tool.id for tool in catalogue}
    if missing := [tool.id for tool in tools if tool.id not in listed]:
        raise InputError(f"tools: {missing[0]!r} is not in the catalogue, so it was not listed")


def object_schema(tool: CatalogueTool) -> dict[str, Any]:
    """The tool's parameters as every API takes them, see `wire_schema`.

    A model's arguments by it go to the tool through `tool_arguments`.
    """
    return wire_schema(tool.parameters)


def tool_arguments(tool: CatalogueTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A model's arguments under the names that the tool's owner knows."""
    return original_arguments(tool.parameters, arguments)


def json_schema(parameters: Any) -> Any:
    """Parameters with the type names of JSON Schema and an object as the root."""
    names = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}

    def mended(value: Any) -> Any:
        if isinstance(value, list):
            return [mended(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {
            key: names.get(one, one) if key == "type" and isinstance(one, str) else mended(one)
            for key, one in value.items()
        }

    found = mended(parameters) or {}
    return {"type": "object", "properties": {}, **found}
