"""OpenAPI tools are called over HTTP at a real server, and a model chooses values alone."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from ctrag.agents.catalogue.openapi import read_openapi
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.openapi_calls import ApiSettings, OpenApiServer
from ctrag.agents.server.servers import SELF
from ctrag.agents.server.upstream import UpstreamError
from tests.agents.server.conftest import PATIENT, Topics

pytestmark = pytest.mark.anyio


class _Handler(BaseHTTPRequestHandler):
    """Answers with what it was asked, but for a few paths."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/slow":
            time.sleep(2)
        if path in ("/there", "/away"):
            self.send_response(302)
            host = self.headers["Host"] if path == "/there" else "localhost:9"
            self.send_header("Location", f"http://{host}/here?secret=1")
            self.end_headers()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = {
            "method": self.command,
            "path": self.path,
            "headers": {key.lower(): value for key, value in self.headers.items()},
            "body": body.decode("utf-8", "replace"),
        }
        content = b"x" * 50_000 if path == "/big" else json.dumps(asked).encode()
        with suppress(BrokenPipeError, ConnectionResetError):  # nobody waits any more
            self.send_response(404 if path == "/missing" else 200)
            self.send_header("Content-Type", "text/plain" if path == "/big" else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    do_POST = do_PUT = do_GET  # noqa: N815  # the names that http.server calls

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


Call = Callable[..., Any]


def operation(path: str, verb: str, **more: Any) -> dict[str, Any]:
    """A document with one operation, named `it`."""
    kept = {key: more.pop(key) for key in ("components", "security", "servers") if key in more}
    paths = {path: {verb: {"operationId": "it", **more}}}
    return {"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": paths, **kept}


def parameter(name: str, place: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": {"type": kind}, **more}


async def called(
    document: dict[str, Any], address: str, arguments: dict[str, Any], **more: Any
) -> Any:
    """What the server was asked."""
    server = OpenApiServer(read_openapi(document), ApiSettings(address, **more))
    result = await server.call("it", arguments)
    assert not result.is_error, result
    return result.structured_content


def body(schema: Any, kind: str = "application/json") -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema}}}}


async def test_each_argument_goes_to_its_place(address: str) -> None:
    fields = {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}}
    document = operation(
        "/users/{id}",
        "put",
        parameters=[
            parameter("id", "path"),
            parameter("id", "query"),
            parameter("X-Trace", "header"),
            parameter("lang", "cookie"),
        ],
        **body(fields),
    )
    [tool] = read_openapi(document).tools
    assert list(tool.parameters["properties"]) == [
        "id", "id_query", "X-Trace", "lang", "id_body", "n",
    ]  # fmt: skip
    given = {"id": "7", "id_query": "q", "X-Trace": "t", "lang": "de", "id_body": "b", "n": 1}
    asked = await called(document, address, given)
    assert (asked["method"], asked["path"]) == ("PUT", "/users/7?id=q")
    assert asked["headers"]["x-trace"] == "t"
    assert asked["headers"]["cookie"] == "lang=de"
    assert json.loads(asked["body"]) == {"id": "b", "n": 1}


