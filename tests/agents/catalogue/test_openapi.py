"""What becomes of an OpenAPI document: all of it, as small as it is written."""

import json
from typing import Any

import pytest

from ctrag.agents.catalogue.effects import effect_of
from ctrag.agents.catalogue.formats import wire_names
from ctrag.agents.catalogue.openapi import read_openapi
from ctrag.agents.catalogue.openapi_names import server_name
from ctrag.agents.catalogue.shown import shown_schema
from ctrag.agents.catalogue.tool import read_catalogue


def document(operation: dict[str, Any], **more: Any) -> dict[str, Any]:
    paths = {"/a": {"post": {"operationId": "it", **operation}}}
    return {"openapi": "3.0.3", "info": {"title": "T"}, "paths": paths, **more}


def body(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, **more}}


def schemas(**named: Any) -> dict[str, Any]:
    return {"components": {"schemas": named}}


def reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize("members", [5, 7, 20])
def test_a_schema_that_refers_to_itself_many_times_stays_small(members: int) -> None:
    node = {"type": "object", "properties": {f"c{n}": reference("N") for n in range(members)}}
    [tool] = read_openapi(document(body(reference("N")), **schemas(N=node))).tools
    assert len(json.dumps(tool.parameters)) < 200 + 60 * members
    assert tool.parameters["$defs"]["N"]["properties"]["c0"] == {"$ref": "#/$defs/N"}


def test_schemas_that_refer_to_each_other_stay_small() -> None:
    named = {
        f"S{n}": {"type": "object", "properties": {f"p{m}": reference(f"S{m}") for m in range(10)}}
        for n in range(10)
    }
    [tool] = read_openapi(document(body(reference("S0")), **schemas(**named))).tools
    assert len(json.dumps(tool.parameters)) < 6_000
    assert len(tool.parameters["$defs"]) == 10


def test_definitions_beyond_all_measure_are_kept_as_their_type_nearest_first() -> None:
    named = {
        f"S{n}": {
            "type": "object",
            "properties": {"t": {"description": "d" * 5_000}, "next": reference(f"S{n + 1}")},
        }
        for n in range(60)
    } | {"S60": {"type": "string"}}
    [tool] = read_openapi(document(body(reference("S0")), **schemas(**named))).tools
    kept = tool.parameters["$defs"]
    assert "properties" in kept["S1"]
    assert kept[list(kept)[-1]] == {"type": "object"}
    assert len(json.dumps(tool.parameters)) < 170_000
    assert len(json.dumps(shown_schema(tool.parameters)[0])) <= 13_000


def test_of_a_body_in_parts_all_arguments_are_taken_and_required_ones_stay_so() -> None:
    parts = {
        "allOf": [
            reference("P"),
            {"properties": {"bic": {}, "id": {"readOnly": True}}, "required": ["bic", "id"]},
        ]
    }
    pay = {"type": "object", "properties": {"iban": {"type": "string"}}, "required": ["iban"]}
    [tool] = read_openapi(document(body(parts, required=True), **schemas(P=pay))).tools
    assert list(tool.parameters["properties"]) == ["iban", "bic"]
    assert tool.parameters["required"] == ["iban", "bic"]


def test_a_body_of_alternatives_is_one_argument_required_where_the_body_is() -> None:
    either = {"oneOf": [{"properties": {"a": {}}}, {"type": "array", "items": {}}]}
    [tool] = read_openapi(document(body(either, required=True))).tools
    assert list(tool.parameters["properties"]) == ["body"]
    assert tool.parameters["required"] == ["body"]


def test_arguments_of_one_name_in_all_places_are_kept() -> None:
    places = ["path", "query", "header", "cookie"]
    given = [{"name": "id", "in": place, "schema": {"title": place}} for place in places]
    [tool] = read_openapi(
        document({"parameters": given, **body({"properties": {"id": {"title": "body"}}})})
    ).tools
    told = {name: one["title"] for name, one in tool.parameters["properties"].items()}
    assert told == {
        "id": "path", "id_query": "query", "id_header": "header", "id_cookie": "cookie",
        "id_body": "body",
    }  # fmt: skip


