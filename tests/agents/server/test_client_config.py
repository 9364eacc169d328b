"""Files of servers as MCP clients write them: taken over as they are, one bad entry at a time."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.variables import Variables

COMMAND = {"command": "mcp-server-time"}


def read(folder: Path, content: Any, name: str = "servers.json") -> Upstreams:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return Upstreams.from_file(path)


def only(folder: Path, entry: Any) -> ServerSpec:
    """The one server of a file, whose reading left nothing out."""
    upstreams = read(folder, {"mcpServers": {"one": entry}})
    assert upstreams.problems == {}
    return upstreams.servers["one"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("claude.json", {"mcpServers": {"time": COMMAND}, "globalShortcut": "", "theme": "dark"}),
        ("mcp.json", {"servers": {"time": {"type": "stdio", **COMMAND}}, "inputs": []}),
        ("settings.json", {"mcp": {"servers": {"time": COMMAND}, "inputs": []}, "a.b": 1}),
        ("settings.json", {"context_servers": {"time": {"source": "custom", **COMMAND}}}),
        ("settings.json", {"amp.mcpServers": {"time": COMMAND}}),
        ("opencode.json", {"mcp": {"time": {"type": "local", "command": ["mcp-server-time"]}}}),
        ("bare.json", {"time": COMMAND}),
        ("list.json", {"mcpServers": [{"name": "time", **COMMAND}]}),
        ("list.json", [{"name": "time", **COMMAND}]),
        ("config.yaml", "extensions:\n  time: {type: stdio, cmd: mcp-server-time}\n"),
        ("config.toml", 'model = "x"\n[mcp_servers.time]\ncommand = "mcp-server-time"\n'),
        ("zed.json", {"context_servers": {"time": {"command": {"path": "mcp-server-time"}}}}),
        (
            "comments.json",
            '{ // the clock\n "mcpServers": {\n  /* all\n of them */\n'
            '  "time": {"command": "mcp-server-time", "args": [],},\n },\n}',
        ),
        ("bom.json", "\ufeff" + json.dumps({"mcpServers": {"time": COMMAND}})),
        ("spelled.json", {"McpServers": {"time": COMMAND}}),
        ("spelled.json", {"mcp-servers": {"time": COMMAND}}),
        ("pasted.json", {"mcpServers": {"mcpServers": {"time": COMMAND}}}),
        ("alone.json", {"name": "time", **COMMAND}),
        (".claude.json", {"mcpServers": {}, "projects": {"/a": {"mcpServers": {"time": COMMAND}}}}),
        ("a.code-workspace", {"folders": [], "settings": {"mcp": {"servers": {"time": COMMAND}}}}),
        (
            "devcontainer.json",
            {"customizations": {"vscode": {"mcp": {"servers": {"time": COMMAND}}}}},
        ),
        ("manifest.json", {"name": "time", "server": {"type": "python", "mcp_config": COMMAND}}),
        (
            "continue.yaml",
            "name: mine\nmcpServers:\n  - {name: time, command: mcp-server-time}\n",
        ),
        ("json5.json", "{mcpServers: {time: {command: 'mcp-server-time', args: [],}}}"),
        ("hash.json", '{\n# the clock\n\t"servers": {"time": {"command": "mcp-server-time"}}}'),
    ],
)
def test_the_table_of_servers_is_found_where_each_client_keeps_it(
    tmp_path: Path, name: str, content: Any
) -> None:
    found = read(tmp_path, content, name)
    assert {one: spec.command for one, spec in found.servers.items()} == {"time": "mcp-server-time"}
    assert found.problems == {}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"type": "stdio", **COMMAND}, {"command": "mcp-server-time", "transport": "stdio"}),
        ({**COMMAND, "args": None, "env": None}, {"args": [], "env": {}}),
        ({**COMMAND, "args": "-v --zone UTC"}, {"args": ["-v", "--zone", "UTC"]}),
        ({**COMMAND, "args": ["--port", 80, True]}, {"args": ["--port", "80", "true"]}),
        ({**COMMAND, "env": {"PORT": 80, "A": None}}, {"env": {"PORT": "80"}}),
        (
            {"command": "no-such-one -y server"},
            {"command": "no-such-one", "args": ["-y", "server"]},
        ),
        ({"command": ["npx", "-y", "a"]}, {"command": "npx", "args": ["-y", "a"]}),
        ({"command": {"path": "a", "args": ["b"]}}, {"command": "a", "args": ["b"]}),
        ({"type": "http", "url": "http://a/mcp"}, {"url": "http://a/mcp", "transport": "http"}),
        ({"type": "streamable-http", "url": "http://a/mcp"}, {"transport": "http"}),
        ({"type": "streamableHttp", "url": "http://a/mcp"}, {"transport": "http"}),
        ({"type": "sse", "url": "http://a/sse"}, {"transport": "sse"}),
        ({"transport": "sse", "url": "http://a/sse"}, {"transport": "sse"}),
        ({"serverUrl": "http://a/mcp"}, {"url": "http://a/mcp", "transport": ""}),
        ({"httpUrl": "http://a/mcp"}, {"url": "http://a/mcp"}),
        ({"command": "", "url": "http://a/mcp"}, {"url": "http://a/mcp", "command": ""}),
        (
            {"type": "stdio", **COMMAND, "url": "http://a"},
            {"command": "mcp-server-time", "url": ""},
        ),
        (
            {"url": "http://a", "requestInit": {"headers": {"X": "y"}}},
            {"headers": {"X": "y"}},
        ),
        ({**COMMAND, "timeout": 60}, {"timeout": 60}),
        ({**COMMAND, "timeout": 60_000}, {"timeout": 60}),
        ({**COMMAND, "timeout": "45s"}, {"timeout": 45}),
        ({**COMMAND, "tool_timeout_sec": 2_000}, {"timeout": 2_000}),
        ({**COMMAND, "startup_timeout_ms": 500}, {"start_timeout": 0.5}),
        (
            {**COMMAND, "includeTools": ["a*"], "excludeTools": "ab"},
            {"include": ["a*"], "exclude": ["ab"]},
        ),
        ({**COMMAND, "enabled_tools": ["a"]}, {"include": ["a"]}),
        ({**COMMAND, "tools": ["*"]}, {"include": ["*"]}),
        ({**COMMAND, "available_tools": ["a"]}, {"include": ["a"]}),
        ({**COMMAND, "available_tools": []}, {"include": None}),
        (
            {**COMMAND, "anythingllm": {"autoStart": True, "suppressedTools": ["a"]}},
            {"exclude": ["a"]},
        ),
        (
            {**COMMAND, "tools": {"a": {"name": "b", "description": "c"}, "d": {"enabled": False}}},
            {"rename": {"a": "b"}, "descriptions": {"a": "c"}, "exclude": ["d"]},
        ),
        ({**COMMAND, "tools": {"a": {"timeout": 9_000}}}, {"timeouts": {"a": 9}}),
        ({**COMMAND, "timeout": 1_800}, {"timeout": 1_800}),
        ({**COMMAND, "timeout": "1m30s"}, {"timeout": 90}),
        ({**COMMAND, "timeout": "1 hour, 30 minutes"}, {"timeout": 5_400}),
        ({**COMMAND, "disabled": 0, "enabled": "on"}, {"command": "mcp-server-time"}),
        ({**COMMAND, "includeTools": "read_*, search"}, {"include": ["read_*", "search"]}),
        (
            {"server_url": "http://a", "allowed_tools": {"tool_names": ["a"], "read_only": True}},
            {"include": ["a"]},
        ),
        (
            {**COMMAND, "env_vars": ["HOME", {"name": "PATH", "source": "local"}]},
            {"env": {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"]}},
        ),
        ({**COMMAND, "timeout": 3_000}, {"timeout": 3}),
        ({**COMMAND, "timeout": "2 minutes"}, {"timeout": 120}),
        ({**COMMAND, "timeout": 0, "timeouts": {"a": -1}}, {"timeout": 30, "timeouts": {}}),
        ("http://a/mcp", {"url": "http://a/mcp"}),
        ({**COMMAND, "env": [{"name": "A", "value": "b"}]}, {"env": {"A": "b"}}),
        (
            {"url": "http://a", "headers": [{"name": "X", "value": "y"}]},
            {"headers": {"X": "y"}},
        ),
        ({"stdio": COMMAND}, {"command": "mcp-server-time", "transport": "stdio"}),
        (
            {"transport": {"type": "sse", "url": "http://a"}},
            {"url": "http://a", "transport": "sse"},
        ),
        (
            {"url": "http://a", "requestOptions": {"headers": {"X": "y"}}},
            {"headers": {"X": "y"}},
        ),
        ({"url": "http://a", "auth": "t"}, {"headers": {"Authorization": "Bearer t"}}),
        ({"url": "http://a", "auth": "oauth"}, {"headers": {}}),
        ({"url": "http://a", "bearerToken": "t"}, {"headers": {"Authorization": "Bearer t"}}),
        ({"url": "http://a", "apiKey": "Key t"}, {"headers": {"Authorization": "Key t"}}),
        (
            {"url": "http://a", "token": "t", "headers": {"authorization": "mine"}},
            {"headers": {"authorization": "mine"}},
        ),
        (
            {"url": "http://a", "auth": {"type": "bearer", "token": "t"}},
            {"headers": {"Authorization": "Bearer t"}},
        ),
        (
            {"url": "http://a", "auth": {"type": "api_key", "header": "X-Key", "value": "t"}},
            {"headers": {"X-Key": "t"}},
        ),
        (
            {"url": "http://a", "auth": {"username": "ada", "password": "pw"}},
            {"headers": {"Authorization": "Basic YWRhOnB3"}},
        ),
        ({**COMMAND, "token": "t"}, {"headers": {}}),
        (
            {"type": "mcp", "server_url": "http://a", "allowed_tools": ["a"]},
            {"url": "http://a", "include": ["a"]},
        ),
    ],
)
def test_a_clients_fields_are_ours(tmp_path: Path, entry: Any, expected: dict[str, Any]) -> None:
    spec = only(tmp_path, entry).model_dump()
    assert {key: spec[key] for key in expected} == expected


def test_credentials_by_the_name_of_a_variable_are_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRM_TOKEN", "s3cret")
    entry = {
        "url": "http://a",
        "bearer_token_env_var": "CRM_TOKEN",
        "env_http_headers": {"X-Key": "CRM_TOKEN"},
    }
    assert only(tmp_path, entry).headers == {"Authorization": "Bearer s3cret", "X-Key": "s3cret"}
    monkeypatch.delenv("CRM_TOKEN")
    left = read(tmp_path, {"mcpServers": {"crm": entry}})
    assert left.problems == {"crm": "environment variable CRM_TOKEN is not set"}


@pytest.mark.parametrize(
    "name", ["My Time Server", "io.github.me/time", "a.b", "时间", "it's", "x" * 128]
)
def test_any_name_that_can_be_read_is_taken(tmp_path: Path, name: str) -> None:
    assert list(read(tmp_path, {"mcpServers": {name: COMMAND}}).servers) == [name]


@pytest.mark.parametrize(
    ("name", "entry", "problem"),
    [
        ("bad", {}, "give either a command or a url"),
        ("bad", {**COMMAND, "url": "http://a"}, "give either a command or a url"),
        ("bad", "mcp-server-time", "is no object with a command or a url"),
        ("bad", {**COMMAND, "args": 5}, "args: must be a list or an object"),
        ("bad", {**COMMAND, "args": [[]]}, "args: holds a list"),
        ("bad", {**COMMAND, "env": ["a"]}, "env: an entry of the list must be NAME=VALUE"),
        ("bad", {**COMMAND, "timeout": "soon"}, "timeout: Input should be a valid number"),
        ("bad", {**COMMAND, "disabled": "perhaps"}, "disabled: must be true or false"),
        ("bad", {"url": "a.example/mcp"}, "url: must begin with http:// or https://"),
        ("bad", {"type": "ws", "url": "ws://a"}, "type: 'ws' is not one of stdio, http, sse"),
        ("bad", {**COMMAND, "isolate": "often"}, "isolate: Input should be"),
        ("bad\n", {**COMMAND, "cwd": "${NOWHERE}"}, "cwd: environment variable NOWHERE is not set"),
        ("bad", {**COMMAND, "env": {"A": "$(pass a)"}}, r"'$(pass a)' is for a shell"),
        ("a\nb", COMMAND, "has characters that cannot be read"),
        ("*", COMMAND, "cannot be told from a pattern"),
    ],
)
def test_one_bad_entry_costs_itself_alone(
    tmp_path: Path, name: str, entry: Any, problem: str
) -> None:
    found = read(tmp_path, {"mcpServers": {"good": COMMAND, name: entry, "fine": COMMAND}})
    assert list(found.servers) == ["good", "fine"]
    [(left, why)] = found.problems.items()
    assert left == name.strip()
    assert problem in why


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"mcpServers": {\n// a\n"time": }}', r"servers\.json:3: not JSON"),
        ('{"mcpServers": {"a": {"command": "C:\\Users"}}}', r"write \\\\ for a backslash"),
        ('"time"', "must be an object with the servers under `mcpServers`"),
        ('{"mcpServers": "time"}', "mcpServers: must be an object with the servers by name"),
        ('{"mcpServer": 1}', "holds no servers; put them, by name, under one of `mcpServers`"),
    ],
)
def test_a_file_that_holds_no_servers_says_so(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read(tmp_path, text)


def test_a_file_as_powershell_writes_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_bytes(json.dumps({"mcpServers": {"time": COMMAND}}).encode("utf-16"))
    assert list(Upstreams.from_file(path).servers) == ["time"]


def test_what_is_passed_over_or_read_otherwise_is_counted_and_said(tmp_path: Path) -> None:
    entry = {**COMMAND, "autoApprove": ["a"], "colour": "red", "timeout": 60_000}
    found = read(tmp_path, {"mcpServers": {"time": entry}, "globalShortcut": ""})
    assert found.notes == [
        "time: timeout 60000 is taken as milliseconds: 60 s",
        "3 keys are of no meaning here: globalShortcut, time.autoApprove, time.colour",
    ]
    twice = read(tmp_path, '{"mcpServers": {"a": {"command": "b"}, "a": {"command": "c"}}}')
    assert twice.servers["a"].command == "c"
    assert twice.notes == ["a is given twice in one place; the last counts"]


@pytest.mark.parametrize(
    "content",
    [
        {"mcpServers": {"a": COMMAND, "b": {**COMMAND, "disabled": True, "cwd": "${NOWHERE}"}}},
        {"mcpServers": {"a": COMMAND, "b": {**COMMAND, "enabled": False}}},
        {"mcpServers": {"a": COMMAND, "b": {**COMMAND, "isActive": False}}},
        {"mcpServers": {"a": {**COMMAND, "disabled": 0}, "b": {**COMMAND, "disabled": 1}}},
        {"mcpServers": {"a": COMMAND, "b": COMMAND}, "mcp": {"excluded": ["b"]}},
        {"mcpServers": {"a": COMMAND, "b": COMMAND}, "mcp": {"allowed": ["a"]}},
        {"mcpServers": {"a": COMMAND, "b": COMMAND}, "disabledMcpjsonServers": ["b"]},
        {"mcpServers": {"a": COMMAND, "b": COMMAND}, "disabledMcpServers": ["b"]},
        {"mcpServers": {"a": COMMAND, "b": COMMAND}, "excludeMCPServers": ["b"]},
        {"mcpServers": {"a": COMMAND, "b": COMMAND}, "allowMCPServers": ["a"]},
        {"mcpServers": {"a": {**COMMAND, "active": True}, "b": {**COMMAND, "active": False}}},
        {"mcpServers": {"a": COMMAND, "b": {**COMMAND, "anythingllm": {"autoStart": False}}}},
        {
            "projects": {
                "/p": {"mcpServers": {"a": COMMAND, "b": COMMAND}, "disabledMcpServers": ["b"]},
                "/q": {"mcpServers": {}, "disabledMcpServers": ["a"]},
            }
        },
    ],
)
def test_a_server_that_is_turned_off_is_not_started_and_named(tmp_path: Path, content: Any) -> None:
    found = read(tmp_path, content)
    assert list(found.servers) == ["a"]
    assert found.disabled == ["b"]
    assert found.problems == {}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${SET}", "value"),
        ("$SET", "value"),
        ("Bearer $SET", "Bearer value"),
        ("Bearer ${{ secrets.SET }}", "Bearer value"),
        ("{{SET}}", "value"),
        ("{{.Name}} {{ user.id }}", "{{.Name}} {{ user.id }}"),
        ("${user_config.api-key}", "by default"),
        ("${__dirname}/a", "FOLDER/a"),
        ("a ${SET} b ${env:SET}", "a value b value"),
        ("${UNSET:-x}", "x"),
        ("${UNSET-x}", "x"),
        ("${env:UNSET:-x}", "x"),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY-x}", ""),
        ("${EMPTY}", ""),
        ("${UNSET:-}", ""),
        ("${UNSET:+x}", ""),
        ("${SET:+x}", "x"),
        ("${SET:?must be set}", "value"),
        ("${process.env.SET}", "value"),
        ("${secret:SET}", "value"),
        ("$env:SET", "value"),
        ("%SET%", "value"),
        ("${UNSET:-${SET}/{a}}", "value/{a}"),
        ("{env:SET}", "value"),
        ("${input:set}", "value"),
        ("${input:api-key}", "by default"),
        ("${workspaceFolder}${/}a", "FOLDER/a"),
        ("${extensionPath}${/}dist", "FOLDER/dist"),
        ("${CLAUDE_PLUGIN_ROOT}/a ${CLAUDE_PROJECT_DIR:-.}", "FOLDER/a FOLDER"),
        ("${localEnv:SET}", "value"),
        ("${localEnv:UNSET:x}", "x"),
        ("${localWorkspaceFolder}/a", "FOLDER/a"),
        ("${userHome}", str(Path.home())),
        ("$${SET}", "${SET}"),
        ("$SET costs 5 $ {SET}", "$SET costs 5 $ {SET}"),
        ("${file:secret.txt}", "from the file"),
    ],
)
def test_a_variable_is_filled_in_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, filled: str
) -> None:
    monkeypatch.setenv("SET", "value")
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("UNSET", raising=False)
    (tmp_path / "secret.txt").write_text("from the file\n", encoding="utf-8")
    variables = Variables(tmp_path, {"api-key": "by default"})
    assert variables.text(text) == filled.replace("FOLDER", str(tmp_path.resolve()))


def test_a_variable_inside_a_text_is_filled_where_there_is_one_and_else_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SET", "value")
    monkeypatch.delenv("UNSET", raising=False)
    entry = {
        "command": "$SET/server",
        "args": ["--of=$SET", "sh -c $SET"],
        "env": {"A": "a-$SET-b", "PASSWORD": "pa$UNSET", "DOLLARS": "$$SET 5$"},
    }
    found = read(tmp_path, {"mcpServers": {"one": entry}})
    one = found.servers["one"]
    assert (one.command, one.args) == ("value/server", ["--of=value", "sh -c $SET"])
    assert one.env == {"A": "a-value-b", "PASSWORD": "pa$UNSET", "DOLLARS": "$$SET 5$"}
    assert found.notes == [
        "one: $UNSET is passed on as it stands: there is no variable of that name"
    ]


def test_a_script_gets_from_its_shell_what_has_no_value_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SET", "value")
    monkeypatch.setenv("TOKEN", "another one")
    monkeypatch.delenv("NOWHERE", raising=False)
    script = 'export TOKEN=$(gh auth token); P=${PWD##*/}; exec npx ${SET} "Bearer ${TOKEN}" ${#P}'
    expected = script.replace("${SET}", "value")
    for flag in ("-c", "-lc"):
        assert only(tmp_path, {"command": "bash", "args": [flag, script]}).args == [flag, expected]
    header = {**COMMAND, "args": ["--header", "Authorization: Bearer ${NOWHERE}"]}
    left = read(tmp_path, {"mcpServers": {"one": header}})
    assert left.problems == {"one": "args: environment variable NOWHERE is not set"}


def test_arguments_and_headers_may_name_what_the_entrys_own_environment_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH_OF", "/outside")
    monkeypatch.delenv("AUTH", raising=False)
    entry = {
        "command": "npx",
        "args": ["mcp-remote", "https://a/mcp", "--header", "Authorization:${AUTH}"],
        "env": {"AUTH": "Bearer t", "PATH_OF": "/own:${PATH_OF}"},
    }
    one = only(tmp_path, entry)
    assert one.args[-1] == "Authorization:Bearer t"
    assert one.env == {"AUTH": "Bearer t", "PATH_OF": "/own:/outside"}


ENV = """\
# the key
A=abc # my key
B="x # y" # quoted
export C='$q ${A}'
D=
E="line\\nbreak"
F = spaced
G=${A}-${NONE:-none}
URL=https://a/#frag
KEY="-----BEGIN
END-----"
OPEN="never closed
EMPTY= # nothing
COLOUR=#fff
"""


def test_a_file_of_variables_is_read_beside_the_project_as_shells_read_it(tmp_path: Path) -> None:
    editor = tmp_path / ".vscode"
    editor.mkdir()
    entry = {**COMMAND, "envFile": ".env", "env": {"D": "own"}}
    (editor / ".env").write_text("A=beside", encoding="utf-8")
    found = read(editor, {"servers": {"time": entry}}, "mcp.json").servers["time"]
    assert found.env == {"A": "beside", "D": "own"}
    (tmp_path / ".env").write_text(ENV, encoding="utf-8")
    found = read(editor, {"servers": {"time": entry}}, "mcp.json").servers["time"]
    assert found.env == {
        "A": "abc", "B": "x # y", "C": "$q ${A}", "D": "own", "E": "line\nbreak", "F": "spaced",
        "G": "abc-none", "URL": "https://a/#frag", "KEY": "-----BEGIN\nEND-----",
        "OPEN": "never closed", "EMPTY": "", "COLOUR": "#fff",
    }  # fmt: skip
    (tmp_path / ".env").write_text("A=${NOWHERE}", encoding="utf-8")
    left = read(editor, {"servers": {"time": entry}}, "mcp.json").problems
    assert left == {"time": ".env: variable NOWHERE is not set"}


def test_what_a_bundle_asks_its_user_has_the_bundles_default(tmp_path: Path) -> None:
    bundle = {
        "name": "time",
        "server": {"mcp_config": {**COMMAND, "args": ["${user_config.zone}"]}},
        "user_config": {"zone": {"type": "string", "default": "UTC"}},
    }
    assert read(tmp_path, bundle).servers["time"].args == ["UTC"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("${UNSET}", "environment variable UNSET is not set"),
        ("${env:UNSET}", "environment variable UNSET is not set"),
        ("${UNSET:-${ALSO_UNSET}}", "environment variable ALSO_UNSET is not set"),
        ("${input:api-key}", "environment variable API_KEY is not set and has no default"),
        ("$UNSET", "environment variable UNSET is not set"),
        ("Bearer $UNSET", "environment variable UNSET is not set"),
        ("${{ secrets.UNSET }}", "environment variable UNSET is not set"),
        ("${command:pick}", r"\$\{command:pick\} is not understood"),
        ("${UNSET:?ask Ada for one}", "variable UNSET is not set: ask Ada for one"),
        ("%UNSET%", "environment variable UNSET is not set"),
        ("$env:UNSET", "environment variable UNSET is not set"),
        ("${UNSET", "has no `}`"),
        ("${}", "is not understood"),
    ],
)
def test_a_variable_that_cannot_be_filled_is_never_passed_on(
    monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    for name in ("UNSET", "ALSO_UNSET", "API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match=problem):
        Variables().text(text)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "${NOWHERE}"},
        {**COMMAND, "args": ["a", "${NOWHERE}"]},
        {**COMMAND, "env": {"A": "${env:NOWHERE}"}},
        {**COMMAND, "env": {"${NOWHERE}": "a"}},
        {**COMMAND, "cwd": "${NOWHERE}/a"},
        {"url": "https://${NOWHERE}/mcp"},
        {"url": "https://a", "headers": {"Authorization": "Bearer ${NOWHERE}"}},
        {**COMMAND, "timeout": "${NOWHERE}"},
        {**COMMAND, "description": "${NOWHERE}"},
    ],
)
def test_variables_are_filled_in_every_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any]
) -> None:
    monkeypatch.delenv("NOWHERE", raising=False)
    found = read(tmp_path, {"mcpServers": {"time": entry, "other": COMMAND}})
    assert list(found.servers) == ["other"]
    assert "NOWHERE is not set" in found.problems["time"]
    monkeypatch.setenv("NOWHERE", "42")
    spec = read(tmp_path, {"mcpServers": {"time": entry}}).servers["time"]
    assert "42" in spec.model_dump_json()
    assert "NOWHERE" not in spec.model_dump_json()


def test_a_filled_value_is_not_filled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSWORD", "a${b}c")
    spec = only(tmp_path, {**COMMAND, "env": {"PASSWORD": "${PASSWORD}"}})
    assert spec.resolved().env == spec.filled(spec.env) == {"PASSWORD": "a${b}c"}
