"""Conversations that other tools recorded, read as demonstrations."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.next_tool.demonstrations import load_demonstrations

ASKED, MORE = "Cancel order W9", "And tell me when"
OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": ASKED},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}},
            {"id": "2", "type": "function", "function": {"name": "cancel", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "W9"},
    {"role": "tool", "tool_call_id": "2", "content": "done"},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": [{"type": "text", "text": MORE}]},
    {"role": "assistant", "function_call": {"name": "status", "arguments": "{}"}},
    {"role": "function", "name": "status", "content": "today"},
]
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": ASKED},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "0", "name": "broken", "input": {}},
            {"type": "tool_use", "id": "1", "name": "find", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "0", "is_error": True, "content": "no"},
            {"type": "tool_result", "tool_use_id": "1", "content": "W9"},
        ],
    },
    {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "cancel"}]},
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "2", "content": "done"},
            {"type": "text", "text": MORE},
        ],
    },
    {"role": "assistant", "content": [{"type": "tool_use", "id": "3", "name": "status"}]},
]
RESPONSES: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "input_text", "text": ASKED}]},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "call_id": "1", "name": "find", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "1", "output": "W9"},
    {"type": "function_call", "call_id": "2", "name": "cancel", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "2", "output": "done"},
    {"type": "message", "role": "user", "content": MORE},
    {"type": "function_call", "call_id": "3", "name": "status", "arguments": "{}"},
]
LANGCHAIN: list[dict[str, Any]] = [
    {"type": "human", "content": ASKED},
    {"type": "ai", "content": "", "tool_calls": [{"name": "find", "args": {}, "id": "1"}]},
    {"type": "tool", "content": "W9", "tool_call_id": "1", "status": "success"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "broken", "args": {}, "id": "9"}]},
    {"type": "tool", "content": "no", "tool_call_id": "9", "status": "error"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "cancel", "args": {}, "id": "2"}]},
    {"type": "human", "content": MORE},
    {"type": "ai", "content": "", "tool_calls": [{"name": "status", "args": {}, "id": "3"}]},
]
DUMPED = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
PYDANTIC_AI: list[dict[str, Any]] = [
    {
        "kind": "request",
        "parts": [
            {"part_kind": "system-prompt", "content": "Be brief."},
            {"part_kind": "user-prompt", "content": ASKED},
        ],
    },
    {
        "kind": "response",
        "parts": [
            {"part_kind": "tool-call", "tool_name": "find", "args": "{}", "tool_call_id": "1"},
            {"part_kind": "tool-call", "tool_name": "cancel", "args": "{}", "tool_call_id": "2"},
        ],
    },
    {"kind": "request", "parts": [{"part_kind": "tool-return", "content": "x"}]},
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": MORE}]},
    {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "status"}]},
]
GEMINI: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": ASKED}]},
    {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {}}}]},
    {"role": "model", "parts": [{"functionCall": {"name": "cancel", "args": {}}}]},
    {"role": "user", "parts": [{"text": MORE}]},
    {"role": "model", "parts": [{"functionCall": {"name": "status", "args": {}}}]},
]


def lines(*values: object) -> str:
    return "\n".join(json.dumps(one) for one in values)


@pytest.mark.parametrize(
    "text",
    [
        lines({"messages": OPENAI, "tools": [{"type": "function", "function": {"name": "find"}}]}),
        lines(*OPENAI),
        json.dumps({"messages": OPENAI}, indent=2),
        json.dumps(OPENAI, indent=2),
        lines({"system": "Be brief.", "messages": ANTHROPIC}),
        lines({"input": RESPONSES}),
        lines({"messages": LANGCHAIN}),
        lines([{"type": one["type"], "data": one} for one in LANGCHAIN]),
        lines(
            *(
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["langchain", "messages", DUMPED[one["type"]]],
                    "kwargs": one,
                }
                for one in LANGCHAIN
            )
        ),
        lines(PYDANTIC_AI),
        json.dumps({"contents": GEMINI}),
        lines(
            {"type": "summary", "summary": "An order"},
            *({"type": one["role"], "sessionId": "s", "message": one} for one in ANTHROPIC),
        ),
    ],
)
def test_a_conversation_of_any_tool_shows_what_was_called_for_what(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "chats.jsonl"
    file.write_text(text, encoding="utf-8")
    first, second = load_demonstrations(file)
    assert (first.text, first.tools, first.before) == (ASKED, ("find", "cancel"), ())
    assert (second.text, second.tools) == (f"{ASKED}\n{MORE}", ("status",))
    assert second.before == ("find", "cancel")
    assert first.group == second.group


def span(at: int, **given: str) -> dict[str, Any]:
    """A span as the console exporter of Python writes it, the later ones first."""
    attributes = {name.replace("__", "."): value for name, value in given.items()}
    error = {"status_code": "ERROR" if "error__type" in given else "UNSET"}
    start = f"2026-01-01T00:00:{at:02}Z"
    context = {"trace_id": "t"}
    return {"name": "x", "context": context, "start_time": start, "status": error} | {
        "attributes": attributes
    }


def said(*texts: str) -> str:
    rows = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in texts]
    return json.dumps([{"role": "system", "parts": []}, *rows])


SPANS = [
    span(7, gen_ai__tool__name="status", gen_ai__operation__name="execute_tool"),
    span(6, gen_ai__operation__name="chat", gen_ai__input__messages=said(ASKED, MORE)),
    span(5, gen_ai__tool__name="cancel", gen_ai__operation__name="execute_tool"),
    span(4, gen_ai__tool__name="broken", error__type="KeyError"),
    span(3, gen_ai__operation__name="chat", gen_ai__input__messages=said(ASKED)),
    span(2, gen_ai__tool__name="find", gen_ai__operation__name="execute_tool"),
    span(1, gen_ai__operation__name="chat", gen_ai__input__messages=said(ASKED)),
]


def otlp(one: dict[str, Any]) -> dict[str, Any]:
    """The same span as OTLP has it in JSON."""
    given = [
        {"key": key, "value": {"stringValue": value}} for key, value in one["attributes"].items()
    ]
    start = one["start_time"][-3:-1] + "000000000"
    return {"name": "x", "traceId": "t", "startTimeUnixNano": start, "attributes": given}


@pytest.mark.parametrize(
    "text",
    [
        lines(*SPANS),
        json.dumps(SPANS, indent=2),
        "\n".join(json.dumps(one, indent=4) for one in SPANS),
        lines({"resourceSpans": [{"scopeSpans": [{"spans": list(map(otlp, SPANS))}]}]}),
        lines(*({"resourceSpans": [{"scopeSpans": [{"spans": [otlp(one)]}]}]} for one in SPANS)),
    ],
)
def test_spans_of_opentelemetry_are_a_conversation(tmp_path: Path, text: str) -> None:
    file = tmp_path / "spans.jsonl"
    file.write_text(text, encoding="utf-8")
    first, second = load_demonstrations(file)
    assert (first.text, first.tools) == (ASKED, ("find", "cancel"))
    assert (second.text, second.tools) == (f"{ASKED}\n{MORE}", ("status",))


def test_messages_of_several_sessions_in_one_log_are_several_conversations(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    mixed = [
        {"type": one["role"], "sessionId": name, "message": one}
        for one in ANTHROPIC
        for name in ("a", "b")
    ]
    file.write_text(lines(*mixed), encoding="utf-8")
    found = load_demonstrations(file)
    assert [one.group for one in found] == ["chat-1", "chat-1", "chat-2", "chat-2"]
    assert found[0].tools == found[2].tools == ("find", "cancel")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"messages": OPENAI[:2]}, "no conversation in it calls a tool"),
        ({"jsonrpc": "2.0", "method": "tools/call", "params": {}}, "must have `text` and `tools`"),
        ({"name": "execute_tool find", "traceId": "t"}, "must have `text` and `tools`"),
    ],
)
def test_what_shows_no_calls_for_a_request_says_what_is_read(
    tmp_path: Path, row: Any, problem: str
) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(lines(row), encoding="utf-8")
    with pytest.raises(ValueError, match=problem):
        load_demonstrations(file)


def test_ids_may_be_numbers_or_absent(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    rows = [{"query_id": name, "text": "a", "tools": ["f"]} for name in (7, None, "x")]
    file.write_text(lines(*rows), encoding="utf-8")
    assert [one.id for one in load_demonstrations(file)] == ["7", "line-2", "x"]