@pytest.mark.parametrize(
    ("more", "value", "query"),
    [
        ({}, ["a", "b c"], "it=a&it=b%20c"),
        ({"explode": False}, ["a", "b"], "it=a%2Cb"),
        ({"style": "pipeDelimited", "explode": False}, ["a", "b"], "it=a%7Cb"),
        ({"style": "deepObject"}, {"from": 1, "to": True}, "it%5Bfrom%5D=1&it%5Bto%5D=true"),
        (
            {"style": "deepObject"},
            {"at": {"gte": 5}, "in": [1, 2]},
            "it%5Bat%5D%5Bgte%5D=5&it%5Bin%5D=1&it%5Bin%5D=2",
        ),
        ({"style": "deepObject"}, ["a", "b"], "it%5B0%5D=a&it%5B1%5D=b"),
        (
            {"content": {"application/json": {"schema": {}}}},
            {"a": [1]},
            "it=%7B%22a%22%3A%5B1%5D%7D",
        ),
        ({}, "x&admin=1#y", "it=x%26admin%3D1%23y"),
    ],
)
async def test_a_query_is_written_in_its_style(
    address: str, more: dict[str, Any], value: Any, query: str
) -> None:
    document = operation("/search", "get", parameters=[{"name": "it", "in": "query", **more}])
    assert (await called(document, address, {"it": value}))["path"] == f"/search?{query}"


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("application/x-www-form-urlencoded", "To=%2B1%20555&Body=hi%26x%3D1"),
        ("application/merge-patch+json", '{"To": "+1 555", "Body": "hi&x=1"}'),
    ],
)
async def test_a_body_is_written_in_the_content_type_of_the_document(
    address: str, kind: str, sent: str
) -> None:
    fields = {"type": "object", "properties": {"To": {"type": "string"}, "Body": {}}}
    document = operation("/sms", "post", **body(fields, kind))
    asked = await called(document, address, {"To": "+1 555", "Body": "hi&x=1"})
    assert (asked["headers"]["content-type"], asked["body"]) == (kind, sent)


