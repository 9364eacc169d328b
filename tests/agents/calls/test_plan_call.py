"""Claims about one call of any catalogue's tools, with a model that knows nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.agents.calls.filling import filling_prompt
from ctrag.agents.calls.plan_call import CallPlanner
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.models import language_model
from ctrag.models.language_model import LanguageModel


class Words:
    """An encoder that counts the words it knows."""

    name = "words"
    known = "alarm weather wake set time forecast city song play".split()

    def encode(self, texts: Any) -> Any:
        rows = [[float(word in text.lower()) for word in self.known] + [0.1] for text in texts]
        vectors = np.array(rows, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def tool(name: str, description: str, **properties: Any) -> CatalogueTool:
    required = [key for key in properties if not key.startswith("maybe_")]
    return CatalogueTool(
        name, description, "", {"type": "object", "properties": properties, "required": required}
    )


ALARM = tool("set_alarm", "Set an alarm", time={"type": "string"}, maybe_days={"type": "integer"})
WEATHER = tool("get_weather", "Weather forecast of a city", city={"type": "string"})
SONG = tool("play_song", "Play a song", title={"type": "string"}, loud={"type": "boolean"})
TOOLS = [ALARM, WEATHER, SONG]


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> LanguageModel:
    return LanguageModel(str(tiny_llama), threads=1)


def planner(model: LanguageModel, tools: Any = TOOLS) -> CallPlanner:
    return CallPlanner(tools, encoder=Words(), model=model)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("wake me with an alarm at 7:30", "set_alarm"),
        ("weather forecast for the city of Rome", "get_weather"),
        ("play that song", "play_song"),
    ],
)
def test_retrieval_chooses_the_tool_whose_words_were_said(
    model: LanguageModel, text: str, name: str
) -> None:
    planned = planner(model).plan(text)
    assert planned.name == name
    assert planned.complete
    [known] = [one for one in TOOLS if one.name == name]
    properties = known.parameters["properties"]
    assert set(known.parameters["required"]) <= set(planned.arguments) <= set(properties)
    for key, value in planned.arguments.items():
        if properties[key]["type"] == "string":
            assert value in text
    assert planned.engine == "transformers"


def test_the_same_request_gives_the_same_call(model: LanguageModel) -> None:
    calls = planner(model)
    first, second = calls.plan("play a song"), calls.plan("play a song")
    assert (first.arguments, first.choices) == (second.arguments, second.choices)


def test_the_tools_that_were_considered_stand_best_first(model: LanguageModel) -> None:
    planned = planner(model).plan("play that song")
    scores = [one.score for one in planned.choices]
    assert planned.choices[0].tool.name == planned.name == "play_song"
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == len(TOOLS)


def test_what_all_calls_share_is_read_once(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = planner(model)
    calls.plan("play a song")
    read: list[int] = []
    forward = model.engine.forward
    monkeypatch.setattr(
        model.engine,
        "forward",
        lambda tokens, *rest, **more: read.append(len(tokens)) or forward(tokens, *rest, **more),
    )
    tool = calls.plan("wake me").choices[0].tool
    prompt, shared = filling_prompt(model, tool, " wake me")
    assert read[0] == len(prompt) - shared


def test_values_may_come_from_what_was_said_before(model: LanguageModel) -> None:
    planned = planner(model, [WEATHER]).plan("?", before="Oslo")
    assert planned.arguments["city"] in ("Oslo", "Oslo ?", "?")


def test_a_call_without_a_choice_asks_no_model(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LanguageModel, "read", lambda *_: pytest.fail("the model was asked"))
    out = CatalogueTool("log_out", "Ends the session")
    planned = planner(model, [out]).plan("log me out")
    assert (planned.name, planned.arguments, planned.engine) == ("log_out", {}, "")


def test_a_call_that_was_cut_has_no_arguments_and_says_so(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_model, "LONGEST_BOUND", 50)
    planned = planner(model, [ALARM]).plan("wake me")
    assert (planned.complete, planned.arguments) == (False, {})


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([], "the catalogue is empty"),
        ([ALARM, ALARM], "tools: 'set_alarm' appears twice; give each a server"),
    ],
)
def test_a_mistake_is_named(model: LanguageModel, tools: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        planner(model, tools)


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


TEXT = {"type": "string"}
PHONE = {"type": "string", "description": "The recipient's phone number in E.164 format"}
SMS = CatalogueTool(
    "wake_by_sms",
    "Set an alarm by SMS",
    parameters=_schema(["AccountSid", "To"], AccountSid=TEXT, To=PHONE, MediaUrl=TEXT, Body=TEXT),
)
POST = CatalogueTool(
    "play_post",
    "Play a song in a channel",
    parameters=_schema(["token", "channel_id"], token=TEXT, channel_id=TEXT, text=TEXT),
)


@pytest.mark.parametrize(
    ("text", "arguments", "missing"),
    [
        (
            "set an alarm by SMS to +15551234567 saying I am late",
            {"To": "+15551234567", "Body": "I am late"},
            ("AccountSid",),
        ),
        (
            "play 'hello team' in channel C123",
            {"channel_id": "C123", "text": "hello team"},
            ("token",),
        ),
        (
            "play 'hello team' in channel C123 with the token xoxb-77",
            {"channel_id": "C123", "token": "xoxb-77", "text": "hello team"},
            (),
        ),
        ("play a song in some channel", {}, ("token", "channel_id")),
    ],
)
def test_ids_and_credentials_are_never_made_up_and_quoted_text_goes_to_the_text(
    model: LanguageModel, text: str, arguments: dict[str, str], missing: tuple[str, ...]
) -> None:
    call = planner(model, [SMS, POST]).plan(text)
    assert call.arguments == arguments
    assert call.missing == missing
