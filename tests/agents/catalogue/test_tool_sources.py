"""Tools from OpenAPI documents, functions and LangChain tools."""

import enum
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from ctrag.agents.catalogue.openapi import read_openapi
from ctrag.agents.catalogue.sources import (
    schema_of,
    tools_from_functions,
    tools_from_langchain,
    tools_from_openapi,
)
from ctrag.agents.catalogue.tool import load_catalogue

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Pet Shop", "version": "7"},
    "paths": {
        "/pets/{pet_id}": {
            "parameters": [{"$ref": "#/components/parameters/pet"}],
            "get": {
                "operationId": "getPet",
                "summary": "Tell about a pet.",
                "tags": ["pets"],
                "parameters": [
                    {"name": "detail", "in": "query", "description": "How much", "schema": {"enum": ["low", "high"]}}
                ],
            },
            "put": {
                "description": "Change a pet.",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
            },
        },
        "/pets": {"post": {"requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}}}},
    },
    "components": {
        "parameters": {"pet": {"name": "pet_id", "in": "path", "schema": {"type": "integer"}}},
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "mother": {"$ref": "#/components/schemas/Pet"}},
            }
        },
    },
}  # fmt: skip


def test_each_operation_of_an_openapi_document_is_a_tool(tmp_path: Path) -> None:
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(DOCUMENT))
    get, put, post = load_catalogue(path)
    assert (get.id, get.description, get.category, get.version) == (
        "pet_shop/getPet",
        "Tell about a pet",
        "pets",
        "7",
    )
    assert get.parameters == {
        "type": "object",
        "properties": {
            "pet_id": {"type": "integer"},
            "detail": {"enum": ["low", "high"], "description": "How much"},
        },
        "required": ["pet_id"],
    }
    assert put.name == "put_pets_pet_id"
    assert list(put.parameters["properties"]) == ["pet_id", "name", "mother"]
    assert put.parameters["required"] == ["pet_id", "name"]
    assert post.parameters["properties"] == {"body": {"type": "string"}}
    assert post.description == "POST /pets"


def test_a_schema_that_holds_itself_stays_as_small_as_it_is_written() -> None:
    [_, put, _] = tools_from_openapi(DOCUMENT)
    assert put.parameters["properties"]["mother"] == {"$ref": "#/$defs/Pet"}
    pet = put.parameters["$defs"]["Pet"]
    assert pet["properties"]["mother"] == {"$ref": "#/$defs/Pet"}


def test_version_2_documents_have_a_body_among_their_parameters() -> None:
    body = {"in": "body", "name": "pet", "schema": {"properties": {"name": {"type": "string"}}}}
    query = {"in": "query", "name": "dry", "type": "boolean", "required": True}
    document = {
        "swagger": "2.0",
        "info": {"title": "Shop"},
        "paths": {"/pets": {"post": {"parameters": [body, query]}}},
    }
    [tool] = tools_from_openapi(document)
    assert tool.parameters == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "dry": {"type": "boolean"}},
        "required": ["dry"],
    }


def test_what_is_no_openapi_document_is_refused() -> None:
    with pytest.raises(ValueError, match="paths: an OpenAPI document must map paths"):
        tools_from_openapi({"openapi": "3.0.0"})


def test_a_repeated_operation_id_costs_the_second_operation_its_name_alone() -> None:
    twice = {"get": {"operationId": "same"}, "post": {"operationId": "same"}}
    api = read_openapi({"openapi": "3.0.0", "paths": {"/a": twice, "/b": {"get": {}}}})
    assert [tool.name for tool in api.tools] == ["same", "post_a", "get_b"]
    assert list(api.problems) == ["POST /a"]
    assert "has the operationId 'same' of another operation" in api.problems["POST /a"]


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


def order(
    drink: str, size: Size, shots: Annotated[int, "espresso shots"] = 1, milk: str | None = None, *extras: str
) -> None:  # fmt: skip
    """Order a drink
    at the bar.

    Args:
        drink: What to make,
            spelled out.
        milk (str): Which milk.

    Returns:
        Nothing.
    """


def test_a_functions_signature_and_docstring_are_a_tool() -> None:
    [tool] = tools_from_functions([order], "bar")
    assert (tool.id, tool.description) == ("bar/order", "Order a drink at the bar.")
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "drink": {"type": "string", "description": "What to make, spelled out."},
            "size": {"enum": ["s", "l"]},
            "shots": {"type": "integer", "description": "espresso shots"},
            "milk": {"type": "string", "description": "Which milk."},
        },
        "required": ["drink", "size"],
    }
    with pytest.raises(ValueError, match="has no name; define it with `def`"):
        tools_from_functions([lambda: None])


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (bool, {"type": "boolean"}),
        (float | None, {"type": "number"}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object"}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (tuple, {"type": "array"}),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
        (Annotated[str, Field(description="whom")], {"type": "string", "description": "whom"}),
        (Annotated[str, "whom"] | None, {"type": "string", "description": "whom"}),
        (list[Annotated[str, 5]], {"type": "array", "items": {"type": "string"}}),
        (object, {}),
    ],
)
def test_annotations_become_json_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert schema_of(annotation) == schema


def test_langchain_tools_are_read_by_what_they_offer() -> None:
    if find_spec("langchain_core") is None:
        pytest.skip("langchain-core is not installed: pip install 'ctrag[langchain]'")
    from langchain_core.tools import tool

    @tool
    def add(first: int, second: int) -> int:
        """Add two numbers."""
        return first + second

    [made] = tools_from_langchain([add], "sums")
    assert (made.id, made.description) == ("sums/add", "Add two numbers.")
    assert list(made.parameters["properties"]) == ["first", "second"]
    with pytest.raises(ValueError, match="object has no name"):
        tools_from_langchain([object()])


def test_paths_of_the_same_words_have_a_hash_of_the_path_in_any_order() -> None:
    paths = {
        "/users/{id}": {"get": {"summary": "Get a user"}},
        "/users/id": {"get": {"summary": "Get the own id"}},
        "/id": {"get": {"operationId": "get_users_id"}},
    }

    def names(paths: dict[str, Any]) -> dict[str, str]:
        document = {"openapi": "3.0.0", "info": {"title": "Desk"}, "paths": paths}
        return {one.description: one.name for one in tools_from_openapi(document)}

    named = names(paths)
    assert named == names(dict(reversed(paths.items())))
    assert len(set(named.values())) == 3
    assert named["GET /id"] == "get_users_id"


class Colour(enum.Enum):
    RED = "red"


def test_a_literal_of_an_enumeration_is_its_value() -> None:
    assert schema_of(Literal[Colour.RED, "blue"]) == {"enum": ["red", "blue"]}