def test_what_the_path_needs_is_an_argument_declared_or_not() -> None:
    paths = {
        "/a/{id}/{n}": {"get": {"parameters": [{"name": "n", "in": "path", "type": "integer"}]}}
    }
    [tool] = read_openapi({"swagger": "2.0", "paths": paths}).tools
    assert tool.parameters["properties"] == {"n": {"type": "integer"}, "id": {"type": "string"}}
    assert tool.parameters["required"] == ["n", "id"]


def test_a_choice_of_required_properties_alone_leaves_them_arguments() -> None:
    either = {"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    [tool] = read_openapi(document(body(either))).tools
    assert list(tool.parameters["properties"]) == ["a", "b"]


def test_operations_that_are_none_are_named_and_those_of_3_2_are_tools() -> None:
    paths = {
        "/a": {"get": "x", "query": {}, "additionalOperations": {"COPY": {"operationId": "copy"}}},
        "/b": None,
        "x-note": {"a": 1},
    }
    found = read_openapi({"openapi": "3.2.0", "paths": paths})
    assert [one.name for one in found.tools] == ["query_a", "copy"]
    assert [found.operations[one].method for one in ("query_a", "copy")] == ["QUERY", "COPY"]
    assert list(found.problems) == ["GET /a", "/b"]


def test_a_parameter_of_the_operation_replaces_that_of_its_path() -> None:
    common = {"name": "n", "in": "query", "schema": {"type": "string"}}
    own = {**common, "schema": {"type": "integer"}, "required": True}
    paths = {"/a": {"parameters": [common], "get": {"operationId": "it", "parameters": [own]}}}
    [tool] = read_openapi({"openapi": "3.0.0", "paths": paths}).tools
    assert tool.parameters["properties"] == {"n": {"type": "integer"}}


def test_parameters_are_read_however_they_are_listed_and_what_cannot_be_sent_is_said() -> None:
    text = {"schema": {"type": "string"}}
    listed = [{"name": "a", "in": "Query", **text}, {"name": "b", "in": "querystring", **text}]
    paths = {
        "/list": {"get": {"operationId": "list", "parameters": listed}},
        "/table": {"get": {"operationId": "table", "parameters": {"c": {"in": "query", **text}}}},
    }
    found = read_openapi({"openapi": "3.2.0", "paths": paths})
    assert [[*one.parameters["properties"]] for one in found.tools] == [["a"], ["c"]]
    assert found.problems == {"GET /list: parameter b": "is in 'querystring', which cannot be sent"}


def test_parameters_and_bodies_that_stand_in_other_files_are_said() -> None:
    version = {"$ref": "../common-types/v1/types.json#/parameters/ApiVersion"}
    operation = {
        "operationId": "it",
        "parameters": [version, {"$ref": "#/parameters/Top"}],
        "requestBody": {"$ref": "bodies.json#/Pet"},
    }
    top = {"Top": {"name": "$top", "in": "query", "type": "integer"}}
    path = {"/pets": {"post": operation}}
    found = read_openapi({"swagger": "2.0", "parameters": top, "paths": path})
    assert list(found.tools[0].parameters["properties"]) == ["$top"]
    assert found.problems == {
        "POST /pets: parameter ApiVersion": f"{version['$ref']} is not in the "
        "document, so it is not sent",
        "POST /pets: the body": "bodies.json#/Pet is not in the document, so it is not sent",
    }


def test_a_body_of_json_without_a_schema_may_be_anything() -> None:
    content = {"application/json": {}}
    operation = {"operationId": "it", "requestBody": {"content": content}}
    [tool] = read_openapi({"openapi": "3.0.3", "paths": {"/a": {"post": operation}}}).tools
    assert tool.parameters["properties"] == {"body": {}}


def test_openapis_own_keywords_become_those_of_json_schema() -> None:
    schema = {
        "properties": {
            "a": {"type": "integer", "nullable": True, "minimum": 0, "exclusiveMinimum": True},
            "b": {"type": "string", "example": "x", "xml": {"name": "b"}, "x-order": 1},
        }
    }
    [tool] = read_openapi(document(body(schema))).tools
    assert tool.parameters["properties"] == {
        "a": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "b": {"type": "string"},
    }


HIDDEN = """\
Authorization X-API-Key Host Content-Type token X-RapidAPI-Key Ocp-Apim-Subscription-Key X-Api-Token
X-Authorization X-Auth-Key Private-Token X-Vault-Token X-Shopify-Access-Token xi-api-key
x-goog-api-key DD-APPLICATION-KEY X-Subscription-Token client_secret X-Auth-Token APIKey Cookie
""".split()
SHOWN = """\
Idempotency-Key X-CSRF-Token X-Continuation-Token Lock-Token X-Page-Token X-Partition-Key X-Secretary
X-Auth-Email Accept-Language X-Next-Token
""".split()


@pytest.mark.parametrize("name", HIDDEN)
def test_headers_of_credentials_and_of_the_connection_are_no_arguments(name: str) -> None:
    header = {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
    [tool] = read_openapi(document({"parameters": [header]})).tools
    assert tool.parameters == {"type": "object", "properties": {}}


@pytest.mark.parametrize("name", SHOWN)
def test_headers_that_hold_no_credential_are_arguments(name: str) -> None:
    header = {"name": name, "in": "header", "schema": {"type": "string"}}
    [tool] = read_openapi(document({"parameters": [header]})).tools
    assert list(tool.parameters["properties"]) == [name]


def test_credentials_in_a_query_are_told_from_other_keys_and_tokens() -> None:
    secret = "api_key apiKey apikey access_token oauth_token api_token client_secret access_key"
    other = "pageToken next_page_token sync_token project_key key token sort_key session_token"
    listed = [{"name": one, "in": "query", "schema": {}} for one in f"{secret} {other}".split()]
    [tool] = read_openapi(document({"parameters": listed})).tools
    assert list(tool.parameters["properties"]) == other.split()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Pet Shop", "pet_shop"),
        ("GitHub's official OpenAPI spec + Octokit extension", "github_octokit"),
        ("Acme's Very Official And Complete Enterprise Platform Interface", "acme_very"),
        ("The Official Web Services Documentation", "the_official_web"),
        ("", ""),
    ],
)
def test_a_long_title_is_shortened_to_a_servers_name(title: str, name: str) -> None:
    assert server_name(title) == name


