"""What models send is read where it can only be meant in one way."""

import json
from typing import Any

import pytest

from ctrag.agents.session.sent import (
    QUERY_LIMIT,
    call_arguments,
    install_arguments,
    read_arguments,
    release_arguments,
    search_arguments,
)
from ctrag.agents.session.sent_arguments import tool_arguments
from ctrag.agents.session.sent_names import alike, behind_gateway, meant, plain_names

GIVEN = {"timezone": "Asia/Tokyo"}
HANDLE = "zsfrUSdPz6gD9Sb-exT-sHaDDJPl1F1_"


@pytest.mark.parametrize(
    "arguments",
    [
        GIVEN,
        json.dumps(GIVEN),
        json.dumps(json.dumps(GIVEN)),
        f"```json\n{json.dumps(GIVEN)}\n```",
        str(GIVEN),
        [GIVEN],
    ],
)
def test_arguments_in_any_wrapping_are_the_object_in_it(arguments: Any) -> None:
    read = call_arguments({"session": "s", "name": "time/now", "arguments": arguments})
    assert read.arguments == {"session": "s", "name": "time/now", "arguments": GIVEN}


@pytest.mark.parametrize("nothing", [None, "", "null", "{}", {}, [], "None"])
def test_arguments_that_are_nothing_are_none(nothing: Any) -> None:
    read = call_arguments({"session": "s", "name": "a", "arguments": nothing})
    assert read.arguments["arguments"] == {}


def test_what_stands_beside_the_name_is_an_argument() -> None:
    read = call_arguments({"session": "s", "name": "time/now", **GIVEN})
    assert read.arguments["arguments"] == GIVEN
    both = call_arguments({"session": "s", "tool": "a", "x": 1, "arguments": '{"y": 2}'})
    assert both.arguments == {"session": "s", "name": "a", "arguments": {"x": 1, "y": 2}}


def test_a_call_in_the_form_of_a_model_api_is_one() -> None:
    call = {"function": {"name": "time/now", "arguments": json.dumps(GIVEN)}, "session": "s"}
    assert call_arguments(call).arguments["arguments"] == GIVEN


TEXT = json.dumps(GIVEN)


@pytest.mark.parametrize(
    "call",
    [
        {"server_name": "time", "tool_name": "now", "arguments": TEXT},
        {"server": "time", "tool": "now", "arguments": GIVEN},
        {"server": "time", "tool": "now", **GIVEN},
        {"id": "call_1", "type": "function", "function": {"name": "time/now", "arguments": TEXT}},
        {"type": "function_call", "call_id": "c", "name": "time/now", "arguments": TEXT},
        {"type": "tool_use", "id": "t", "name": "time/now", "input": GIVEN},
        {"function_call": {"name": "time/now", "arguments": TEXT}},
        {"tool_call": {"name": "time/now", "arguments": GIVEN}},
        {"tool_calls": [{"type": "function", "function": {"name": "time/now", "arguments": TEXT}}]},
        {"tool_use": json.dumps({"name": "time/now", "arguments": GIVEN})},
    ],
)
def test_a_call_as_an_api_or_a_client_writes_it_is_that_call(call: dict[str, Any]) -> None:
    read = call_arguments({"session": "s", **call}).arguments
    assert read == {"session": "s", "name": "time/now", "arguments": GIVEN}


def test_arguments_that_are_named_like_parts_of_a_call_stay_arguments() -> None:
    own = {"type": "bug", "id": "7", "input": "x"}
    assert call_arguments({"name": "desk/add", **own}).arguments["arguments"] == own
    ssh = {"name": "ssh/run", "server": "prod", "tool": "ls"}
    assert call_arguments(ssh).arguments["arguments"] == {"server": "prod", "tool": "ls"}
    ssh = {"tool": "ssh/run", "server": "prod"}
    assert call_arguments(ssh).arguments == {"name": "ssh/run", "arguments": {"server": "prod"}}
    made = {"name": "desk/log", "arguments": {"call": {"name": "Ada"}}}
    assert call_arguments(made).arguments == made


