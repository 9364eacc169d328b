"""Conversations as other tools keep them: what users asked, and the tools that were called for it.

Read are chat-completions messages, messages of content blocks, items of the Responses API,
messages of LangChain (plain, of `messages_to_dict`, or dumped), of pydantic-ai and of Gemini,
logs of one message a line, and spans of OpenTelemetry.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctrag.agents.next_tool.spans import conversations_of

Row = Mapping[str, Any]
_HOLDERS = ("messages", "input", "contents", "message_history", "conversation")
_SESSIONS = ("sessionId", "session_id", "conversation_id", "thread_id")
_USERS = frozenset({"user", "human", "HumanMessage", "HumanMessageChunk", "user-prompt"})
_OTHERS = frozenset(
    {"system", "developer", "assistant", "ai", "model", "tool", "function", "request", "response"}
    | {
        "AIMessage",
        "AIMessageChunk",
        "SystemMessage",
        "ToolMessage",
        "system-prompt",
        "tool-return",
    }
    | {"function_call", "function_call_output", "reasoning", "tool-call", "retry-prompt"}
)
_TEXTS = frozenset({"text", "input_text", "user-prompt", "None"})


@dataclass(slots=True)
class ChatTurn:
    """What a user said, and the tools that were called before they spoke again."""

    user: str
    calls: list[str] = field(default_factory=list)


def chats_of(value: object) -> list[list[Row]] | None:
    """The messages of each conversation in a value of JSON; None if it holds none."""
    if isinstance(value, Mapping | list):
        told = conversations_of(value if isinstance(value, list) else [value])
        if told:
            return told
    if isinstance(value, Mapping):
        held = next((value[one] for one in _HOLDERS if isinstance(value.get(one), list)), None)
        rows = None if held is None else [one for one in held if isinstance(one, Mapping)]
        return [rows] if rows and any(map(is_message, rows)) else None
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(one, Mapping) and is_message(one) for one in value):
        return parted(value)
    inner = [chats_of(one) for one in value]
    return [chat for some in inner if some for chat in some] if all(inner) else None


def parted(rows: Iterable[Row]) -> list[list[Row]]:
    """Messages by the session that they name; those that name none are one conversation."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        name = next((str(row[one]) for one in _SESSIONS if row.get(one)), "")
        found.setdefault(name, []).append(row)
    return list(found.values())


def is_message(row: Row) -> bool:
    """Whether it is one message of a conversation."""
    return not {"text", "tools"} <= row.keys() and _role(_plain(row)) in _USERS | _OTHERS


def turns_of(messages: Sequence[Row]) -> list[ChatTurn]:
    """The turns of a conversation in which the user said something, without calls that failed."""
    turns: list[ChatTurn] = []
    made: dict[str, tuple[ChatTurn, str]] = {}
    for row in map(_plain, messages):
        said = _said(row)
        if said:
            turns.append(ChatTurn(said))
        if not turns:
            continue
        for number, name in _called(row):
            turns[-1].calls.append(name)
            made[number] = (turns[-1], name)
        for number in _failed(row):
            turn, name = made.pop(number, (turns[-1], ""))
            if name in turn.calls:
                turn.calls.remove(name)
    return turns


def _plain(row: Row) -> Row:
    """The message itself, where it is wrapped; LangChain and logs of sessions do that."""
    for inside in ("data", "message", "kwargs"):
        inner = row.get(inside)
        if isinstance(inner, Mapping) and ("type" in row or "lc" in row):
            given = row.get("id")
            kind = given[-1] if inside == "kwargs" and isinstance(given, list) else row.get("type")
            return {"type": kind, **inner}
    return row


def _role(row: Row) -> str:
    named = (row.get(one) for one in ("role", "type", "part_kind", "kind"))
    return next((one for one in named if isinstance(one, str)), "")


def _blocks(row: Row) -> Iterator[Row]:
    """What a message consists of, itself first."""
    yield row
    for name in ("content", "parts"):
        inner = row.get(name)
        for one in inner if isinstance(inner, list) else ():
            if isinstance(one, str):
                yield {"type": "text", "text": one}
            elif isinstance(one, Mapping):
                yield one


def _said(row: Row) -> str:
    """What the user says; empty for other messages, and for results of tools."""
    if row.get("kind") == "request":  # pydantic-ai
        parts = [one for one in _blocks(row) if one.get("part_kind") == "user-prompt"]
    elif _role(row) in _USERS and not row.get("isMeta"):
        parts = list(_blocks(row))
    else:
        return ""
    texts: list[str] = []
    for one in parts:
        kind = str(one.get("type", one.get("part_kind")))
        content = one.get("content") if one is row or "part_kind" in one else one.get("text")
        if isinstance(content, str) and (one is row or kind in _TEXTS):
            texts.append(content)
    return "\n".join(texts).encode("utf-8", "replace").decode().strip()


def _called(row: Row) -> Iterator[tuple[str, str]]:
    """(id, name) of each call that a message makes."""
    calls = row.get("tool_calls")
    for one in calls if isinstance(calls, list) else ():
        if isinstance(one, Mapping):
            yield from _named(one, one.get("function"), one)
    yield from _named(row, row.get("function_call"))
    for one in _blocks(row):
        if one.get("type") in ("tool_use", "function_call", "mcp_call"):
            yield from _named(one, one)
        elif one.get("part_kind") == "tool-call":
            yield from _named(one, {"name": one.get("tool_name")})
        yield from _named(one, one.get("functionCall"))


def _named(call: Row, *holders: object) -> Iterator[tuple[str, str]]:
    names = (one.get("name") for one in holders if isinstance(one, Mapping))
    name = next((one for one in names if isinstance(one, str) and one.strip()), None)
    if name is not None:
        yield _id(call), name


def _id(row: Row) -> str:
    named = (row.get(one) for one in ("call_id", "tool_call_id", "tool_use_id", "id"))
    return next((str(one) for one in named if one), "")


def _failed(row: Row) -> Iterator[str]:
    """Ids of the calls that a message says have failed."""
    for one in _blocks(row):
        error = one.get("is_error") is True or one.get("part_kind") == "retry-prompt"
        if (error or one.get("status") == "error") and _id(one):
            yield _id(one)
