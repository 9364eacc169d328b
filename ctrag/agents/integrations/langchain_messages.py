"""What a conversation's LangChain messages say, and answers made of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from ctrag.agents.catalogue.formats import SEARCH_NAME
from ctrag.agents.session.outcomes import Finished

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}
"""Types of LangChain messages whose roles have another name."""
Answer = ToolMessage | Command[Any]


def found_before(messages: Sequence[Any]) -> Iterator[list[str]]:
    """What the searches of a conversation found, oldest first."""
    for message in messages:
        if isinstance(message, ToolMessage) and message.name == SEARCH_NAME and message.artifact:
            yield list(message.artifact)


def called_for_request(messages: Sequence[Any]) -> list[str]:
    """Names of the tools called since the user's last message, oldest first."""
    called: list[str] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            called = []
        elif isinstance(message, ToolMessage) and message.name and message.status != "error":
            called.append(message.name)
    return called


def first_request(messages: Sequence[Any]) -> str:
    """Text of the user's first message; empty if it has none."""
    first = next((one for one in messages if isinstance(one, HumanMessage)), None)
    return "" if first is None else first.text.strip()


def plain_message(message: BaseMessage, row: int) -> dict[str, Any]:
    """A message in the form of `ctrag.agents.session.history`, with its row."""
    blocks = message.content
    if not isinstance(blocks, str):
        blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    role = _ROLES.get(message.type, message.type)
    plain: dict[str, Any] = {"role": role, "content": blocks, "row": row}
    if isinstance(message, AIMessage) and message.tool_calls:
        plain["tool_calls"] = message.tool_calls
    if isinstance(message, ToolMessage):
        plain["tool_call_id"] = message.tool_call_id
    return plain


def is_failure(result: Answer) -> bool:
    """Whether a tool's answer says that its call failed."""
    return isinstance(result, ToolMessage) and result.status == "error"


def answer_message(call: Mapping[str, Any], text: str, **more: Any) -> ToolMessage:
    """An answer to a call."""
    return ToolMessage(text, tool_call_id=call["id"], name=call["name"], **more)


def noted(result: Answer, finished: Finished) -> Answer:
    """The result with the guard's guidance appended."""
    if finished.note is None or not isinstance(result, ToolMessage):
        return result
    more = {**result.additional_kwargs, "loop_detected": finished.loop_detected}
    noted = with_text(result, finished.note)
    return noted.model_copy(update={"additional_kwargs": more})


def with_text(result: ToolMessage, added: str) -> ToolMessage:
    """The result with a line more."""
    text = result.content if isinstance(result.content, str) else json.dumps(result.content)
    return result.model_copy(update={"content": f"{text}\n{added}"})