@pytest.mark.parametrize("text", ["timezone=Asia/Tokyo", '["a", "b"]', "{broken"])
def test_arguments_that_are_no_object_are_refused_with_what_to_send(text: str) -> None:
    with pytest.raises(ValueError, match="arguments: must be an object as the tool's input_schema"):
        call_arguments({"session": "s", "name": "a", "arguments": text})


def test_a_handle_is_found_under_its_other_names_and_a_tools_own_argument_is_left_alone() -> None:
    read = call_arguments({"name": "a", "session_id": HANDLE})
    assert read.arguments == {"name": "a", "session": HANDLE, "arguments": {}}
    inside = call_arguments({"name": "a", "arguments": {"session": HANDLE, "x": 1}})
    assert inside.arguments == {"name": "a", "session": HANDLE, "arguments": {"x": 1}}
    own = call_arguments({"name": "a", "session": HANDLE, "session_id": "42", "handle": HANDLE})
    assert own.arguments["arguments"] == {"session_id": "42", "handle": HANDLE}


@pytest.mark.parametrize(
    "raw",
    [
        {"query": "a page"},
        {"q": "a page"},
        {"text": " a page "},
        {"search_term": "a page"},
        {"arguments": {"query": "a page"}},
        {"input": '{"q": "a page"}'},
        {"query": ["a page"]},
        {"query": {"text": "a page"}},
        {"query": "a page", "session": "", "limit": None},
    ],
)
def test_a_query_is_found_under_any_name(raw: dict[str, Any]) -> None:
    read = search_arguments(raw, 20)
    assert (read.arguments, read.notes) == ({"query": "a page"}, ())


def test_several_needs_in_a_list_are_one_query() -> None:
    assert search_arguments({"query": ["time", "date"]}, 20).arguments == {"query": "time, date"}


@pytest.mark.parametrize("raw", [{}, {"query": ""}, {"query": None}, {"a": "x", "b": "y"}])
def test_a_search_without_a_query_says_what_is_missing(raw: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="query: is missing; say in words"):
        search_arguments(raw, 20)


@pytest.mark.parametrize(
    ("limit", "used", "noted"),
    [
        ("3", 3, ""),
        (4.0, 4, ""),
        (50, 20, "20 was used in place of 50"),
        ("-1", 1, "1 was used in place of -1"),
        (0, 1, "1 was used in place of 0"),
        ("many", None, "'many' is no number"),
    ],
)
def test_a_limit_out_of_range_is_bounded_and_said(limit: Any, used: int | None, noted: str) -> None:
    read = search_arguments({"query": "a", "limit": limit}, 20)
    assert read.arguments.get("limit") == used
    assert noted in " ".join(read.notes)
    assert bool(read.notes) == bool(noted)


def test_a_long_query_is_cut_and_what_is_not_used_is_named() -> None:
    read = search_arguments({"query": "x" * (QUERY_LIMIT + 1), "colour": "red"}, 20)
    assert len(read.arguments["query"]) == QUERY_LIMIT
    assert [note.partition(":")[0] for note in read.notes] == [
        f"Only the first {QUERY_LIMIT:,} characters of the query were searched for.",
        "Not arguments of this tool, and not used",
    ]


@pytest.mark.parametrize(
    "names",
    ["a/b, c d/e", "a/b\nc d/e", '["a/b", "c d/e"]', ["a/b", "c d/e"], [{"name": "a/b"}, "c d/e"]],
)
def test_names_as_one_text_are_a_list(names: Any) -> None:
    read = release_arguments({"session": "s", "names": names})
    assert read.arguments == {"session": "s", "names": ["a/b", "c d/e"]}
    with pytest.raises(ValueError, match="names: is missing"):
        release_arguments({"session": "s", "names": []})


def test_a_plugin_may_stand_under_its_name() -> None:
    assert install_arguments({"name": "pdf"}).arguments == {"plugin": "pdf"}
    with pytest.raises(ValueError, match="plugin: is missing"):
        install_arguments({})


