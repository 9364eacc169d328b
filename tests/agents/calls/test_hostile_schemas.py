"""Tools whose schemas are made to break the planning of calls."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.calls.call_grammar import MOST_VALUES, ArgumentRules, call_opening, numbers_in
from ctrag.agents.calls.filling import filling_prompt, spoken
from ctrag.agents.catalogue.depth import DEEPEST, shallow
from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.search.index import ToolIndex
from ctrag.assistant.planning.grammar import literal as plan_literal
from ctrag.errors import InputError
from ctrag.text.lark import literal, spelled

CONTROL = 'a\x00\x1b\x7f\x9b\u2028"\\\u202eb'


def accepts(lark: str) -> bool:
    """Whether llguidance takes a grammar."""
    import llguidance

    return not llguidance.LLMatcher.validate_grammar(llguidance.grammar_from("lark", lark))


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


@pytest.mark.parametrize("levels", [10, 300, 400])
def test_a_schema_that_is_nested_without_end_is_cut(levels: int, tmp_path: Path) -> None:
    rows = [
        {"name": "deep", "description": "dig", "parameters": nested(levels)},
        {"name": "plain", "description": "plough"},
    ]
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(rows))
    tools = load_catalogue(file)
    assert (tools[0].parameters == nested(levels)) == (levels == 10)
    index = ToolIndex(tools, lexical_only=True)
    assert {hit.tool.name for hit in index.search("dig or plough")} == {"deep", "plain"}
    assert CatalogueTool.from_json(tools[0].to_json()) == tools[0]


def test_what_is_cut_takes_anything() -> None:
    deep: Any = []
    for _ in range(DEEPEST + 5):
        deep = [deep]
    cut = shallow(deep)
    for _ in range(DEEPEST):
        [cut] = cut
    assert cut == []


def test_both_grammars_spell_texts_alike() -> None:
    assert plan_literal is literal
    assert literal(CONTROL).isprintable() or "\u202e" in literal(CONTROL)
    assert json.loads(spelled("x\ud800")) == "x\ud800"
    assert spelled("x\ud800").encode() == b'"x\\ud800"'
    assert accepts(f"start: {literal(spelled(CONTROL))} | {literal(spelled(chr(0xD800)))}")


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [CONTROL, "\ud800", 7, None, "plain"]},
        {"enum": [f"value {n}" for n in range(20_000)]},
        {"enum": ["x" * 100_000, "short"]},
        {"enum": ["x" * 100_000]},
        {"type": "string"},
        {"type": "object", "properties": {CONTROL: {"enum": [CONTROL]}}, "required": [CONTROL]},
        {"type": "array", "items": {"enum": [CONTROL]}},
        nested(300),
    ],
    ids=lambda schema: str(schema)[:30].encode("ascii", "replace").decode(),
)
def test_the_grammar_of_a_hostile_argument_is_one(schema: dict[str, Any]) -> None:
    said = 'set "level\x7f\x9b" to value 19999'
    rules = ArgumentRules(said, said)
    value = rules.value(CONTROL, schema, True)
    if value is not None:
        assert accepts(rules.lark(f"{literal(f'{spelled(CONTROL)}: ')} {value}"))


def test_of_too_many_values_those_that_are_said_can_be_taken() -> None:
    rules = ArgumentRules("paint it ultramarine", "paint it ultramarine")
    rules.value("colour", {"enum": [*(f"c{n}" for n in range(20_000)), "ultramarine"]}, True)
    lark = rules.lark("r0")
    assert '"\\"ultramarine\\""' in lark
    assert lark.count(" | ") == MOST_VALUES - 1


@pytest.mark.parametrize("text", ["9" * 400, "-" + "9" * 400, "9" * 5000, "1" + ",000" * 200])
def test_a_number_that_is_none_is_not_read(text: str) -> None:
    assert numbers_in(f"set 7 and {text}") == [7.0]


class Characters:
    """A model whose tokens are characters."""

    def encode(self, text: str) -> list[int]:
        text.encode()  # as tokenizers do, refuses half of a surrogate pair
        return [ord(one) for one in text]

    begin = encode


def test_a_prompt_has_a_bounded_length_whatever_the_tool() -> None:
    properties = {f"p{n}": {"enum": ["\ud800" + "v" * 10_000] * 6} for n in range(5_000)}
    properties["n" * 100_000] = {"enum": []}
    tool = CatalogueTool("t" * 250, "d" * 100_000, "", {"properties": properties})
    tokens, _ = filling_prompt(Characters(), tool, "set it" * 10_000)  # type: ignore[arg-type]
    assert len(tokens) < 8_000
    assert len(spoken(tool)) == 60


def test_needed_arguments_are_spoken_of_before_others() -> None:
    names = [f"p{n}" for n in range(200)]
    tool = CatalogueTool(
        "t", "d", "", {"properties": {name: {} for name in names}, "required": names[-5:]}
    )
    assert set(names[-5:]) <= set(spoken(tool))
    assert call_opening(tool).startswith('{"name": "t"')


def test_half_a_surrogate_in_a_schema_is_named(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(r'[{"name": "a", "parameters": {"properties": {"b\ud800": {}}}}]')
    with pytest.raises(InputError, match=r"parameters: holds half of a surrogate pair"):
        load_catalogue(file)
