"""Claims about the grammar of a call: only what the schema and the request allow can be said."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.calls.call_grammar import (
    ArgumentRules,
    call_opening,
    copyable,
    literal,
    numbers_in,
)
from ctrag.agents.catalogue.tool import CatalogueTool

SAID = 'book me 2 nights in San Jose, the "Grand" hotel, for 1,250.50 at most'
HOTEL = CatalogueTool(
    "hotel.book",
    "Book a room",
    parameters={
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer"},
            "budget": {"type": "float"},
            "extras": {"type": "array", "items": {"type": "string"}},
            "view": {"type": "string", "enum": ["sea", 'the "city"']},
            "guest": {
                "type": "dict",
                "properties": {"name": {"type": "string"}, "vip": {"type": "boolean"}},
            },
        },
        "required": ["city", "nights"],
    },
)


@pytest.fixture(scope="module")
def tokens() -> Any:
    """A vocabulary of single bytes: what is said does not hang on any model."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {sign: place for place, sign in enumerate([*signs, "<end>"])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<end>"])
    return made


def allowed(tokens: Any, folder: Path, tool: CatalogueTool, said: str, call: str) -> bool:
    import llguidance

    path = folder / "tokenizer.json"
    tokens.save(str(path))
    guide = llguidance.LLTokenizer(str(path), eos_token=tokens.token_to_id("<end>"))
    grounds = ArgumentRules(said, said)
    arguments = grounds.value("", {**tool.parameters, "type": "object"}, True)
    begin = call_opening(tool).removesuffix("{")
    lark = grounds.lark(f"{literal(begin)} {arguments} {literal('}')}")
    matcher = llguidance.LLMatcher(guide, llguidance.LLMatcher.grammar_from_lark(lark), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    ids = tokens.encode(call).ids
    return matcher.validate_tokens(ids) == len(ids) and bool(
        matcher.consume_tokens(ids) and matcher.is_accepting()
    )


def call(**arguments: Any) -> str:
    return json.dumps({"name": "hotel.book", "arguments": arguments})


@pytest.mark.parametrize(
    ("said", "possible"),
    [
        pytest.param(call(city="San Jose", nights=2), True, id="optional-ones-left-out"),
        pytest.param(call(city="Santa Fe", nights=2), False, id="a-place-nobody-named"),
        pytest.param(call(city="an Jose", nights=2), False, id="half-a-word"),
        pytest.param(call(city="", nights=2), False, id="nothing"),
        pytest.param(call(city=" San Jose", nights=2), False, id="a-space-before"),
        pytest.param(call(city="San Jose", nights=3), False, id="a-number-nobody-named"),
        pytest.param(call(nights=2), False, id="required-one-missing"),
        pytest.param(call(nights=2, city="San Jose"), False, id="another-order"),
        pytest.param(
            call(city="San Jose", nights=2, budget=1250.5), True, id="a-number-with-comma"
        ),
        pytest.param(call(city="San Jose", nights=1250.5), False, id="no-whole-number"),
        pytest.param(
            call(city="San Jose", nights=2, extras=["Grand", "San Jose"]), True, id="a-list"
        ),
        pytest.param(call(city="San Jose", nights=2, extras=[]), False, id="an-empty-list"),
        pytest.param(call(city="San Jose", nights=2, view="sea"), False, id="an-enum-not-said"),
        pytest.param(call(city="San Jose", nights=2, view="hotel"), False, id="outside-the-enum"),
        pytest.param(call(city="San Jose", nights=2, guest={}), True, id="an-object"),
        pytest.param(call(city="San Jose", nights=2, guest={"vip": True}), False, id="not-said"),
        pytest.param(call(city="San Jose", nights=2, guest={"age": 2}), False, id="unknown-key"),
    ],
)
def test_a_call_is_possible_if_schema_and_request_ground_it(
    tokens: Any, tmp_path: Path, said: str, possible: bool
) -> None:
    assert allowed(tokens, tmp_path, HOTEL, SAID, said) is possible


def test_a_required_number_that_nobody_named_is_open_and_an_optional_one_is_left_out(
    tokens: Any, tmp_path: Path
) -> None:
    said = "book me a room in San Jose"
    assert allowed(tokens, tmp_path, HOTEL, said, call(city="San Jose", nights=77))
    assert not allowed(tokens, tmp_path, HOTEL, said, call(city="San Jose", nights=1, budget=5))


def test_a_tool_without_parameters_has_one_call(tokens: Any, tmp_path: Path) -> None:
    tool = CatalogueTool("log_out", "Ends the session", "web")
    assert call_opening(tool) == '{"name": "web/log_out", "arguments": {'
    assert allowed(tokens, tmp_path, tool, "", '{"name": "web/log_out", "arguments": {}}')


def test_with_nothing_said_a_required_string_is_empty(tokens: Any, tmp_path: Path) -> None:
    assert allowed(tokens, tmp_path, HOTEL, " \n", call(city="", nights=1))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("two tickets for 3.5 or -4", [2, 3.5, -4]),
        ("1,250 people, 12 of 12", [1250, 12]),
        ("version v2 of mp3", []),
        ("Ten at 10", [10]),
        ("", []),
    ],
)
def test_numbers_are_read_in_the_texts_order_each_once(text: str, found: list[float]) -> None:
    assert numbers_in(text) == found


def test_what_is_copied_needs_no_escapes() -> None:
    assert copyable(' a "b"\n\tc\\d\u2028e ') == "a b c d e"