@pytest.mark.parametrize(
    ("raw", "offset"),
    [
        ({"uri": "ctrag://a"}, 0),
        ({"uri": "<ctrag://a>", "offset": None}, 0),
        ({"url": "ctrag://a", "offset": "100"}, 100),
        ({"uri": "ctrag://a", "offset": 100.0}, 100),
        ({"uri": "ctrag://a", "start": "1,000"}, 1_000),
        ({"arguments": {"uri": "ctrag://a", "offset": 7}}, 7),
        ({"input": '{"uri": "ctrag://a", "offset": 7}'}, 7),
    ],
)
def test_what_is_read_on_has_its_address_and_offset_in_any_form(
    raw: dict[str, Any], offset: int
) -> None:
    assert read_arguments(raw) == ("ctrag://a", offset)


@pytest.mark.parametrize(
    "raw",
    [{}, {"uri": "a", "offset": "x"}, {"uri": "a", "offset": 1.5}, {"uri": "a", "offset": True}],
)
def test_what_has_no_address_or_whole_offset_cannot_be_read(raw: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="give uri, a text, and offset, a whole number"):
        read_arguments(raw)


SCHEMA = {
    "properties": {
        "items": {"type": "array"},
        "count": {"type": "integer"},
        "share": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "loud": {"type": "boolean"},
        "where": {"type": "object"},
        "text": {"type": "string"},
        "either": {"type": ["string", "array"]},
        "open": {},
    }
}


def test_a_text_in_the_place_of_another_type_is_read_as_that_type() -> None:
    sent = {
        "items": "[1, 2]", "count": "3", "share": "0.5", "loud": "true", "where": '{"a": 1}',
        "text": "[1]", "either": "[1]", "open": "[1]", "unknown": "3",
    }  # fmt: skip
    assert tool_arguments(sent, SCHEMA) == {
        **sent, "items": [1, 2], "count": 3, "share": 0.5, "loud": True, "where": {"a": 1},
    }  # fmt: skip


def test_a_text_that_is_not_of_the_type_is_left_to_the_tool() -> None:
    sent = {"items": "a, b", "count": "3.5", "loud": "1", "where": "[1]", "share": "much"}
    assert tool_arguments(sent, SCHEMA) == sent


def test_null_for_what_is_left_out_and_numbers_for_texts_are_read_as_they_are_meant() -> None:
    sent = {"text": 42, "count": 3.0, "share": None, "loud": None, "open": None, "either": 4}
    assert tool_arguments(sent, SCHEMA) == {
        "text": "42", "count": 3, "share": None, "open": None, "either": 4,
    }  # fmt: skip
    required = {**SCHEMA, "required": ["loud"]}
    assert tool_arguments({"loud": None}, required) == {"loud": None}


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"Text": "a", "COUNT": 3}, {"text": "a", "count": 3}),
        ({"te-xt": "a", "text": "b"}, {"te-xt": "a", "text": "b"}),
        (
            {"text": ["a"], "count": ["3"], "either": ["a"]},
            {"text": "a", "count": 3, "either": ["a"]},
        ),
        ({"time/now": {"text": "a"}}, {"text": "a"}),
        ({"properties": {"text": "a", "count": 1}}, {"text": "a", "count": 1}),
        ({"other": {"text": "a", "more": 1}}, {"other": {"text": "a", "more": 1}}),
        ([{"name": "text", "value": "a"}], {"text": "a"}),
        ([{"key": "text", "value": "a"}, {"key": "count", "value": 1}], {"text": "a", "count": 1}),
        ('{text: "a", count: 1}', {"text": "a", "count": 1}),
        ("```js\n{text: 'a'}\n```", {"text": "a"}),
    ],
)
def test_arguments_in_another_notation_are_the_schemas(sent: Any, read: dict[str, Any]) -> None:
    assert tool_arguments(sent, SCHEMA) == read


def test_an_argument_that_could_be_two_keeps_its_name() -> None:
    two = {"properties": {"user_id": {}, "userId": {}}}
    assert tool_arguments({"USERID": 1}, two) == {"USERID": 1}
    own = {"properties": {"name": {}, "value": {}}}
    assert tool_arguments({"name": "a", "value": 1}, own) == {"name": "a", "value": 1}


def test_a_name_in_other_letters_is_proposed_and_not_called() -> None:
    ids = ["time/get_now", "time/set"]
    for name in ("time/getNow", "get-now", "TIME/GET_NOW", "functions.getNow", "time_get_now"):
        assert meant(name, ids) == []
        assert alike(name, ids) == ["time/get_now"]
    assert alike("--", ids) == []
    assert plain_names("functions.now<|channel|>commentary") == ["functions.now", "now"]