def test_names_with_slashes_need_no_hash() -> None:
    paths = {"/a": {"get": {"operationId": "issues/create"}}, "/b": {"get": {"operationId": "x/y"}}}
    api = read_openapi({"openapi": "3.0.0", "info": {"title": "Hub"}, "paths": paths})
    assert list(wire_names(api.tools)) == ["hub__issues__create", "hub__x__y"]


def test_a_server_may_be_named_for_any_catalogue(tmp_path: Any) -> None:
    path = tmp_path / "tools.json"
    path.write_text('[{"name": "a"}, {"name": "b", "server": "own"}]', encoding="utf-8")
    assert [tool.id for tool in read_catalogue(path, "s").tools] == ["s/a", "own/b"]


def test_the_command_that_searches_names_the_server_too(tmp_path: Any) -> None:
    from typer.testing import CliRunner

    from ctrag.cli.main import app

    path = tmp_path / "api.json"
    path.write_text(json.dumps(document({"summary": "Pay a bill"})), encoding="utf-8")
    options = ["--catalogue", str(path), "--server-name", "bank", "--lexical", "--json"]
    ran = CliRunner().invoke(app, ["tools", "search", "pay a bill", *options])
    assert [one["id"] for one in json.loads(ran.stdout)] == ["bank/it"]


@pytest.mark.parametrize(
    ("verb", "effect"),
    [
        ("get", "reads"),
        ("head", "reads"),
        ("options", "reads"),
        ("post", "changes"),
        ("patch", "changes"),
        ("put", "settles"),
        ("delete", "settles"),
    ],
)
def test_an_operation_does_what_its_method_promises(verb: str, effect: str) -> None:
    api = read_openapi(
        {
            "openapi": "3.1.0",
            "info": {"title": "Library", "version": "1"},
            "paths": {"/books/{isbn}": {verb: {"operationId": "book"}}},
        }
    )
    (tool,) = api.tools
    assert effect_of(tool) == effect
    hints = tool.mcp["annotations"]
    assert hints.get("destructiveHint", False) is (verb == "delete")