async def test_a_file_is_sent_as_a_part(address: str) -> None:
    fields = {"properties": {"file": {"type": "string", "format": "binary"}, "title": {}}}
    document = operation("/files", "post", **body(fields, "multipart/form-data"))
    asked = await called(document, address, {"file": "words", "title": "T"})
    assert asked["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert 'name="file"; filename="file"' in asked["body"]
    assert "words" in asked["body"]


async def test_files_lists_and_objects_are_parts_of_their_own_kinds(address: str) -> None:
    files = {"type": "array", "items": {"type": "string", "format": "binary"}}
    fields = {"properties": {"files": files, "tags": {"type": "array"}, "meta": {"type": "object"}}}
    document = operation("/files", "post", **body(fields, "multipart/form-data"))
    given = {"files": ["words", "data:image/png;base64,aGk="], "tags": [1, 2], "meta": {"a": 1}}
    sent = (await called(document, address, given))["body"].replace("\r\n", "\n")
    assert sent.count('name="files"; filename="files"') == 2
    assert "Content-Type: image/png\n\nhi\n" in sent
    assert sent.count('name="tags"\n\n') == 2
    assert 'name="meta"\nContent-Type: application/json\n\n{"a":1}' in sent


@pytest.mark.parametrize(
    "file",
    [
        {"anyOf": [{"type": "string", "format": "binary"}, {"type": "null"}]},
        {"anyOf": [{"type": "string", "contentMediaType": "image/png"}, {"type": "null"}]},
        {"type": ["string", "null"], "format": "binary"},
        {"$ref": "#/components/schemas/File"},
        {"allOf": [{"$ref": "#/components/schemas/File"}]},
        {"anyOf": [{"type": "array", "items": {"format": "binary"}}, {"type": "null"}]},
    ],
)
async def test_an_upload_that_may_be_left_out_is_a_file_all_the_same(
    address: str, file: dict[str, Any]
) -> None:
    fields = {"properties": {"file": file, "title": {"type": "string"}}}
    known = {"schemas": {"File": {"type": "string", "format": "binary"}}}
    document = operation("/a", "post", **body(fields, "multipart/form-data"), components=known)
    [tool] = read_openapi(document).tools
    assert "bytes as a data: URI" in tool.parameters["properties"]["file"]["description"]
    sent = (await called(document, address, {"file": "data:image/png;base64,aGk="}))["body"]
    assert 'filename="file"\r\nContent-Type: image/png\r\n\r\nhi\r\n' in sent
    left_out = (await called(document, address, {"file": None, "title": "T"}))["body"]
    assert 'name="title"' in left_out
    assert 'name="file"' not in left_out


async def test_a_field_of_a_form_is_nested_as_its_encoding_says(address: str) -> None:
    kind = "application/x-www-form-urlencoded"
    fields = {"properties": {"metadata": {"type": "object"}, "items": {"type": "array"}}}
    given = {"metadata": {"a": "b", "of": ["x", "y"]}, "items": [{"price": 1}]}
    document = operation("/orders", "post", **body(fields, kind))
    deep = {"style": "deepObject", "explode": True}
    media = document["paths"]["/orders"]["post"]["requestBody"]["content"][kind]
    media["encoding"] = {"metadata": deep, "items": deep}
    sent = (await called(document, address, given))["body"]
    assert unquote(sent) == "metadata[a]=b&metadata[of][0]=x&metadata[of][1]=y&items[0][price]=1"
    del media["encoding"]
    sent = (await called(document, address, {"metadata": {"a": "b"}}))["body"]
    assert unquote(sent) == 'metadata={"a":"b"}'


@pytest.mark.parametrize(
    ("kind", "schema", "given", "sent"),
    [
        ("application/x-ndjson", {"type": "array"}, {"body": [{"a": 1}, 2]}, '{"a": 1}\n2\n'),
        ("application/octet-stream", {"format": "binary"}, {"body": "data:;base64,aGk="}, "hi"),
        ("text/plain", {"type": "string"}, {"body": "data:,a"}, "data:,a"),
        ("application/json", {"properties": {"a": {}}}, {}, "{}"),
    ],
)
async def test_a_body_is_written_as_its_kind_is_read(
    address: str, kind: str, schema: dict[str, Any], given: dict[str, Any], sent: str
) -> None:
    document = operation("/a", "post", **body(schema, kind))
    document["paths"]["/a"]["post"]["requestBody"]["required"] = True
    asked = await called(document, address, given)
    assert (asked["headers"]["content-type"], asked["body"]) == (kind, sent)


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        {"type": "object", "additionalProperties": True},
        {},
    ],
)
async def test_a_form_whose_fields_are_not_told_is_sent_field_by_field(
    address: str, schema: dict[str, Any]
) -> None:
    form = operation("/a", "post", **body(schema, "application/x-www-form-urlencoded"))
    given = {"body": {"a": "x y", "n": [1, 2], "none": None}}
    asked = await called(form, address, given)
    assert asked["body"] == "a=x%20y&n=1&n=2"
    parts = operation("/a", "post", **body(schema, "multipart/form-data"))
    asked = await called(parts, address, {"body": {"a": "x", "f": "data:text/plain,hi"}})
    assert asked["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert 'name="a"\r\n\r\nx\r\n' in asked["body"]
    assert 'name="f"; filename="f"\r\nContent-Type: text/plain\r\n\r\nhi' in asked["body"]
    with pytest.raises(UpstreamError, match="body: must be an object with the fields of the form"):
        await called(parts, address, {"body": "x"})


async def test_further_fields_of_a_form_are_sent_with_the_others(address: str) -> None:
    fields = {"properties": {"a": {}}, "additionalProperties": {"type": "string"}}
    form = operation("/a", "post", **body(fields, "application/x-www-form-urlencoded"))
    assert (await called(form, address, {"a": "1", "b": "2"}))["body"] == "a=1&b=2"


async def test_a_path_may_hold_slashes_where_its_placeholder_says_so(address: str) -> None:
    document = operation("/files/{path*}?raw=1#first", "get", parameters=[parameter("q", "query")])
    asked = await called(document, address, {"path": "a/b c", "q": "x"})
    assert asked["path"] == "/files/a/b%20c?raw=1&q=x"
    with pytest.raises(UpstreamError, match=r"must not hold the steps \. or \.\."):
        await called(document, address, {"path": "a/../../b"})


@pytest.mark.parametrize("free", ["x-ms-skip-url-encoding", "allowReserved"])
async def test_a_path_may_hold_slashes_where_its_parameter_says_so(address: str, free: str) -> None:
    scope = parameter("scope", "path", required=True, **{free: True})
    document = operation("/{scope}/locks/{name}", "get", parameters=[scope])
    asked = await called(document, address, {"scope": "groups/a b", "name": "c/d"})
    assert asked["path"] == "/groups/a%20b/locks/c%2Fd"
    with pytest.raises(UpstreamError, match=r"must not hold the steps \. or \.\."):
        await called(document, address, {"scope": "../a", "name": "c"})


async def test_the_address_is_made_of_what_the_document_and_the_settings_say(address: str) -> None:
    below = operation("/a", "get", servers=[{"url": "/api/v3"}])
    assert (await called(below, address, {}))["path"] == "/api/v3/a"
    assert (await called(below, f"{address}/mine", {}))["path"] == "/mine/a"
    chosen = {"url": f"{address}/{{zone}}", "variables": {"zone": {"enum": ["eu", "us"]}}}
    assert (await called(operation("/a", "get", servers=[chosen]), "", {}))["path"] == "/eu/a"
    always = operation("/a", "get", servers=[{"url": f"{address}/api?version=2"}])
    assert (await called(always, "", {}))["path"] == "/api/a?version=2"
    unknown = operation("/a", "get", servers=[{"url": f"{address}/{{tenant}}"}])
    with pytest.raises(UpstreamError, match=r"what \{tenant\} in its address is.*--base-url"):
        await called(unknown, "", {})


async def test_a_whole_body_is_sent_as_it_is(address: str) -> None:
    document = operation("/notes", "post", **body({"type": "string"}, "text/plain"))
    assert (await called(document, address, {"body": "two\nlines"}))["body"] == "two\nlines"
    document = operation("/notes", "post", **body({"oneOf": [{"type": "array"}, {"type": "null"}]}))
    assert (await called(document, address, {"body": [1, None]}))["body"] == "[1, null]"


async def test_a_swagger_2_form_is_sent(address: str) -> None:
    document = {
        "swagger": "2.0",
        "info": {"title": "Shop"},
        "host": address.removeprefix("http://"),
        "basePath": "/v1",
        "schemes": ["http"],
        "paths": {
            "/a": {
                "post": {
                    "operationId": "it",
                    "consumes": ["application/x-www-form-urlencoded"],
                    "parameters": [
                        {"name": "q", "in": "query", "type": "array", "items": {}},
                        {"name": "f", "in": "formData", "type": "integer", "maximum": 3},
                    ],
                }
            }
        },
    }
    [tool] = read_openapi(document).tools
    assert tool.parameters["properties"]["f"] == {"type": "integer", "maximum": 3}
    asked = await called(document, "", {"q": [1, 2], "f": 3})
    assert (asked["path"], asked["body"]) == ("/v1/a?q=1%2C2", "f=3")


@pytest.mark.parametrize("value", ["..", ".", "../admin", "a/../b", "..\\x", ""])
async def test_a_value_cannot_leave_its_placeholder(address: str, value: str) -> None:
    document = operation("/users/{id}", "get", parameters=[parameter("id", "path")])
    with pytest.raises(UpstreamError, match=r"shop/it was not called: id: must not"):
        await called(document, address, {"id": value})


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("a/b", "/users/a%2Fb/x"),
        ("a?b=1#c", "/users/a%3Fb%3D1%23c/x"),
        ("@evil.example", "/users/%40evil.example/x"),
        ("%2e%2e", "/users/%252e%252e/x"),
        ("//evil.example", "/users/%2F%2Fevil.example/x"),
    ],
)
async def test_a_value_is_escaped_within_its_placeholder(
    address: str, value: str, path: str
) -> None:
    document = operation("/users/{id}/x", "get", parameters=[parameter("id", "path")])
    asked = await called(document, address, {"id": value})
    assert asked["path"] == path
    assert asked["headers"]["host"] == address.removeprefix("http://")