@pytest.mark.parametrize("name", ["call_tool", "mcp__ctrag__call_tool", "call_changing_tool"])
def test_a_call_of_the_call_is_the_call(name: str) -> None:
    inner = {"name": "time/now", "arguments": GIVEN}
    read = call_arguments({"session": f'"{HANDLE}"', "name": name, "arguments": inner})
    assert read.arguments == {"session": HANDLE, **inner}
    own = call_arguments({"session": HANDLE, "name": "desk/call_tool_now", "arguments": inner})
    assert own.arguments["name"] == "desk/call_tool_now"


def test_a_whole_set_under_one_name_is_taken_out_unless_the_tool_has_that_argument() -> None:
    assert tool_arguments({"args": '{"text": "a"}'}, SCHEMA) == {"text": "a"}
    assert tool_arguments({"input": {"text": "a"}}, SCHEMA) == {"text": "a"}
    own = {"properties": {"input": {"type": "object"}}}
    assert tool_arguments({"input": {"text": "a"}}, own) == {"input": {"text": "a"}}
    assert tool_arguments({"input": "hello"}, SCHEMA) == {"input": "hello"}


@pytest.mark.parametrize(
    "name",
    [
        "time/now", "time__now", "time.now", "time:now", "mcp__time__now", "mcp_time_now",
        "mcp__tools__time__now", "functions.time__now", "`time/now`", "time/now()", "mcp.time.now",
    ],
)  # fmt: skip
def test_a_name_in_any_clients_notation_means_its_tool(name: str) -> None:
    assert meant(name, ["time/now", "time/now_in", "clock/now"]) == ["time/now"]


@pytest.mark.parametrize(
    "name", ["time_now", "now", "TIME/now", "time/nows", "other__now", "__now"]
)
def test_a_name_that_could_be_another_means_none(name: str) -> None:
    assert meant(name, ["time/now"]) == []


def test_the_gateways_own_name_before_a_tools_is_taken_off() -> None:
    for name in ("mcp__ctrag__create_issue", "ctrag__create_issue", "mcp.ctrag.create_issue"):
        assert behind_gateway(name) == ["create_issue"]
    assert behind_gateway("mcp__github__create_issue") == behind_gateway("ctrag__") == []


def test_the_tools_own_name_is_exact() -> None:
    assert meant("disk__a_b", ["disk/a.b"]) == []
    assert meant("mcp__disk__a.b", ["disk/a.b", "disk/a_b"]) == ["disk/a.b"]
    assert meant("mcp__a__get", ["get", "set"]) == ["get"]


