"""The endpoint planner against a real HTTP server on this machine."""

import json
import math
import socket
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.endpoint import EndpointError, EndpointPlanner, _agreement
from ctrag.assistant.planning.grammar import plan_grammar
from ctrag.assistant.planning.interface import PlanRequest
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.planner_prompt import planner_prompt
from ctrag.toolbox import Toolbox
from stores.people.items import Contact, Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
ADA = Person("ada", AT, Profile("Ada Quist"), (Contact("Omar Salcedo", "dispatcher"),))
NOTE = Item(
    "n1",
    "notes",
    {"title": "Gate code", "body": "4711", "folder": "Home", "modified_at": datetime(2025, 4, 1)},
)
TOOLS = [tool for tool in Toolbox.packaged() if tool.api in ("read_note", "share_note")]
REQUEST = Request("what was the code again", AT)
GRAMMAR = plan_grammar(TOOLS, ValueSources(REQUEST, ADA, [NOTE]))
GOOD = 'read_note(title="Gate code")'
NOW = {"retry-after-ms": "1"}


@pytest.fixture
def ask(endpoint: Any, api_key: str) -> Callable[..., Any]:
    """`ask(answers…)`: what the planner makes of what the server answers."""

    def planned(*answers: object, timeout: float = 20.0, url: str | None = None) -> Any:
        endpoint.answers = list(answers) or [GOOD]
        planner = EndpointPlanner(url or endpoint.url, "toy", api_key, timeout)
        prompt = planner_prompt(REQUEST, ADA, [NOTE], TOOLS, planner.count_tokens)
        return planner.plan(PlanRequest(TOOLS, GRAMMAR, lambda: prompt))

    return planned


def error_of(ask: Callable[..., Any], api_key: str, *answers: object, **how: Any) -> str:
    """The message of the EndpointError: one line, without the key."""
    with pytest.raises(EndpointError, match=r"^http://127\.0\.0\.1:\d+/v1: ") as caught:
        ask(*answers, **how)
    message = str(caught.value)
    assert "\n" not in message
    assert api_key not in message
    return message


def test_a_good_plan_is_taken_and_its_tokens_are_counted(ask: Callable[..., Any]) -> None:
    planned = ask(GOOD)
    assert planned.plan == Plan("read_note", {"title": "Gate code"})
    assert (planned.confidence, planned.prompt_tokens, planned.plan_tokens) == (1.0, 100, 7)


def test_the_endpoint_reads_the_prompt_and_the_values_that_may_be_used(
    ask: Callable[..., Any], endpoint: Any, api_key: str
) -> None:
    ask(GOOD)
    told = endpoint.asked()
    assert "Request: what was the code again" in told
    assert "- read_note.title: 'Gate code'" in told
    assert "- share_note.contact: 'Omar Salcedo'" in told
    assert endpoint.requests[0]["temperature"] == 0
    assert endpoint.headers[0]["authorization"] == f"Bearer {api_key}"
    assert api_key not in told


@pytest.mark.parametrize(
    "fenced",
    [
        f"```python\n{GOOD}\n```",
        f"```\n{GOOD}\n```\n",
        f"`{GOOD}`",
        f"```{GOOD}```",
        f"  {GOOD} \n",
    ],
)
def test_a_code_fence_around_a_plan_is_taken_off(ask: Callable[..., Any], fenced: str) -> None:
    assert ask(fenced).plan == Plan.parse(GOOD)


def test_an_ungrounded_value_is_named_in_a_second_question(
    ask: Callable[..., Any], endpoint: Any
) -> None:
    planned = ask('read_note(title="Nuclear codes")', GOOD)
    assert planned.plan == Plan.parse(GOOD)
    assert planned.prompt_tokens == 2 * 100
    assert len(endpoint.requests) == 2
    assert "title: 'Nuclear codes' stands nowhere; possible: Gate code" in endpoint.asked()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ('send_mail(to="Omar Salcedo", subject="a", body="b")', "send_mail is not among the APIs"),
        ("read_note()", "title: read_note needs this argument"),
        ('share_note(title="Gate code", contact="Eve")', "contact: 'Eve' stands nowhere"),
        ("I would read the note.", "not a Python expression"),
        (None, "not a Python expression"),
        ('__import__("os").system("id")', "the API must be a plain name"),
    ],
)
def test_two_answers_that_cannot_run_are_no_plan(
    ask: Callable[..., Any], endpoint: Any, answer: str | None, problem: str
) -> None:
    planned = ask(answer)
    assert planned.plan is None
    assert planned.confidence == 0.0
    assert len(endpoint.requests) == 2
    assert problem in endpoint.asked()


