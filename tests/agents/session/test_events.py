"""Decisions as events: written a line each, shown again, sent to OpenTelemetry if wanted."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.events import Event, JsonLines, together
from ctrag.agents.session.tool_session import ToolSession
from ctrag.assistant.record import RecordedTurn, append_turn
from ctrag.cli.session_file import read_session

Make = Callable[..., CatalogueTool]
TURN = RecordedTurn(
    person="ada",
    text="mail Omar",
    asked_at="2025-04-17T12:59",
    items=[],
    tools=["send_email"],
    plan='send_email(to="Omar")',
    confidence=0.5,
    status=None,
    answer=None,
    steps=[],
)
CALL = Event(
    event="ctrag.tool.call",
    at=10.0,
    session="s1",
    attributes={
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "mail/send",
        "gen_ai.tool.call.arguments": '{"to": "Omar"}',
        "error.type": "TimeoutError",
    },
    seconds=1.5,
)


def test_turns_and_events_of_one_file_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "made when missing" / "session.jsonl"
    record = JsonLines(path)
    record(CALL)
    append_turn(path, TURN)
    record(Event(event="ctrag.session.close", at=11.0))
    assert list(read_session(path)) == [
        CALL,
        TURN,
        Event(event="ctrag.session.close", at=11.0),
    ]


def test_peoples_words_are_left_out_where_they_are_not_wanted(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    session = ToolSession("s1", record=JsonLines(path, content=False))
    session.found("secret wish", [])
    session.finished("a", {"to": "secret person"})
    text = path.read_text(encoding="utf-8")
    assert "secret" not in text
    assert "execute_tool" in text


def test_any_query_and_any_arguments_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    session = ToolSession(record=JsonLines(path))
    session.found("half \ud83d a pair\nand a line", [])
    session.finished("a", {"x": {1, 2}, "y": float("nan"), "z": "\ud83d"})
    assert len(list(read_session(path))) == 3


def test_lines_of_many_threads_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    record = JsonLines(path)
    long = CALL.model_copy(update={"attributes": {"ctrag.tools": ["x" * 5000]}})
    threads = [threading.Thread(target=lambda: [record(long) for _ in range(20)]) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert list(read_session(path)) == [long] * 160


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "ctrag.made.up", "at": 1}',
        '{"event": "ctrag.search"}',
        '{"event": "ctrag.search", "at": 1, "mood": "good"}',
        '{"event": "ctrag.search", "at": NaN}',
    ],
)
def test_a_damaged_event_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(f"{CALL.model_dump_json()}\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"session\.jsonl:2: not a turn of a session: "):
        list(read_session(path))


def test_one_event_goes_to_several_sinks() -> None:
    first: list[Event] = []
    second: list[Event] = []
    together(first.append, second.append)(CALL)
    assert (first, second) == ([CALL], [CALL])


@pytest.fixture
def collected() -> Any:
    """(sink, spans, logs) on OpenTelemetry's own collectors in memory."""
    pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from ctrag.agents.session.telemetry import OpenTelemetry

    spans, logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))

    def sink(**settings: Any) -> OpenTelemetry:
        return OpenTelemetry(tracers, loggers, **settings)

    return sink, spans, logs


def test_a_call_becomes_a_span_as_the_conventions_name_it(collected: Any) -> None:
    sink, spans, _ = collected
    sink()(CALL)
    [span] = spans.get_finished_spans()
    assert span.name == "execute_tool mail/send"
    assert (span.start_time, span.end_time) == (8_500_000_000, 10_000_000_000)
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "mail/send",
        "gen_ai.conversation.id": "s1",
        "error.type": "TimeoutError",
    }
    assert span.status.status_code.name == "ERROR"


def test_words_are_sent_only_when_asked_for(collected: Any) -> None:
    sink, spans, _ = collected
    sink(content=True)(CALL)
    [span] = spans.get_finished_spans()
    assert span.attributes["gen_ai.tool.call.arguments"] == '{"to": "Omar"}'


def test_a_decision_becomes_a_log_record_of_the_current_trace(collected: Any, tool: Make) -> None:
    sink, spans, logs = collected
    session = ToolSession("s1", record=sink())
    session.found("x", [tool("a")], scores=[0.5])
    with pytest.raises(ValueError, match="not available"):
        session.check("b")
    [search] = spans.get_finished_spans()
    assert search.name == "retrieval tools"
    assert json.loads(search.attributes["gen_ai.retrieval.documents"]) == [
        {"id": "a", "score": 0.5}
    ]
    records = [one.log_record for one in logs.get_finished_logs()]
    assert [one.event_name for one in records] == [
        "ctrag.session.open",
        "ctrag.tool.bind",
        "ctrag.tool.refuse",
    ]
    assert dict(records[2].attributes) == {
        "gen_ai.tool.name": "b",
        "ctrag.reason": "not_surfaced",
        "gen_ai.conversation.id": "s1",
    }


def test_names_are_those_of_the_installed_conventions() -> None:
    pytest.importorskip("opentelemetry.semconv", reason="the extra otel is not installed")
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names
    from opentelemetry.semconv.attributes import error_attributes

    from ctrag.agents.session import events

    assert events.OPERATION == names.GEN_AI_OPERATION_NAME
    assert events.CONVERSATION == names.GEN_AI_CONVERSATION_ID
    assert events.TOOL == names.GEN_AI_TOOL_NAME
    assert events.ARGUMENTS == names.GEN_AI_TOOL_CALL_ARGUMENTS
    assert events.QUERY == names.GEN_AI_RETRIEVAL_QUERY_TEXT
    assert events.DOCUMENTS == names.GEN_AI_RETRIEVAL_DOCUMENTS
    assert events.ERROR == error_attributes.ERROR_TYPE
    operations = {one.value for one in names.GenAiOperationNameValues}
    assert {"retrieval", "execute_tool"} <= operations


def test_without_the_extra_the_sink_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from ctrag.agents.session.telemetry import OpenTelemetry

    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ImportError, match=r"telemetry needs opentelemetry; .* 'ctrag\[otel\]'"):
        OpenTelemetry()


def test_a_folder_of_recordings_is_read_file_by_file(tmp_path: Path) -> None:
    for name in ("b", "a"):
        JsonLines(tmp_path / f"{name}.jsonl")(Event(event="ctrag.session.open", at=1, session=name))
    line = (tmp_path / "a.jsonl").read_bytes()
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + line)  # as Windows begins a file
    found = [one for one in read_session(tmp_path) if isinstance(one, Event)]
    assert [one.session for one in found] == ["a", "b"]
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match=r"none: holds no \.jsonl file"):
        list(read_session(tmp_path / "none"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"messages": []}', "no event of `--record` and no turn of `ctrag chat --record`"),
        ('[{"event": "x"}]', "no event of `--record`"),
        ('{"event": "ctrag.search", "at": "soon"}', "at: Input should be a valid number"),
    ],
)
def test_a_line_of_another_kind_says_what_it_is_not(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(ValueError, match=why):
        list(read_session(path))
