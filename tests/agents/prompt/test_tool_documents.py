"""Tool documents: what a schema and notes say, within their length."""

import json
import re
from pathlib import Path

import pytest

from ctrag.agents.catalogue.formats import json_schema
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.prompt.tool_documents import LARGEST, ToolNotes, load_documents, make_documents
from tests.agents.prompt.toys import count_words

ROWS = [
    {
        "name": "find_user",
        "domain": "shop",
        "description": "Find a user.",
        "effect": "read",
        "fails_when": "the user is unknown",
        "parameters": {
            "type": "object",
            "properties": {
                "zip": {"type": "string", "description": "The zip code, such as '12345'."},
                "limit": {"type": "integer"},
                "kind": {"type": "string", "enum": ["old", "new"]},
            },
            "required": ["zip", "limit", "kind"],
        },
    },
    {"name": "find_user", "domain": "air", "description": "Find a passenger."},
]


def test_a_document_says_needs_effect_failure_and_an_exemplar(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    first, second = load_documents(path, count_words)
    assert first.id == "shop/find_user"
    assert first.description.splitlines() == [
        "Find a user.",
        "Needs: zip, limit, kind known",
        "After: changes nothing",
        "Fails: the user is unknown",
        'Example: shop__find_user(zip="12345", limit=1, kind="old")',
    ]
    assert json.loads(first.line)["parameters"] == ROWS[0]["parameters"]
    assert json.loads(first.bare_line)["description"] == "Find a user."
    assert [first.name, second.name] == ["shop__find_user", "air__find_user"]


def test_what_notes_say_stands_instead_of_what_is_derived() -> None:
    notes = ToolNotes(
        preconditions=("the user was asked",),
        postconditions=("a mail goes out",),
        exemplars=("a(x=1)", "a(x=2)", "a(x=3)"),
        negative_examples=("what is the weather",),
    )
    [document] = make_documents([CatalogueTool("a", "Do a.")], {"a": notes}, count_words)
    assert document.needs == ("the user was asked",)
    assert document.exemplars == ("a(x=1)", "a(x=2)")
    assert document.description.endswith("Not for: what is the weather")


def test_names_are_unique_and_fit_for_function_calling() -> None:
    tools = [CatalogueTool(name, "x") for name in ("a.b", "a_b", "x" * 80)]
    names = [one.name for one in make_documents(tools, {}, count_words)]
    assert len(set(names)) == 3
    assert all(len(name) <= 64 and name.replace("_", "").isalnum() for name in names)


def test_names_of_other_scripts_become_ascii_which_chat_apis_ask_for() -> None:
    tools = [CatalogueTool(name, "x") for name in ("überweisen", "取消", "订购", "send_邮件", "_")]
    names = [one.name for one in make_documents(tools, {}, count_words)]
    assert names[0] == "uberweisen"
    assert names[3] == "send___"
    assert len(set(names)) == 5
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)


def test_long_names_that_begin_alike_stay_apart_in_any_order() -> None:
    tools = [CatalogueTool("x" * 64 + end, "x") for end in "abc"]
    names = {one.tool.id: one.name for one in make_documents(tools, {}, count_words)}
    turned = {one.tool.id: one.name for one in make_documents(tools[::-1], {}, count_words)}
    assert names == turned
    assert len(set(names.values())) == 3
    assert max(map(len, names.values())) <= 64


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_an_openapi_document_is_a_catalogue_without_notes(tmp_path: Path, suffix: str) -> None:
    operation = {"operationId": "cancel_order", "summary": "Cancel an order."}
    document = {
        "openapi": "3.0.0",
        "info": {"title": "Shop"},
        "paths": {"/orders": {"post": operation}},
    }
    path = tmp_path / f"api.{suffix}"
    path.write_text(json.dumps(document), encoding="utf-8")
    [found] = load_documents(path, count_words)
    assert (found.id, found.name) == ("shop/cancel_order", "cancel_order")
    assert found.description.splitlines()[0] == "Cancel an order"


def test_notes_of_a_catalogue_with_rules_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps({"tools": ROWS}), encoding="utf-8")
    assert load_documents(path, count_words)[0].fails == ("the user is unknown",)


def test_a_long_document_is_cut_and_keeps_its_arguments() -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = CatalogueTool("a", " ".join(["word"] * 2000), "", parameters)
    [document] = make_documents([tool], {}, count_words)
    assert count_words(document.line) <= LARGEST
    assert json.loads(document.line)["parameters"] == parameters


def test_type_names_of_other_catalogues_become_json_schema() -> None:
    found = json_schema(
        {
            "type": "dict",
            "properties": {
                "a": {"type": "float"},
                "b": {"type": "tuple", "items": {"type": "any"}},
            },
        }
    )
    assert found == {
        "type": "object",
        "properties": {
            "a": {"type": "number"},
            "b": {"type": "array", "items": {"type": "string"}},
        },
    }
    assert json_schema({}) == {"type": "object", "properties": {}}


def test_a_note_of_the_wrong_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text('[{"name": "a", "exemplars": 7}]', encoding="utf-8")
    with pytest.raises(ValueError, match=r"tools\.json: notes of a tool"):
        load_documents(path, count_words)