async def test_a_header_cannot_begin_another_one(address: str) -> None:
    document = operation("/a", "get", parameters=[parameter("X-A", "header")])
    with pytest.raises(UpstreamError, match="X-A: must be one line of text"):
        await called(document, address, {"X-A": "a\r\nAuthorization: b"})


SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "asked": {"type": "apiKey", "in": "query", "name": "api"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "login": {"type": "oauth2", "flows": {}},
}


@pytest.mark.parametrize(
    ("scheme", "secret", "header", "value"),
    [
        ("key", "k", "x-key", "k"),
        ("bearer", "b", "authorization", "Bearer b"),
        ("login", "t", "authorization", "Bearer t"),
        ("basic", "u:p", "authorization", "Basic dTpw"),
    ],
)
async def test_credentials_come_from_the_environment_and_are_no_arguments(
    address: str, monkeypatch: Any, scheme: str, secret: str, header: str, value: str
) -> None:
    document = operation(
        "/a",
        "get",
        parameters=[parameter("X-Key", "header", required=True), parameter("q", "query")],
        components={"securitySchemes": SCHEMES},
        security=[{scheme: []}],
    )
    [tool] = read_openapi(document).tools
    assert list(tool.parameters["properties"]) == ["q"]
    monkeypatch.setenv(f"SHOP_{scheme.upper()}", secret)
    assert (await called(document, address, {}))["headers"][header] == value
    monkeypatch.delenv(f"SHOP_{scheme.upper()}")
    with pytest.raises(UpstreamError, match=f"sets SHOP_{scheme.upper()} in its environment"):
        await called(document, address, {})
    monkeypatch.setenv("OWN_NAME", secret)
    asked = await called(document, address, {}, credentials={scheme: "OWN_NAME"})
    assert asked["headers"][header] == value