COLOUR = {"type": "string", "enum": ["red", "green"]}
SPAN = {"type": "object", "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}}}
REFERRING = {
    "properties": {
        "span": {"$ref": "#/$defs/Span"},
        "colour": {"$ref": "#/$defs/Colour"},
        "again": {"$ref": "#/properties/span"},
        "shade": {"allOf": [{"$ref": "#/$defs/Colour"}], "default": "red"},
        "perhaps": {"anyOf": [{"$ref": "#/$defs/Span"}, {"type": "null"}]},
        "loop": {"$ref": "#/properties/loop"},
    },
    "$defs": {"Span": SPAN, "Colour": COLOUR},
}


def test_an_argument_is_read_by_what_its_schema_refers_to() -> None:
    text = '{"start": 1, "end": "2"}'
    sent = {"span": text, "again": text, "perhaps": text, "colour": None, "shade": None}
    span = {"start": 1, "end": 2}
    assert tool_arguments(sent, REFERRING) == {"span": span, "again": span, "perhaps": span}
    assert tool_arguments({"perhaps": "None", "loop": "1"}, REFERRING) == {
        "perhaps": None, "loop": "1",
    }  # fmt: skip


NESTED = {
    "properties": {
        "o": {
            "type": "object",
            "properties": {
                "k": {"type": "integer"},
                "deep": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["k"],
        },
        "ids": {"type": "array", "items": {"type": "integer"}},
        "tags": {"type": "array", "items": {"type": "string"}},
        "spans": {"type": "array", "items": SPAN},
        "shares": {"type": "object", "additionalProperties": {"type": "number"}},
        "b": {"type": "boolean"},
        "n": {"type": "integer"},
        "s": {"type": "string"},
        "two": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
    }
}


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"o": {"k": "3", "deep": '["a"]'}}, {"o": {"k": 3, "deep": ["a"]}}),
        ({"o": {"K": 3, "deep": None}}, {"o": {"k": 3}}),
        ({"o": {"k": None}}, {"o": {"k": None}}),
        ({"ids": ["1", "2"]}, {"ids": [1, 2]}),
        ({"ids": '"[1, 2]"'}, {"ids": [1, 2]}),
        ({"ids": 5}, {"ids": [5]}),
        ({"ids": "5"}, {"ids": [5]}),
        ({"tags": "bug"}, {"tags": ["bug"]}),
        ({"tags": 5}, {"tags": ["5"]}),
        ({"spans": {"start": "1"}}, {"spans": [{"start": 1}]}),
        ({"spans": '[{"start": "1"}]'}, {"spans": [{"start": 1}]}),
        ({"shares": {"a": "0.5"}}, {"shares": {"a": 0.5}}),
        ({"b": "True"}, {"b": True}),
        ({"n": "null", "ids": "None"}, {}),
        ({"s": True}, {"s": "true"}),
        ({"s": "null"}, {"s": "null"}),
        ({"two": [1, "2", "rest"]}, {"two": ["1", 2, "rest"]}),
    ],
)
def test_values_inside_of_objects_and_lists_are_read_as_they_are_meant(
    sent: dict[str, Any], read: dict[str, Any]
) -> None:
    assert tool_arguments(sent, NESTED) == read


@pytest.mark.parametrize(
    "sent",
    [
        {"tags": "a, b"},
        {"tags": ""},
        {"ids": "five"},
        {"ids": "1,2"},
        {"spans": {"from": 1}},
        {"b": "1"},
        {"s": {"a": 1}},
        {"o": {"k": 1, "more": "2"}},
    ],
)
def test_values_that_could_mean_two_things_are_left_to_the_tool(sent: dict[str, Any]) -> None:
    assert tool_arguments(sent, NESTED) == sent


def test_schemas_that_refer_to_each_other_many_times_are_read_at_once() -> None:
    defined: dict[str, Any] = {
        f"D{number}": {"anyOf": [{"$ref": f"#/$defs/D{number + 1}"}] * 3} for number in range(40)
    }
    defined["D40"] = {"type": "integer"}
    chain = {f"C{number}": {"$ref": f"#/$defs/C{number + 1}"} for number in range(5_000)}
    schema = {
        "properties": {"a": {"$ref": "#/$defs/D0"}, "b": {"$ref": "#/$defs/C0"}},
        "$defs": {**defined, **chain},
    }
    assert tool_arguments({"a": "1", "b": "1"}, schema) == {"a": 1, "b": "1"}


ONE: dict[str, Any] = {
    "properties": {"params": {"$ref": "#/$defs/In"}},
    "required": ["params"],
    "$defs": {
        "In": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        }
    },
}


@pytest.mark.parametrize(
    "sent",
    [
        {"query": "x"},
        {"Query": "x"},
        {"input": {"query": "x"}},
        {"params": {"query": "x"}},
        {"params": {"params": {"query": "x"}}},
        {"params": {"input": {"query": "x"}}},
        '{"params": "{\\"query\\": \\"x\\"}"}',
    ],
)
def test_what_belongs_into_a_tools_only_object_is_put_into_it_once(sent: Any) -> None:
    assert tool_arguments(sent, ONE) == {"params": {"query": "x"}}
    beside = {**ONE, "properties": {**ONE["properties"], "note": {"type": "string"}}}
    assert tool_arguments(sent, beside) == {"params": {"query": "x"}}


def test_what_does_not_all_belong_into_it_is_left_where_it_is() -> None:
    for sent in ({"query": "x", "other": 1}, {"params": {"other": {"query": "x"}, "limit": 1}}):
        assert tool_arguments(sent, ONE) == sent
    assert tool_arguments({}, ONE) == {"params": {}}
    optional = {key: value for key, value in ONE.items() if key != "required"}
    assert tool_arguments({}, optional) == {}
