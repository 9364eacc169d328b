"""Answers of servers in forms that the protocol does not have, read as they are meant."""

import json
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from mcp.types import CallToolResult, jsonrpc_message_adapter

from ctrag.agents.server.mending import mended
from ctrag.agents.server.messages import readable

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def of_call(**result: Any) -> dict[str, Any]:
    """The result of a call, mended; a client takes it."""
    mended(result, of_call=True)
    CallToolResult.model_validate(result, by_name=False)
    return result


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ("done", [text("done")]),
        (text("done"), [text("done")]),
        (["a", 5, None], [text("a"), text("5")]),
        (None, []),
        ([{"text": "a"}], [text("a")]),
        ([{"type": "text", "text": {"a": 1}}], [text('{"a": 1}')]),
        ([{"type": "json", "json": [1]}], [text("[1]")]),
        ([{"type": "markdown", "text": "# a"}], [text("# a")]),
        (
            [{"type": "hologram", "data": "?"}],
            [text("[content of the kind 'hologram', which cannot be shown]")],
        ),
        (
            [{"type": "image", "data": DOT}],
            [{"type": "image", "data": DOT, "mimeType": "image/png"}],
        ),
        (
            [{"type": "image", "data": f"data:image/png;base64,{DOT}"}],
            [{"type": "image", "data": DOT, "mimeType": "image/png"}],
        ),
        (
            [{"type": "image", "data": "no!", "mimeType": "image/png"}],
            [text("[image that cannot be shown: its data is no base64]")],
        ),
        ([{"type": "resource", "resource": {"text": "inside"}}], [text("inside")]),
        (
            [{"type": "resource_link", "uri": "file:///a/b.txt", "mimeType": None}],
            [{"type": "resource_link", "uri": "file:///a/b.txt", "name": "b.txt"}],
        ),
        (
            [{**text("a"), "annotations": {"audience": ["robot"], "priority": 0.5}, "_meta": 1}],
            [{**text("a"), "annotations": {"priority": 0.5}}],
        ),
    ],
)
def test_content_is_read_as_it_is_meant(content: Any, blocks: list[Any]) -> None:
    assert of_call(content=content)["content"] == blocks


@pytest.mark.parametrize(
    ("result", "made"),
    [
        (
            {"structuredContent": {"a": 1}},
            {"content": [text('{"a": 1}')], "structuredContent": {"a": 1}},
        ),
        ({"structuredContent": [1], "content": []}, {"content": [text("[1]")]}),
        ({"structuredContent": None, "content": ["a"]}, {"content": [text("a")]}),
        ({"toolResult": {"a": 1}}, {"content": [text('{"a": 1}')]}),
        ({"content": "a", "isError": "true"}, {"content": [text("a")], "isError": True}),
        ({"content": "a", "isError": None, "_meta": 1}, {"content": [text("a")], "isError": False}),
        (
            {"isError": True},
            {"content": [text("It failed, and the server does not say why.")], "isError": True},
        ),
    ],
)
def test_an_answer_with_its_fields_in_other_places_keeps_what_it_says(
    result: dict[str, Any], made: dict[str, Any]
) -> None:
    assert of_call(**result) == made


@pytest.mark.parametrize(
    "whole",
    [
        {"content": [text("a")], "structuredContent": {"a": 1}, "isError": False},
        {"content": [text("a")], "structuredContent": [1], "resultType": "complete"},
        {"resultType": "input_required", "inputRequests": {}},
        {"task": {"taskId": "1"}},
    ],
)
def test_an_answer_of_the_protocols_form_stays_as_it_is(whole: dict[str, Any]) -> None:
    kept = json.loads(json.dumps(whole))
    mended(whole, of_call=True)
    assert whole == kept


@pytest.mark.parametrize("whole", [{}, {"contents": ["a"]}, {"prompts": []}])
def test_answers_to_other_requests_get_no_content(whole: dict[str, Any]) -> None:
    kept = dict(whole)
    mended(whole, of_call=False)
    assert whole == kept


@pytest.mark.parametrize(
    ("line", "results"),
    [
        ('{"id": 1, "result": "done"}', [{"content": ["done"]}]),
        ('{"id": 1, "result": null}', [{"content": []}]),
        ('{"id": 1, "result": {"a": "x\\ud800y"}}', [{"a": "x\ufffdy"}]),
        ('[{"id": 1, "result": {}}, {"id": 2, "result": {"a": 1}}]', [{}, {"a": 1}]),
    ],
)
def test_a_line_that_breaks_the_protocol_is_read_where_it_is_plain(
    line: str, results: list[Any]
) -> None:
    messages = readable(line)
    assert [one["result"] for one in messages] == results
    for one in messages:
        jsonrpc_message_adapter.validate_python(one, by_name=False)


@pytest.mark.parametrize(
    ("error", "said"),
    [("boom", "boom"), ({"message": "boom"}, "boom"), ({"code": "E1"}, "an error without a text")],
)
def test_an_error_in_a_form_of_its_own_is_told(error: Any, said: str) -> None:
    [message] = readable(json.dumps({"id": 1, "error": error}))
    assert message["error"]["message"] == said
    jsonrpc_message_adapter.validate_python(message, by_name=False)


@pytest.mark.parametrize("line", ["DEBUG started", '{"half":', "[1, 2]", '{"a": 1}', "null"])
def test_a_line_that_is_no_message_stays_none(line: str) -> None:
    assert readable(line) == []