def test_none_is_a_plan(ask: Callable[..., Any], endpoint: Any) -> None:
    assert ask("none()").plan.is_none
    assert len(endpoint.requests) == 1


def test_a_server_that_fails_twice_is_asked_a_third_time(
    ask: Callable[..., Any], endpoint: Any
) -> None:
    assert ask((500, NOW, b"busy"), (500, NOW, b"busy"), GOOD).plan == Plan.parse(GOOD)
    assert len(endpoint.requests) == 3


def test_too_many_requests_are_tried_again_and_then_reported(
    ask: Callable[..., Any], endpoint: Any, api_key: str
) -> None:
    body = b'{"error": {"message": "slow down\\nplease"}}'
    error = error_of(ask, api_key, (429, {"Content-Type": "application/json", **NOW}, body))
    assert "RateLimitError" in error
    assert "slow down" in error
    assert len(endpoint.requests) == 4


def test_a_refused_key_is_reported_at_once_and_not_shown_even_when_the_server_quotes_it(
    ask: Callable[..., Any], endpoint: Any, api_key: str
) -> None:
    body = f'{{"error": {{"message": "Incorrect API key provided: {api_key}"}}}}'.encode()
    error = error_of(ask, api_key, (401, {"Content-Type": "application/json"}, body))
    assert "AuthenticationError" in error
    assert "Incorrect API key provided" in error
    assert len(endpoint.requests) == 1


def test_a_server_that_hangs_is_left_after_the_timeout(
    ask: Callable[..., Any], api_key: str
) -> None:
    assert "APITimeoutError" in error_of(ask, api_key, 30.0, timeout=0.1)


def test_nobody_at_the_address_is_one_line(ask: Callable[..., Any], api_key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "APIConnectionError" in error_of(ask, api_key, url=f"http://127.0.0.1:{port}/v1")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<html><body>Welcome to the hotel's WLAN</body></html>"),
        ("application/json", b'{"choices": [{"mess'),
        ("application/json", b'"hello"'),
        ("application/json", b"[]"),
        ("application/json", b'{"choices": [{}]}'),
        ("application/json", b'{"choices": [{"message": {"content": 7}}]}'),
        ("application/json", b'{"error": "model not loaded"}'),
        ("application/json", b"\xff\xfe"),
    ],
)
def test_an_answer_that_is_no_chat_completion_is_one_line(
    ask: Callable[..., Any], api_key: str, kind: str, body: bytes
) -> None:
    assert "no chat completion" in error_of(ask, api_key, (200, {"Content-Type": kind}, body))


def test_an_endpoint_without_a_model_name_is_refused_before_it_is_asked() -> None:
    with pytest.raises(ValueError, match="model: the endpoint needs a model name"):
        EndpointPlanner("http://127.0.0.1:1/v1", "", "key")


@pytest.mark.parametrize(
    "answer",
    [
        '{"api": "read_note", "arguments": {"title": "Gate code"}}',
        '```json\n{"name": "read_note", "parameters": {"title": "Gate code"}}\n```',
        '[{"call": {"api": "read_note", "arguments": {"title": "Gate code"}}}]',
        '<think>The note of the gate.</think>\n{"api": "read_note", "arguments": {"title": "Gate code"}}',
        '{"api": "read_note(title)", "arguments": {"title": "Gate code"}}',
        'read_note("Gate code")',
    ],
)
def test_a_plan_is_read_in_whatever_form_it_comes(ask: Callable[..., Any], answer: str) -> None:
    assert ask(answer).plan == Plan.parse(GOOD)


def test_a_tool_call_is_a_plan(endpoint: Any, api_key: str) -> None:
    called = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "read_note", "arguments": '{"title": "Gate code"}'},
            }
        ],
    }
    body = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": called}]}
    endpoint.answers = [(200, {"Content-Type": "application/json"}, json.dumps(body).encode())]
    planner = EndpointPlanner(endpoint.url, "toy", api_key, answers="tools")
    prompt = planner_prompt(REQUEST, ADA, [NOTE], TOOLS, planner.count_tokens)
    planned = planner.plan(PlanRequest(TOOLS, GRAMMAR, lambda: prompt))
    assert (planned.plan, planned.text) == (Plan.parse(GOOD), GOOD)
    sent = endpoint.requests[0]
    assert [one["function"]["name"] for one in sent["tools"]] == [*GRAMMAR.apis, "none"]
    title = sent["tools"][0]["function"]["parameters"]["properties"]["title"]
    assert title["enum"] == ["Gate code"]