async def test_a_key_in_the_query_cannot_be_replaced_by_a_value(
    address: str, monkeypatch: Any
) -> None:
    document = operation(
        "/a",
        "get",
        parameters=[{"name": "filter", "in": "query", "schema": {"type": "object"}}],
        components={"securitySchemes": SCHEMES},
        security=[{"asked": []}],
    )
    monkeypatch.setenv("SHOP_ASKED", "s&x")
    asked = await called(document, address, {"filter": {"api": "mine", "b": 1}})
    assert asked["path"] == "/a?b=1&api=s%26x"


async def test_a_credential_described_as_a_parameter_is_no_argument(
    address: str, monkeypatch: Any
) -> None:
    document = operation("/a", "get", parameters=[parameter("token", "header", required=True)])
    [tool] = read_openapi(document).tools
    assert tool.parameters["properties"] == {}
    monkeypatch.setenv("SHOP_TOKEN", "t")
    assert (await called(document, address, {}))["headers"]["token"] == "t"


async def test_the_first_alternative_with_its_credentials_is_used(
    address: str, monkeypatch: Any
) -> None:
    document = operation(
        "/a",
        "get",
        components={"securitySchemes": SCHEMES},
        security=[{"key": [], "bearer": []}, {"basic": []}],
    )
    monkeypatch.setenv("SHOP_KEY", "k")
    monkeypatch.setenv("SHOP_BASIC", "u:p")
    headers = (await called(document, address, {}))["headers"]
    assert headers["authorization"] == "Basic dTpw"
    assert "x-key" not in headers


async def test_redirects_are_followed_to_the_same_origin_alone(
    address: str, monkeypatch: Any
) -> None:
    monkeypatch.setenv("SHOP_KEY", "k")
    secured = {"components": {"securitySchemes": SCHEMES}, "security": [{"key": []}]}
    asked = await called(operation("/there", "get", **secured), address, {})
    assert asked["path"] == "/here?secret=1"
    assert asked["headers"]["x-key"] == "k"
    for path, verb in (("/away", "get"), ("/there", "post")):
        server = OpenApiServer(read_openapi(operation(path, verb, **secured)), ApiSettings(address))
        result = await server.call("it", {})
        assert result.is_error
        assert "which was not called" in result.content[0].text
        assert "secret" not in result.content[0].text


