"""The rules that a catalogue file has to keep, and what its formats give."""

import json
from pathlib import Path

import pytest

from ctrag.agents.catalogue.access import Expert, Grant, Principal
from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue, read_catalogue


def written(folder: Path, value: object, name: str = "tools.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_two_tools_of_one_identity_are_refused_and_servers_tell_them_apart(tmp_path: Path) -> None:
    same = [{"name": "search", "server": "a"}, {"name": "search", "server": "b"}]
    assert [tool.id for tool in load_catalogue(written(tmp_path, same))] == ["a/search", "b/search"]
    with pytest.raises(ValueError, match=r"tools\.json: name: tool 'a/search' appears twice"):
        load_catalogue(written(tmp_path, [*same, same[0]]))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[\n {"name": "a"},\n {"name": }\n]', r"tools\.json:3: not JSON: Expecting value"),
        ("", r"tools\.json:1: not JSON"),
        ('{"name": "a"}', r"tools\.json: .*valid list"),
        ('[{"description": "a"}]', r"tools\.json: 0\.name: Field required"),
        ('[{"name": "a"}, {"name": 7}]', r"tools\.json: 1\.name: "),
        ('[{"name": "a", "parameters": []}]', r"tools\.json: 0\.parameters: "),
        ('[{"name": ""}]', r"tools\.json: 0\.name: "),
        ('[{"name": "a\\ud800"}]', r"tools\.json: 0\.name: "),
        ("[" * 100_000, r"tools\.json: not JSON"),
    ],
)
def test_a_broken_catalogue_is_named_with_place_and_rule(
    tmp_path: Path, content: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        load_catalogue(written(tmp_path, content))


def test_a_catalogue_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(b'[{"name": "caf\xe9"}]')
    with pytest.raises(ValueError, match=r"tools\.json: not UTF-8"):
        load_catalogue(path)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(b'\xef\xbb\xbf[{"name": "a"}]')
    assert load_catalogue(path) == [CatalogueTool("a", "")]


def test_a_missing_catalogue_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        load_catalogue(tmp_path / "none.json")


def test_a_catalogue_with_rules_brings_members_grants_and_experts(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
tools:
  - {name: book, description: Book a flight, server: air}
access:
  members: {ada: {roles: [pilot]}}
  grants:
    - {role: pilot, tools: ["air/*"]}
    - {user: bob, tools: [air/book]}
experts:
  travel: {tools: [air/book], allow: [air/book]}
""",
        "tools.yaml",
    )
    read = read_catalogue(path)
    assert read.tools == [CatalogueTool("book", "Book a flight", "air")]
    assert read.access is not None
    assert read.access.grants == (Grant("role:pilot", "air/*"), Grant("user:bob", "air/book"))
    assert read.access.principal("ada") == Principal("ada", frozenset(["pilot"]))
    assert read.experts == (Expert("travel", ("air/book",), frozenset(["air/book"])),)


@pytest.mark.parametrize(
    ("access", "problem"),
    [
        ({"grants": [{"tools": ["a"]}]}, "access: grant: name exactly one of"),
        ({"grants": [{"user": "a", "role": "b", "tools": ["a"]}]}, "name exactly one of"),
        ({"grants": [{"user": "a", "tools": []}]}, r"access: grants\.0\.tools: "),
        ({"grants": [{"user": "a", "tools": ["*/a"]}]}, "'\\*/a' of user:a must be an id"),
        ({"everybody": True}, r"access: everybody: "),
    ],
)
def test_broken_rules_are_named_and_open_nothing(
    tmp_path: Path, access: object, problem: str
) -> None:
    path = written(tmp_path, {"tools": [{"name": "a"}], "access": access})
    with pytest.raises(ValueError, match=problem):
        read_catalogue(path)


def test_dates_in_yaml_stay_text(tmp_path: Path) -> None:
    text = "tools:\n  - name: since\n    description: d\n    parameters:\n      properties:\n"
    text += "        day: {type: string, default: 2024-01-01}\n"
    [tool] = load_catalogue(written(tmp_path, text, "tools.yaml"))
    assert tool.parameters["properties"]["day"]["default"] == "2024-01-01"
    assert "2024-01-01" in tool.to_json()


def test_a_broken_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tools\.yaml:3: not YAML"):
        load_catalogue(written(tmp_path, "tools:\n  - {name: [\n", "tools.yaml"))


@pytest.mark.parametrize("value", ["!hunter2", "!!hunter2 x", "!hunter2 {}", "*hunter2"])
def test_a_value_that_yaml_takes_for_a_tag_or_an_alias_is_not_repeated(
    tmp_path: Path, value: str
) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text(f"password: {value}\n")
    with pytest.raises(ValueError, match=r"tools\.yaml:1: not YAML: ") as refused:
        load_catalogue(path)
    assert "hunter2" not in str(refused.value)


def test_the_hash_follows_content_not_version_or_server() -> None:
    one = CatalogueTool("a", "b", "c", {"properties": {}}, "1")
    assert one.content_hash == CatalogueTool("a", "b", "d", {"properties": {}}, "2").content_hash
    assert one.content_hash != CatalogueTool("a", "b!", "c", {"properties": {}}, "1").content_hash
    assert CatalogueTool.from_json(one.to_json()) == one


LAMP = {"type": "object", "properties": {"room": {"type": "string"}}}


@pytest.mark.parametrize(
    "row",
    [
        {"name": "lamp", "description": "Lights.", "parameters": LAMP},
        {"name": "lamp", "description": "Lights.", "inputSchema": LAMP},
        {"name": "lamp", "description": "Lights.", "input_schema": LAMP},
        {
            "type": "function",
            "function": {"name": "lamp", "description": "Lights.", "parameters": LAMP},
        },
    ],
    ids=["ctrag", "mcp", "anthropic", "openai"],
)
def test_the_forms_of_others_keep_their_parameters(tmp_path: Path, row: dict[str, object]) -> None:
    path = tmp_path / "tools.json"
    for value in ([row], {"tools": [row]}):
        path.write_text(json.dumps(value))
        assert load_catalogue(path) == [CatalogueTool("lamp", "Lights.", "", LAMP)]


SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
ENTRY = {"name": "a", "inputSchema": SCHEMA}
SPECIFIED = {"toolSpec": {"name": "a", "inputSchema": {"json": SCHEMA}}}
DECLARED = {"functionDeclarations": [{"name": "a", "parameters": SCHEMA}]}


@pytest.mark.parametrize(
    "content",
    [
        {"tools": [ENTRY], "nextCursor": "2", "_meta": {}},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [ENTRY]}},
        [{**ENTRY, "annotations": None, "description": None, "parameters": None, "server": None}],
        DECLARED,
        [DECLARED],
        {"tools": [DECLARED]},
        {"tools": [SPECIFIED], "toolChoice": {"auto": {}}},
        {"toolConfig": {"tools": [SPECIFIED]}},
        {"tools": {"a": {"inputSchema": {"jsonSchema": SCHEMA}}}},
        [{"type": "function", "function": {"name": "a", "parameters": SCHEMA}}],
        [{"name": "a", "parametersJsonSchema": SCHEMA}],
    ],
)
def test_lists_of_tools_are_read_as_sdks_write_them_out(tmp_path: Path, content: object) -> None:
    assert load_catalogue(written(tmp_path, content)) == [CatalogueTool("a", "", "", SCHEMA)]


def test_yaml_keys_are_texts_and_only_true_and_false_are_truths(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text(
        "- name: lamp\n  pinned: true\n  parameters:\n    properties:\n"
        "      on: {enum: [no, off, true]}\n      2: {type: string}\n"
    )
    [tool] = load_catalogue(path)
    assert tool.parameters == {
        "properties": {"on": {"enum": ["no", "off", True]}, "2": {"type": "string"}}
    }
    assert tool.pinned
    assert tool.content_hash


def test_yaml_merges_keep_what_they_merge(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text("- &a {name: lamp, description: Lights.}\n- {<<: *a, name: lamp_2}\n")
    assert [(one.name, one.description) for one in load_catalogue(path)] == [
        ("lamp", "Lights."),
        ("lamp_2", "Lights."),
    ]


def test_what_is_embedded_has_the_names_words_and_no_addresses() -> None:
    linked = "Open [an issue](https://docs.example/issues). More at https://docs.example/a."
    tool = CatalogueTool("issues/createForRepo", linked, "hub", {"properties": {"title": {}}})
    assert tool.text.split() == ("issues create For Repo: Open an issue. More at (title)".split())
