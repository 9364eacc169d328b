"""The forms of a prompt: one text, or a system text and tools of a chat API."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from ctrag.agents.catalogue.formats import (
    anthropic_tool,
    compact_json,
    json_schema,
    openai_chat_tool,
)
from ctrag.agents.prompt.signatures import bare_parameters, first_sentence
from ctrag.agents.prompt.tool_documents import ToolDocument
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens

Form = Literal["text", "openai", "anthropic"]
"""text: all as plain text; openai, anthropic: system text and tools as those APIs take them."""


def check_form(form: str) -> None:
    """Raise ValueError for a form that is not known."""
    if form not in get_args(Form):
        raise InputError(f"form: must be {', '.join(get_args(Form))}, not {form!r}")


def chat_tools(
    form: Form, tools: Sequence[ToolDocument], signatures: Sequence[ToolDocument]
) -> list[dict[str, Any]]:
    """`tools` of a chat API's request, whole or as signatures."""
    spelled = anthropic_tool if form == "anthropic" else openai_chat_tool
    return [spelled(*one) for one in _functions(tools, signatures)]


def tools_text(
    form: Form, tools: Sequence[ToolDocument], signatures: Sequence[ToolDocument]
) -> str:
    """The tools of a chat form as compact JSON, as they are counted."""
    return compact_json(chat_tools(form, tools, signatures))


def document_tokens(form: Form, tool: ToolDocument, count: CountTokens) -> int:
    """Tokens of a tool's whole document."""
    return count(tool.line if form == "text" else tools_text(form, [tool], ())) + 1


def signature_tokens(form: Form, tool: ToolDocument, count: CountTokens) -> int:
    """Tokens of a tool's signature."""
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
    return [(name, text, json_schema(schema)) for name, text, schema in [*whole, *short]]
