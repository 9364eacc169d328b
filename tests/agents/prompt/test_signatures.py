"""Tools in one line, and prompts that show some tools so."""

import json

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.signatures import bare_parameters, first_sentence, signature_line
from ctrag.agents.prompt.tool_documents import make_documents
from tests.agents.prompt.toys import TOOLS, builder, count_words

PARAMETERS = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "description": "Such as '#W1'."},
        "count": {"type": "integer", "description": "How many."},
        "items": {"type": "array", "items": {"type": "string"}},
        "reason": {"type": "string", "enum": ["late", "wrong"], "description": "Why."},
        "where": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
    "required": ["order_id", "reason"],
}


def test_a_line_has_all_arguments_their_kinds_and_the_first_sentence() -> None:
    assert signature_line("cancel", "Cancel an order. It is final.", PARAMETERS) == (
        "cancel(order_id, count?: int, items?: [string], reason: late|wrong, "
        "where?: {city: string}): Cancel an order."
    )


def test_long_lists_of_choices_are_cut_and_odd_schemas_are_any() -> None:
    parameters = {"properties": {"a": {"enum": list(range(20))}, "b": None, "c": {"type": ["x"]}}}
    line = signature_line("f", "Does it", parameters)
    assert line == "f(a?: 0|1|2|3|4|5|6|7|..., b?: any, c?: any): Does it"
    assert signature_line("g", "", {}) == "g(): "


def test_the_first_sentence_ends_at_a_full_stop_or_a_line() -> None:
    assert first_sentence(" One. Two.") == "One."
    assert first_sentence("One\nTwo") == "One"


def test_bare_parameters_lose_their_descriptions_and_nothing_that_a_call_needs() -> None:
    bare = bare_parameters(PARAMETERS)
    assert "description" not in json.dumps(bare)
    assert bare["required"] == PARAMETERS["required"]
    assert list(bare["properties"]) == list(PARAMETERS["properties"])  # type: ignore[call-overload]
    assert bare["properties"]["reason"]["enum"] == ["late", "wrong"]
    assert bare["properties"]["where"]["properties"] == {"city": {"type": "string"}}


def test_choices_of_schemas_references_and_constants_are_kept() -> None:
    """What pydantic writes for an optional number, a model within a model and a literal."""
    address = {"type": "object", "properties": {"city": {"type": "string", "description": "x"}}}
    parameters = {
        "type": "object",
        "properties": {
            "count": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "x"},
            "to": {"$ref": "#/$defs/Address"},
            "kind": {"const": "mail"},
            "tree": {"$ref": "#/$defs/Tree"},
            "far": {"$ref": "https://example.org/schema"},
        },
        "required": ["to"],
        "$defs": {
            "Address": address,
            "Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        },
    }
    bare = bare_parameters(parameters)
    assert bare["properties"]["count"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert bare["properties"]["to"] == {"$ref": "#/$defs/Address"}
    assert bare["properties"]["kind"] == {"const": "mail"}
    assert bare["$defs"]["Address"]["properties"] == {"city": {"type": "string"}}
    assert signature_line("send", "Send.", parameters) == (
        "send(count?: int|null, to: {city: string}, kind?: mail, tree?: [[[[any]]]], far?: any): "
        "Send."
    )


def test_an_argument_may_be_named_like_a_word_of_the_schema() -> None:
    odd = {"type": "object", "properties": {"description": {"type": "string"}, "type": {}}}
    assert list(bare_parameters(odd)["properties"]) == ["description", "type"]


def test_a_prompt_shows_the_likeliest_whole_and_the_next_in_one_line() -> None:
    settings = PromptSettings(tools=1, signatures=2, discovery="off")
    prompt = builder(settings=settings).build("cancel my order", 500)
    assert [tool.id for tool in prompt.tools] == ["shop/cancel_order"]
    assert len(prompt.signatures) == 2
    assert not {one.id for one in prompt.tools} & {one.id for one in prompt.signatures}
    for tool in prompt.signatures:
        assert tool.signature in prompt.text
        assert tool.line not in prompt.text
    assert prompt.exposed == (*prompt.tools, *prompt.signatures)


def test_a_second_tool_is_whole_only_where_it_is_likely_enough() -> None:
    def whole(share: float) -> int:
        settings = PromptSettings(tools=2, whole_share=share, discovery="off")
        return len(builder(settings=settings).build("cancel or return my order", 500).tools)

    assert whole(0.0) == 2
    assert whole(1.0) == 1  # the first one always is


def test_chat_tools_in_short_keep_names_and_required_arguments() -> None:
    tools = make_documents(
        [CatalogueTool("cancel", "Cancel. For good.", "shop", PARAMETERS)], {}, count_words
    )
    settings = PromptSettings(tools=0, signatures=1, discovery="off")
    found = builder(settings=settings).build("cancel my order", 500)
    assert found.tools == ()
    assert len(found.openai()["tools"]) == 1
    assert tools[0].signature.startswith("cancel(order_id, ")
    assert found.anthropic()["tools"][0]["name"] == TOOLS[0].name


def test_signatures_go_before_the_likeliest_fragment_does() -> None:
    roomy = builder(settings=PromptSettings(tools=1, discovery="off"))
    whole = roomy.build("cancel my order", 500)
    tight = roomy.build("cancel my order", whole.tokens - 3)
    assert tight.tokens <= whole.tokens - 3
    assert tight.fragments