async def test_an_answer_over_the_limit_is_cut_and_says_so(address: str) -> None:
    api = read_openapi(operation("/big", "get"))
    result = await OpenApiServer(api, ApiSettings(address, answer_limit=1000)).call("it", {})
    assert result.content[0].text.count("x") == 1000
    assert "the answer is longer than 1,000 bytes" in result.content[0].text


async def test_an_error_of_the_api_is_told_with_its_text(address: str) -> None:
    api = read_openapi(operation("/missing", "get"))
    result = await OpenApiServer(api, ApiSettings(address)).call("it", {})
    assert result.is_error
    assert result.content[0].text.startswith('HTTP 404 Not Found: {"method": "GET"')


async def test_a_call_without_an_answer_ends_in_time(address: str) -> None:
    with pytest.raises(UpstreamError, match=r"no answer within 0\.3 s\. It may still take effect"):
        await called(operation("/slow", "post"), address, {}, timeout=0.3)
    with pytest.raises(UpstreamError, match=r"could not be reached \(ConnectError\)"):
        await called(operation("/a", "get"), "http://127.0.0.1:9", {})


async def test_what_cannot_be_called_says_why(address: str) -> None:
    with pytest.raises(UpstreamError, match="gives one with --base-url"):
        await called(operation("/a", "get", servers=[{"url": "/v1"}]), "", {})
    with pytest.raises(UpstreamError, match="no argument 'b'; its arguments are: none"):
        await called(operation("/a", "get"), address, {"b": 1})
    with pytest.raises(UpstreamError, match="id: is missing; the address needs it"):
        await called(operation("/a/{id}", "get", parameters=[parameter("id", "path")]), address, {})
    with pytest.raises(ValueError, match="base_url: must be http://HOST"):
        ApiSettings("ftp://x")
    with pytest.raises(ValueError, match="timeout: must be above 0 seconds, not 0"):
        ApiSettings(timeout=0)
    with pytest.raises(ValueError, match="answer_limit: must be at least 1 byte, not 0"):
        ApiSettings(answer_limit=0)


async def test_a_tool_found_through_the_gateway_is_called_with_its_own_names(
    address: str,
) -> None:
    document = operation(
        "/events",
        "get",
        summary="List calendar events",
        parameters=[parameter("StartTime", "query"), parameter("StartTime<", "query")],
        servers=[{"url": address}],
    )
    api = read_openapi(document, "desk")
    index = ToolIndex([SELF, *api.tools], Topics())
    async with Gateway(index, apis=[OpenApiServer(api)], settings=PATIENT).running() as gateway:
        found = await gateway.search(None, "list calendar events")
        [shown] = found.shown
        assert list(shown["input_schema"]["properties"]) == ["StartTime", "StartTime_lt"]
        answer = await gateway.call(
            None, found.handle, shown["name"], {"StartTime": "a", "StartTime_lt": "b"}
        )
    assert answer.result.structured_content["path"] == "/events?StartTime=a&StartTime%3C=b"


async def test_an_api_and_a_server_of_one_name_are_refused() -> None:
    api = OpenApiServer(read_openapi(operation("/a", "get")))
    servers = Upstreams(servers={"shop": ServerSpec(command="x")})
    with pytest.raises(ValueError, match="'shop' is a server's name as well; give --server-name"):
        Gateway(ToolIndex([SELF], Topics()), servers, apis=[api])


async def test_credentials_are_sent_where_the_document_forgets_to_ask_for_them(
    address: str, monkeypatch: Any
) -> None:
    monkeypatch.setenv("TOKEN", "t")
    asked = await called(operation("/a", "get"), address, {}, credentials={"bearer": "TOKEN"})
    assert asked["headers"]["authorization"] == "Bearer t"
    with pytest.raises(ValueError, match="'bearr' is no scheme that is used here; use bearer"):
        await called(operation("/a", "get"), address, {}, credentials={"bearr": "TOKEN"})
