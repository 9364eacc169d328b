"""The forms that a prompt goes out in: one text, or a system text beside tools of a chat API."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from ctrag.prompt.signatures import bare_parameters, first_sentence
from ctrag.prompt.tokens import CountTokens
from ctrag.prompt.tool_documents import ToolDocument

Form = Literal["text", "openai", "anthropic"]
"""text: all as plain text; openai, anthropic: system text and tools as those APIs take them."""


def check_form(form: str) -> None:
    """Raise ValueError for a form that is not known."""
    if form not in get_args(Form):
        raise ValueError(f"form: must be {', '.join(get_args(Form))}, not {form!r}")


def openai_tools(
    tools: Sequence[ToolDocument], signatures: Sequence[ToolDocument]
) -> list[dict[str, Any]]:
    """`tools` of a chat completion of the OpenAI API, each at the length it is shown in."""
    return [
        {
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters},
        }
        for name, description, parameters in _functions(tools, signatures)
    ]


def anthropic_tools(
    tools: Sequence[ToolDocument], signatures: Sequence[ToolDocument]
) -> list[dict[str, Any]]:
    """`tools` of a message of the Anthropic API, each at the length it is shown in."""
    return [
        {"name": name, "description": description, "input_schema": parameters}
        for name, description, parameters in _functions(tools, signatures)
    ]


def tools_text(
    form: Form, tools: Sequence[ToolDocument], signatures: Sequence[ToolDocument]
) -> str:
    """The tools of a chat form as compact JSON: what is counted of them."""
    made: Callable[..., list[dict[str, Any]]] = (
        anthropic_tools if form == "anthropic" else openai_tools
    )
    return json.dumps(made(tools, signatures), ensure_ascii=False, separators=(",", ":"))


def tool_tokens(form: Form, tool: ToolDocument, count: CountTokens) -> int:
    """What a tool with its whole document takes."""
    return count(tool.line if form == "text" else tools_text(form, [tool], ())) + 1


def signature_tokens(form: Form, tool: ToolDocument, count: CountTokens) -> int:
    """What a tool in short takes."""
    return count(tool.signature if form == "text" else tools_text(form, (), [tool])) + 1


def _functions(
    tools: Sequence[ToolDocument], signatures: Sequence[ToolDocument]
) -> list[tuple[str, str, Any]]:
    """Name, description and JSON Schema of each tool."""
    whole = [(one.name, one.description, one.tool.parameters) for one in tools]
    short = [
        (one.name, first_sentence(one.tool.description), bare_parameters(one.tool.parameters))
        for one in signatures
    ]
    return [(name, said, json_schema(schema)) for name, said, schema in [*whole, *short]]


def json_schema(parameters: Any) -> Any:
    """Parameters with the type names of JSON Schema, and an object at the top."""
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