def test_a_schema_names_the_calls_and_values_that_are_possible(
    ask: Callable[..., Any], endpoint: Any
) -> None:
    ask('{"api": "none", "arguments": {}}')
    form = endpoint.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    calls = {
        one["properties"]["api"]["enum"][0]: one["properties"]["arguments"]
        for one in form["json_schema"]["schema"]["anyOf"]
    }
    assert set(calls) == {*GRAMMAR.apis, "none"}
    assert calls["read_note"]["properties"]["title"]["enum"] == ["Gate code"]
    assert calls["read_note"]["required"] == ["title"]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "'response_format.type' must be 'text'"),
        (422, "unknown field response_format"),
    ],
)
def test_a_server_that_knows_no_schema_is_asked_without_one_from_then_on(
    endpoint: Any, api_key: str, status: int, said: str
) -> None:
    refusal = (status, {"Content-Type": "application/json", **NOW}, json.dumps(said).encode())
    endpoint.answers = [refusal, GOOD]
    planner = EndpointPlanner(endpoint.url, "toy", api_key)
    prompt = planner_prompt(REQUEST, ADA, [NOTE], TOOLS, planner.count_tokens)
    for _ in range(2):
        assert planner.plan(PlanRequest(TOOLS, GRAMMAR, lambda: prompt)).plan == Plan.parse(GOOD)
    assert ["response_format" in one for one in endpoint.requests] == [True, False, False]


def test_llama_cpp_that_knows_no_tools_is_asked_without_and_a_busy_server_is_not(
    endpoint: Any, api_key: str
) -> None:
    def failing(said: str) -> tuple[int, dict[str, str], bytes]:
        body = json.dumps({"error": {"code": 500, "message": said}}).encode()
        return 500, {"Content-Type": "application/json", **NOW}, body

    prompt = planner_prompt(REQUEST, ADA, [NOTE], TOOLS, len, 4000)
    request = PlanRequest(TOOLS, GRAMMAR, lambda: prompt)
    planner = EndpointPlanner(endpoint.url, "toy", api_key, answers="tools")
    endpoint.answers = [failing("tools param requires --jinja flag")] * 4 + [GOOD]
    assert planner.plan(request).plan == Plan.parse(GOOD)
    assert "tools" not in endpoint.requests[-1]
    endpoint.answers = [failing("out of memory")]
    with pytest.raises(EndpointError, match="out of memory"):
        EndpointPlanner(endpoint.url, "toy", api_key, answers="tools").plan(request)
    assert "tools" in endpoint.requests[-1]


def test_a_newer_model_is_asked_by_the_names_that_it_wants(endpoint: Any, api_key: str) -> None:
    def refusing(said: str) -> tuple[int, dict[str, str], bytes]:
        body = json.dumps({"error": {"message": said}}).encode()
        return 400, {"Content-Type": "application/json"}, body

    endpoint.answers = [
        refusing("'max_tokens' is not supported: use 'max_completion_tokens'"),
        refusing("'temperature' does not support 0 with this model"),
        GOOD,
    ]
    planner = EndpointPlanner(endpoint.url, "toy", api_key)
    prompt = planner_prompt(REQUEST, ADA, [NOTE], TOOLS, planner.count_tokens)
    assert planner.plan(PlanRequest(TOOLS, GRAMMAR, lambda: prompt)).plan == Plan.parse(GOOD)
    sent = endpoint.requests[-1]
    assert "max_completion_tokens" in sent
    assert not {"max_tokens", "temperature"} & set(sent)
    assert "response_format" in sent


def test_an_endpoint_is_as_sure_as_tool_retrieval_is_of_its_api() -> None:
    wanted = {"read_note": 0.0, "delete_note": math.log(3), "none": math.log(4)}
    plan = Plan("delete_note", {"title": "Rent"})
    assert _agreement(plan, wanted) == pytest.approx(3 / 8)
    assert _agreement(Plan("call_contact", {}), wanted) == 0.0
    assert _agreement(plan, None) == 1.0, "without retrieval nothing is known"
