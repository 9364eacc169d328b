"""The provider against servers that misbehave, or support older or newer APIs."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from synth.openai.forms import thought_form
from synth.openai.provider import OpenAIProvider
from synth.provider import ProviderError
from tests.synth.conftest import COUNTS, HTML, KEY, Model, status


@pytest.mark.parametrize(
    "faults",
    [
        [status(429, retry_after_ms="60")],
        [status(500), status(503)],
        [0.6],
        [HTML, HTML],
        [(200, {"Content-Type": "application/json"}, b'{"choices": [{"mess')],
        ["{}x", "not JSON at all"],
        ['{"items": [{"title": "cut of'],
        [lambda answer: {"items": answer["items"][:-1]}],
        [lambda answer: {"items": [{**one, "modified_at": "soon"} for one in answer["items"]]}],
        [lambda answer: {"items": [{**one, "mood": "good"} for one in answer["items"]]}],
        [lambda answer: {"items": [answer["items"][0]] * 3}],
    ],
    ids="429 5xx hang html half-reply nonsense cut-off too-few bad-time extra-field repeated".split(),
)
def test_a_misbehaving_server_does_not_change_the_person(
    faults: list[Any], opened: Callable[..., OpenAIProvider], model: Model, configure: Any
) -> None:
    right = opened(cache="other").person("p1", COUNTS, 7)
    configure(openai_base_url=model.url, openai_model="toy", openai_api_key=KEY, openai_timeout=0.3)
    model.faults = {"notes_items": list(faults)}
    before = model.count("notes_items")
    assert opened().person("p1", COUNTS, 7) == right
    assert model.count("notes_items") - before == 1 + len(faults)


def test_retry_after_is_respected(opened: Callable[..., OpenAIProvider], model: Model) -> None:
    model.faults = {"persona": [status(429, retry_after="1")]}
    began = time.monotonic()
    opened().person("p1", {}, 7)
    assert 1.0 <= time.monotonic() - began < 4.0


def test_a_refusal_fails_at_once_with_one_line_without_the_key(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    refusal = f'{{"error": {{"message": "bad key {KEY}"}}}}'.encode()
    model.faults = {"persona": [(401, {"Content-Type": "application/json"}, refusal)]}
    with pytest.raises(ProviderError, match=r"^http://127.*AuthenticationError") as caught:
        opened().person("p1", COUNTS, 7)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(model.asked) == 1


def test_a_server_that_returns_html_is_an_error(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    model.faults = {"persona": [HTML] * 3}
    with pytest.raises(ProviderError, match="no chat completion came back"):
        opened().person("p1", COUNTS, 7)


def test_an_older_server_gets_the_schema_only_in_the_prompt(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    good = '{"thought": "Look into the notes of last week."}'
    model.faults = {"thought": [status(400)], "untold": [status(400), good, good]}
    provider = opened()
    for seed in (1, 2):
        assert provider.asker.ask("think", thought_form(), seed).startswith("Look")
    formats = [one.get("response_format", {}).get("type") for one in model.asked]
    assert formats == ["json_schema", "json_object", None, None]


def test_a_server_that_rejects_schemas_is_asked_without_one(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    model.faults = {"thought": [status(422)], "untold": ['{"thought": "Look into the notes."}']}
    assert opened().asker.ask("think", thought_form(), 1) == "Look into the notes."
    formats = [one.get("response_format", {}).get("type") for one in model.asked]
    assert formats == ["json_schema", "json_object"]


def test_a_server_that_requires_max_completion_tokens_gets_it(
    opened: Callable[..., OpenAIProvider], model: Model
) -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    body = json.dumps({"error": {"message": message}}).encode()
    model.faults = {"thought": [(400, {"Content-Type": "application/json"}, body)]}
    provider = opened()
    for seed in (1, 2):
        assert provider.asker.ask("think", thought_form(), seed).startswith("Notes")
    lengths = [{name: one[name] for name in one if name.startswith("max_")} for one in model.asked]
    newer = {"max_completion_tokens": 300}
    assert lengths == [{"max_tokens": 300}, newer, newer]
    assert {one["response_format"]["type"] for one in model.asked} == {"json_schema"}