@pytest.mark.parametrize(
    ("path", "declared", "names"),
    [
        ("/files/{path*}", "path", ["path"]),
        ("/files/{+path}", "path", ["path"]),
        ("/files/{proxy+}", "proxy", ["proxy"]),
        ("/files/{path:path}", "path", ["path"]),
        ("/files/{id:int}", "id", ["id"]),
        ("/files/{path*}", "path*", ["path*"]),
        ("/files/:id/parts", "id", ["id"]),
        ("/files/12:30", "id", ["id"]),
    ],
)
def test_a_routers_placeholder_is_the_parameter_that_is_declared(
    path: str, declared: str, names: list[str]
) -> None:
    needed = {"name": declared, "in": "path", "schema": {"type": "string"}}
    [tool] = read_openapi(
        {"openapi": "3.0.3", "paths": {path: {"get": {"parameters": [needed]}}}}
    ).tools
    assert list(tool.parameters["properties"]) == names


def test_what_only_answers_have_is_not_asked_for_at_any_depth() -> None:
    line = {
        "properties": {"id": {"readOnly": True}, "sku": {"type": "string"}},
        "required": ["id", "sku"],
    }
    order = {"properties": {"line": reference("Line"), "paid": {"readOnly": True}}}
    [tool] = read_openapi(document(body(order), **schemas(Line=line))).tools
    assert list(tool.parameters["properties"]) == ["line"]
    assert tool.parameters["$defs"]["Line"] == {
        "properties": {"sku": {"type": "string"}},
        "required": ["sku"],
    }


def test_further_fields_of_a_body_are_allowed_where_the_document_allows_them() -> None:
    fields = {"properties": {"name": {}}, "additionalProperties": {"type": "string"}}
    api = read_openapi(document(body(fields)))
    assert api.tools[0].parameters["additionalProperties"] == {"type": "string"}
    assert api.operations["it"].open_body
    closed = read_openapi(document(body({"properties": {"name": {}}})))
    assert not closed.operations["it"].open_body


@pytest.mark.parametrize("kind", [["object", None], ["null", "object"], "object", None])
def test_a_body_that_may_be_null_has_its_fields_as_arguments(kind: Any) -> None:
    fields = {"type": kind, "properties": {"due": {"type": ["string", None]}}}
    [tool] = read_openapi(document(body(fields))).tools
    assert tool.parameters["properties"] == {"due": {"type": ["string", "null"]}}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"$ref": "#/definitions/Patch"}, "application/merge-patch+json"),
        ({"type": "array", "items": {}}, "application/json-patch+json"),
    ],
)
def test_a_patch_is_a_list_of_changes_only_where_its_body_is_a_list(
    schema: dict[str, Any], sent: str
) -> None:
    kinds = [f"application/{one}patch+json" for one in ("json-", "merge-", "strategic-merge-")]
    parameter = {"name": "body", "in": "body", "required": True, "schema": schema}
    operation = {"operationId": "it", "consumes": kinds, "parameters": [parameter]}
    old = {
        "swagger": "2.0",
        "paths": {"/pods": {"patch": operation}},
        "definitions": {"Patch": {"type": "object", "description": "A patch."}},
    }
    assert read_openapi(old).operations["it"].content_type == sent
    content = {kind: {"schema": {"type": "object"}} for kind in kinds}
    new = document({"requestBody": {"content": content}})
    assert read_openapi(new).operations["it"].content_type == "application/merge-patch+json"


def test_a_body_of_xml_is_a_text_and_not_an_object_that_nobody_can_write() -> None:
    kinds = {"application/xml": {"schema": {"properties": {"name": {}}}}}
    [tool] = read_openapi(document({"requestBody": {"content": kinds}})).tools
    assert tool.parameters["properties"] == {
        "body": {"type": "string", "description": "The body as application/xml."}
    }


def test_a_schemas_own_definitions_are_found_and_references_to_other_files_are_said() -> None:
    fields = {
        "$defs": {"Point": {"type": "array"}},
        "properties": {"at": {"$ref": "#/$defs/Point"}, "else": {"$ref": "other.yaml#/A"}},
    }
    api = read_openapi(document(body(fields)))
    [tool] = api.tools
    assert tool.parameters["properties"] == {"at": {"$ref": "#/$defs/Point"}, "else": {}}
    assert tool.parameters["$defs"] == {"Point": {"type": "array"}}
    assert list(api.problems) == ["other.yaml#/A"]
