"""Spans of OpenTelemetry's GenAI conventions, as an exporter wrote them, as messages of
conversations: what users asked and the tools that were executed."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]
_PREFIXES = ("gen_ai.", "openinference.", "input.value")
_ASKED = ("gen_ai.retrieval.query.text", "input.value", "gen_ai.prompt.0.content")
_MESSAGES = ("gen_ai.input.messages", "gen_ai.prompt")
_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue")


def conversations_of(values: Iterable[object]) -> list[list[Row]]:
    """The messages of each conversation, or else trace, in order of time; empty without spans."""
    found: dict[str, list[tuple[str, list[Row]]]] = {}
    for span in (one for value in values for one in _spans(value)):
        given = _attributes(span)
        if not any(key.startswith(_PREFIXES) for key in given):
            continue
        name = given.get("gen_ai.conversation.id") or given.get("session.id") or _trace(span)
        began = str(span.get("startTimeUnixNano", span.get("start_time", "")))
        found.setdefault(str(name), []).append((began.zfill(40), list(_messages(span, given))))
    conversations = []
    for rows in found.values():
        rows.sort(key=lambda row: row[0])
        conversations.append(_without_repeats(one for _, some in rows for one in some))
    return conversations


def _spans(value: object) -> Iterator[Row]:
    """The spans in one line: itself, or all of an export over OTLP."""
    if not isinstance(value, Mapping):
        return
    if isinstance(value.get("attributes"), Mapping | list) and isinstance(value.get("name"), str):
        yield value
    for name in ("resourceSpans", "scopeSpans", "spans"):
        inner = value.get(name)
        for one in inner if isinstance(inner, list) else ():
            yield from _spans(one)


def _attributes(span: Row) -> dict[str, Any]:
    given = span["attributes"]
    if isinstance(given, Mapping):
        return dict(given)
    pairs = [
        one for one in given if isinstance(one, Mapping) and isinstance(one.get("value"), dict)
    ]
    return {
        str(one.get("key")): next(
            (one["value"][kind] for kind in _VALUES if kind in one["value"]), None
        )
        for one in pairs
    }


def _trace(span: Row) -> str:
    context = span.get("context")
    inner = context.get("trace_id") if isinstance(context, Mapping) else None
    return str(span.get("traceId") or span.get("trace_id") or inner or "")


def _messages(span: Row, given: Row) -> Iterator[Row]:
    asked = [given[one] for one in _ASKED if isinstance(given.get(one), str)]
    for name in _MESSAGES:
        asked += _last_said(given.get(name))
    tool = given.get("gen_ai.tool.name") or given.get("tool.name")
    if tool and given.get("gen_ai.operation.name", "execute_tool") == "execute_tool":
        status = span.get("status")
        code = (
            status.get("code", status.get("status_code")) if isinstance(status, Mapping) else None
        )
        if not given.get("error.type") and code not in (2, "ERROR", "STATUS_CODE_ERROR"):
            yield {"type": "function_call", "name": tool}
    elif asked and not str(asked[0]).lstrip().startswith(("{", "[")):
        yield {"role": "user", "content": asked[0]}


def _last_said(value: object) -> list[str]:
    """The text of the last message of the user in a list of them, which stands as JSON."""
    try:
        rows = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return [value] if isinstance(value, str) else []
    users = (
        [one for one in rows if isinstance(one, Mapping) and one.get("role") == "user"]
        if isinstance(rows, list)
        else []
    )
    for one in reversed(users):
        content = one.get("parts", one.get("content"))
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = [
            part.get("content", part.get("text")) for part in parts if isinstance(part, Mapping)
        ]
        said = "\n".join(text for text in texts if isinstance(text, str))
        if said.strip():
            return [said]
    return []


def _without_repeats(rows: Iterable[Row]) -> list[Row]:
    """Each request once: every model call of a turn carries it."""
    kept: list[Row] = []
    said = ""
    for row in rows:
        if row.get("role") == "user":
            if row["content"] == said:
                continue
            said = row["content"]
        kept.append(row)
    return kept
